"""Cron expressions, read strictly: five fields, or six with seconds first, which must be 0.

What EventBridge Scheduler cannot say is refused here, with the reason.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stellwerk.kernel.errors import BadInput

Special: TypeAlias = Literal["", "L", "#"]
"""How the day of a field is found: by number, from the month's end, or by count."""
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
_LEAP = 2024
_EXAMPLE = "Write minute, hour, day of the month, month and weekday, such as 30 7 * * MON-FRI."


class BadCron(BadInput):
    """The expression cannot be read, is never due, or the Scheduler cannot say it."""


@dataclass(frozen=True)
class Field:
    """The values at which a field is due. `starred`: it begins with a star."""

    values: frozenset[int]
    starred: bool = False
    special: Special = ""
    """`L`: the month's last day, or the last such weekday. `#`: the `nth` such weekday."""
    nth: int = 0


@dataclass(frozen=True)
class Cron:
    """An expression that was read. Weekdays are 0, Sunday, to 6."""

    text: str
    """Five fields in capitals with single spaces, as cronsim takes them."""
    minutes: Field
    hours: Field
    days: Field
    months: Field
    weekdays: Field

    @property
    def any_day(self) -> bool:
        """Whether every day of the months is due."""
        full_days, full_weekdays = _full(self.days, 31), _full(self.weekdays, 7)
        return (full_days and full_weekdays) or (self.either and (full_days or full_weekdays))

    @property
    def either(self) -> bool:
        """Whether a day is due that fits the one day field or the other; else it must fit both."""
        return not (self.days.starred or self.weekdays.starred)

    @property
    def by_month(self) -> bool:
        """Whether only the day of the month matters."""
        return not self.either and _full(self.weekdays, 7)

    @property
    def by_week(self) -> bool:
        """Whether only the weekday matters."""
        return not self.either and _full(self.days, 31)

    @property
    def fixed(self) -> bool:
        """Whether its hours are named: such a time is not lost where the clock leaves it out."""
        return not self.hours.starred


@dataclass(frozen=True)
class _Range:
    """What a field may hold."""

    name: str
    first: int
    last: int
    names: Mapping[str, int]


_FIELDS = (
    _Range("minute", 0, 59, {}),
    _Range("hour", 0, 23, {}),
    _Range("day of the month", 1, 31, {}),
    _Range("month", 1, 12, {name: number for number, name in enumerate(MONTHS, 1)}),
    _Range("weekday", 0, 7, {name: number for number, name in enumerate(DAYS)}),
)


def read_cron(text: str) -> Cron:
    """Return the expression; raise BadCron."""
    words = _words(text)
    minutes, hours, months = (_plain(words[at], _FIELDS[at], text) for at in (0, 1, 3))
    days, weekdays = _days(words[2], text), _weekdays(words[4], text)
    if weekdays.special == "L":
        words[4] = f"{min(weekdays.values)}L"
    cron = Cron(" ".join(words), minutes, hours, days, months, weekdays)
    _check_days(cron)
    return cron


def _words(text: str) -> list[str]:
    words = text.upper().split()
    if len(words) == 6:
        if words[0] not in {"0", "00"}:
            raise BadCron(
                f"'{text}' is due at seconds other than 0: the Scheduler fires to the minute.",
                remedy="Begin with 0, or leave the seconds out.",
            )
        words = words[1:]
    if len(words) != 5:
        raise BadCron(f"'{text}' must have five fields.", remedy=_EXAMPLE)
    return words


def _plain(word: str, allowed: _Range, text: str) -> Field:
    values: set[int] = set()
    for part in word.split(","):
        values |= _values(part, allowed, text)
    return Field(frozenset(values), starred=word.startswith("*"))


def _values(part: str, allowed: _Range, text: str) -> set[int]:
    """Return the values of `*`, `3`, `1-5`, `*/15` or `8-18/2`."""
    found = re.fullmatch(r"(\*|([0-9A-Z]+)(?:-([0-9A-Z]+))?)(?:/(\d+))?", part)
    if found is None:
        raise _bad(part, allowed, text)
    whole, first, last, step = found.groups()
    if whole == "*":
        begin, end = allowed.first, allowed.last
    else:
        begin = _number(first, allowed, text)
        end = begin if last is None else _number(last, allowed, text)
        if end < begin:
            raise _bad(part, allowed, text, f"{last} comes before {first}: write two ranges")
        if step is not None and last is None:
            reason = f"a step needs a range, such as {first}-{allowed.last}/{step}"
            raise _bad(part, allowed, text, reason)
    if step is not None and int(step) < 1:
        raise _bad(part, allowed, text, "a step is at least 1")
    return set(range(begin, end + 1, int(step or 1)))


def _number(word: str, allowed: _Range, text: str) -> int:
    number = allowed.names.get(word, int(word) if word.isdecimal() else -1)
    if not allowed.first <= number <= allowed.last:
        raise _bad(word, allowed, text)
    return number


def _days(word: str, text: str) -> Field:
    if word == "L":
        return Field(frozenset(), special="L")
    if "L" in word or "W" in word:
        reason = "the Scheduler takes L only alone, and no L or W beside other days"
        raise _bad(word, _FIELDS[2], text, reason)
    return _plain(word, _FIELDS[2], text)


def _weekdays(word: str, text: str) -> Field:
    allowed = _FIELDS[4]
    found = re.fullmatch(r"(\d|[A-Z]{3})(?:(L)|#(\d))", word)
    if found is not None:
        day = frozenset({_number(found[1], allowed, text) % 7})
        if found[2]:
            return Field(day, special="L")
        nth = int(found[3])
        if not 1 <= nth <= 5:
            raise _bad(word, allowed, text, "a month has at most five of each weekday")
        return Field(day, special="#", nth=nth)
    if "#" in word or re.search(r"\dL|^L", word):
        reason = "the Scheduler takes L and # only alone: use a trigger for each"
        raise _bad(word, allowed, text, reason)
    plain = _plain(word, allowed, text)
    return Field(frozenset(day % 7 for day in plain.values), starred=plain.starred)


def _check_days(cron: Cron) -> None:
    if cron.days.values:
        longest = max(calendar.monthrange(_LEAP, month)[1] for month in cron.months.values)
        if min(cron.days.values) > longest:
            raise BadCron(
                f"'{cron.text}' is never due: none of its months has that day.",
                remedy="Take a day that one of the months has, or L for the last one.",
            )
    if cron.either or cron.any_day or cron.by_month or cron.by_week:
        return
    raise BadCron(
        f"'{cron.text}' is due on days that fit both day fields, since one begins with *: the "
        "Scheduler cannot say that.",
        remedy="Restrict one of the two, or write the days out: then a day need fit only one.",
    )


def _full(field: Field, size: int) -> bool:
    return not field.special and len(field.values) == size


def _bad(word: str, allowed: _Range, text: str, reason: str = "") -> BadCron:
    names = f" or {', '.join(allowed.names)}" if allowed.names else ""
    bounds = f"it takes {allowed.first} to {allowed.last}{names}"
    return BadCron(
        f"'{text}' is no cron expression: its {allowed.name} is '{word}', but {reason or bounds}.",
        remedy=_EXAMPLE,
    )
