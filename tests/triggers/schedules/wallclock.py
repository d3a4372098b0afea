"""A calendar made minute by minute in UTC, and who is due in it: no cron library, no rule of ours.

`Wall` walks over every minute of some windows and notes what the clock on the wall shows: at which
minute it shows a time first, and which times it leaves out. `due` reads a cron expression the plain
way; `scheduled` reads an expression of EventBridge Scheduler, which counts weekdays otherwise.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


@dataclass
class Wall:
    """What a zone's clock shows from `begin` to `end`."""

    zone: ZoneInfo
    begin: datetime
    end: datetime
    first: dict[date, dict[int, datetime]] = field(default_factory=dict)
    """The minute at which a minute of a day is shown first."""
    left_out: dict[date, dict[int, datetime]] = field(default_factory=dict)
    """Minutes of days that are never shown, and the minute at which the clock goes on."""

    def __post_init__(self) -> None:
        """Walk."""
        moment, before = self.begin, None
        while moment <= self.end:
            shown = moment.astimezone(self.zone).replace(tzinfo=None, fold=0)
            self.first.setdefault(shown.date(), {}).setdefault(
                shown.hour * 60 + shown.minute, moment
            )
            while before is not None and before + MINUTE < shown:
                before += MINUTE
                self.left_out.setdefault(before.date(), {})[before.hour * 60 + before.minute] = (
                    moment
                )
            before, moment = shown, moment + MINUTE


@dataclass(frozen=True)
class Plain:
    """Which days and which minutes of these an expression wants."""

    day: Callable[[date], bool]
    minutes: Sequence[int]
    fixed: bool

    def moments(self, wall: Wall, *, after_gaps: bool) -> Iterator[datetime]:
        """Yield when it is due."""
        for day, shown in wall.first.items():
            if self.day(day):
                yield from (shown[minute] for minute in self.minutes if minute in shown)
        for day, missing in wall.left_out.items() if after_gaps and self.fixed else ():
            if self.day(day):
                yield from (missing[minute] for minute in self.minutes if minute in missing)


def due(text: str) -> Plain:
    """Read a cron expression."""
    minutes, hours, days, months, weekdays = text.split()

    def wanted(day: date) -> bool:
        if day.month not in numbers(months, 1, 12, MONTHS):
            return False
        by_day = _last_day(day) if days == "L" else day.day in numbers(days, 1, 31)
        by_weekday = _weekday(day, weekdays, lambda name: _number(name, DAYS) % 7)
        both = days[0] == "*" or weekdays[0] == "*"
        return (by_day and by_weekday) if both else (by_day or by_weekday)

    return Plain(wanted, _minutes(minutes, hours), hours[0] != "*")


def scheduled(text: str) -> Plain:
    """Read `cron(...)` of EventBridge Scheduler: a day field is `?`, Sunday is 1."""
    assert text.startswith("cron(")
    assert len(text) <= 256
    minutes, hours, days, months, weekdays, year = text[5:-1].split()
    assert year == "*"
    assert [days, weekdays].count("?") == 1

    def wanted(day: date) -> bool:
        if day.month not in numbers(months, 1, 12, MONTHS):
            return False
        if weekdays == "?":
            return _last_day(day) if days == "L" else day.day in numbers(days, 1, 31)
        return _weekday(
            day, weekdays, lambda name: DAYS.index(name) if name in DAYS else int(name) - 1
        )

    return Plain(wanted, _minutes(minutes, hours), fixed=True)


def numbers(text: str, low: int, high: int, names: Sequence[str] = ()) -> set[int]:
    """Read a list of numbers, ranges and steps."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        begin, _, end = span.partition("-")
        if span == "*":
            values = range(low, high + 1)
        else:
            first = _number(begin, names, low)
            values = range(first, (_number(end, names, low) if end else first) + 1)
        found |= set(values[:: int(step or 1)])
    return found


def _minutes(minutes: str, hours: str) -> list[int]:
    return [
        hour * 60 + minute
        for hour in sorted(numbers(hours, 0, 23))
        for minute in sorted(numbers(minutes, 0, 59))
    ]


def _weekday(day: date, text: str, number: Callable[[str], int]) -> bool:
    weekday = day.isoweekday() % 7
    if text.endswith("L"):
        return weekday == number(text[:-1]) and _last_week(day)
    if "#" in text:
        name, nth = text.split("#")
        return weekday == number(name) and (day.day - 1) // 7 + 1 == int(nth)
    if text == "*":
        return True
    if "/" in text or text[0] == "*":
        return weekday in {value % 7 for value in numbers(text, 0, 7, DAYS)}
    for part in text.split(","):
        begin, _, end = part.partition("-")
        first, last = number(begin), number(end or begin)
        if first <= weekday <= last or (last < first and (weekday >= first or weekday <= last)):
            return True
    return False


def _last_day(day: date) -> bool:
    return day.day == calendar.monthrange(day.year, day.month)[1]


def _last_week(day: date) -> bool:
    return (day + timedelta(days=7)).month != day.month


def _number(text: str, names: Sequence[str], low: int = 0) -> int:
    return names.index(text) + low if text in names else int(text)


def utc(text: str) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
