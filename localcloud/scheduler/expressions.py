"""When a schedule of EventBridge Scheduler is due: `cron(...)`, `rate(...)` and `at(...)`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_UNITS = {"minute": 60, "hour": 3600, "day": 86_400}
_HORIZON = 366 * 30
"""Days within which a cron must be due again."""


class InvalidExpression(ValueError):
    """AWS does not know such an expression."""


@dataclass(frozen=True)
class Rate:
    """Due every so long, counted from a start."""

    every: timedelta
    start: datetime

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time later than `moment`."""
        if moment < self.start:
            return self.start
        return self.start + ((moment - self.start) // self.every + 1) * self.every


@dataclass(frozen=True)
class Once:
    """Due once."""

    at: datetime

    def after(self, moment: datetime) -> datetime | None:
        """Return the time, if it is later than `moment`."""
        return self.at if self.at > moment else None


@dataclass(frozen=True)
class Cron:
    """Due at times of a wall clock; those that it leaves out are passed over."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: str
    months: frozenset[int]
    weekdays: str
    zone: ZoneInfo

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time later than `moment`."""
        day = moment.astimezone(self.zone).date() - timedelta(days=1)
        for _ in range(_HORIZON):
            if self._due_on(day):
                for found in self._times(day):
                    if found > moment:
                        return found
            day += timedelta(days=1)
        return None

    def _due_on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        last = calendar.monthrange(day.year, day.month)[1]
        if self.days != "?":
            return day.day == last if self.days == "L" else day.day in _set(self.days, 1, 31)
        weekday = day.isoweekday() % 7 + 1
        if self.weekdays.endswith("L"):
            return weekday == int(self.weekdays[:-1]) and day.day + 7 > last
        if "#" in self.weekdays:
            wanted, nth = self.weekdays.split("#")
            return weekday == int(wanted) and (day.day + 6) // 7 == int(nth)
        return weekday in _set(self.weekdays, 1, 7, _DAYS)

    def _times(self, day: date) -> Sequence[datetime]:
        walls = (
            time(hour, minute) for hour in sorted(self.hours) for minute in sorted(self.minutes)
        )
        found = []
        for wall in walls:
            local = datetime.combine(day, wall)
            moment = local.replace(tzinfo=self.zone, fold=0).astimezone(UTC)
            if moment.astimezone(self.zone).replace(tzinfo=None, fold=0) == local:
                found.append(moment)
        return found


def read(text: str, zone: str, start: datetime) -> Rate | Once | Cron:
    """Return the expression; a rate counts from `start`. Raises InvalidExpression."""
    found = re.fullmatch(r"(cron|rate|at)\((.*)\)", text)
    kind, inner = (found[1], found[2]) if found else ("", "")
    if kind == "rate" and (rate := re.fullmatch(r"([1-9]\d*) (minute|hour|day)(s?)", inner)):
        if (rate[1] == "1") == bool(rate[3]):
            raise InvalidExpression(f"Invalid Schedule Expression {text}.")
        return Rate(timedelta(seconds=int(rate[1]) * _UNITS[rate[2]]), start)
    if kind == "at" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", inner):
        moment = datetime.fromisoformat(inner).replace(tzinfo=ZoneInfo(zone))
        return Once(moment.astimezone(UTC))
    if kind == "cron" and len(fields := inner.split()) == 6:
        minutes, hours, days, months, weekdays, year = fields
        if (days == "?") != (weekdays == "?") and year == "*":
            return Cron(
                minutes=_set(minutes, 0, 59),
                hours=_set(hours, 0, 23),
                days=days,
                months=_set(months, 1, 12, _MONTHS),
                weekdays=weekdays,
                zone=ZoneInfo(zone),
            )
    raise InvalidExpression(f"Invalid Schedule Expression {text}.")


def _set(text: str, first: int, last: int, names: Sequence[str] = ()) -> frozenset[int]:
    if text == "*":
        return frozenset(range(first, last + 1))
    values: set[int] = set()
    for part in text.split(","):
        begin, _, end = part.partition("-")
        low = _number(begin, first, names)
        values |= set(range(low, (_number(end, first, names) if end else low) + 1))
    if not values or min(values) < first or max(values) > last:
        raise InvalidExpression(f"Invalid Schedule Expression: {text}")
    return frozenset(values)


def _number(text: str, first: int, names: Sequence[str]) -> int:
    if text in names:
        return names.index(text) + first
    if not text.isdecimal():
        raise InvalidExpression(f"Invalid Schedule Expression: {text}")
    return int(text)
