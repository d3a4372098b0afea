"""Moments as authors write them: a timestamp with its zone, or a duration from now (ISO 8601)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from stellwerk.kernel.errors import InvalidParameters

_DURATION = re.compile(
    r"P(?=.)(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_LONGEST = timedelta(days=36_500)


def duration_of(text: str) -> timedelta:
    """Return the duration `text`, such as `P3D` or `PT1H30M`; raise InvalidParameters."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidParameters(
            f"'{text}' is no duration.",
            remedy="Write weeks, days, hours, minutes or seconds, such as P3D, PT1H30M or P1DT12H.",
        )
    parts = {name: float(number) for name, number in found.groupdict().items() if number}
    try:
        return min(timedelta(**parts), _LONGEST)
    except OverflowError:
        return _LONGEST


def offset_of(text: str) -> timedelta:
    """Return a duration, negative with a minus before it; raise InvalidParameters."""
    return -duration_of(text[1:]) if text.startswith("-") else duration_of(text)


def moment_of(text: str, now: datetime) -> datetime:
    """Return the moment that `text` names, seen from `now`; raise InvalidParameters."""
    if text.startswith("P"):
        return now + duration_of(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidParameters(
            f"'{text}' is neither a duration nor a moment.",
            remedy="Write a duration such as P3D, or a moment such as 2026-12-24T18:00:00+01:00.",
        ) from None
    if moment.tzinfo is None:
        raise InvalidParameters(
            f"'{text}' does not say in which time zone it is.",
            remedy="Add the offset, such as +01:00, or Z for UTC.",
        )
    return moment
