"""A schedule in the words of EventBridge Scheduler: one expression, or two.

Two where a cron's day fits the one day field or the other: the Scheduler knows one day field at a
time. On a day that fits both, both fire, and the second delivery of the slot starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from stellwerk.triggers.schedules.cron import DAYS, MONTHS, Cron, Field
from stellwerk.triggers.schedules.occurrences import EPOCH, resolved
from stellwerk.triggers.schedules.timing import Timing

UTC_ZONE = "UTC"


@dataclass(frozen=True)
class Expression:
    """A schedule expression and the zone in which it is read."""

    text: str
    zone: str
    every: int = 0
    """Seconds between two times of a `rate`, which are counted from a start; 0: it is none."""
    once: datetime | None = None
    """The moment of an `at`."""

    def start(self, now: datetime) -> datetime | None:
        """Return from when a `rate` counts, so that it is due at our slots; None for others."""
        if not self.every:
            return None
        every = timedelta(seconds=self.every)
        return EPOCH + ((now - EPOCH) // every + 1) * every


def expressions_of(timing: Timing) -> tuple[Expression, ...]:
    """Return what the Scheduler needs to fire at the schedule's slots.

    Times that the wall clock leaves out it passes over: see `missing`, which runs them.
    """
    if timing.interval is not None:
        minutes = timing.interval // timedelta(minutes=1)
        unit = "minute" if minutes == 1 else "minutes"
        seconds = minutes * 60
        return (Expression(f"rate({minutes} {unit})", UTC_ZONE, every=seconds),)
    if timing.at is not None:
        moment = resolved(timing.at, timing.zone)
        text = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
        return (Expression(f"at({text})", UTC_ZONE, once=moment),)
    if timing.cron is None:
        return ()
    return tuple(Expression(text, timing.zone.key) for text in _crons(timing.cron))


def _crons(cron: Cron) -> Iterator[str]:
    every_day = cron.any_day
    if every_day or cron.by_month or cron.either:
        yield _cron(cron, "*" if every_day else _days(cron.days), "?")
    if not every_day and (cron.by_week or cron.either):
        yield _cron(cron, "?", _weekdays(cron.weekdays))


def _cron(cron: Cron, days: str, weekdays: str) -> str:
    minutes, hours = _list(cron.minutes, range(60)), _list(cron.hours, range(24))
    months = _list(cron.months, range(1, 13), names=("", *MONTHS))
    return f"cron({minutes} {hours} {days} {months} {weekdays} *)"


def _days(field: Field) -> str:
    return field.special or _list(field, range(1, 32))


def _weekdays(field: Field) -> str:
    """Return the weekdays as the Scheduler counts them: 1 is Sunday."""
    if not field.special:
        return _list(field, range(7), names=DAYS)
    day = min(field.values) + 1
    return f"{day}L" if field.special == "L" else f"{day}#{field.nth}"


def _list(field: Field, whole: range, names: Sequence[str] = ()) -> str:
    if len(field.values) == len(whole):
        return "*"

    def shown(value: int) -> str:
        return names[value] if names else str(value)

    parts = []
    for first, last in _runs(sorted(field.values)):
        glue = "-" if last > first + 1 else ","
        parts.append(shown(first) if first == last else f"{shown(first)}{glue}{shown(last)}")
    return ",".join(parts)


def _runs(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each row of neighbours."""
    first = last = values[0]
    for value in values[1:]:
        if value != last + 1:
            yield first, last
            first = value
        last = value
    yield first, last
