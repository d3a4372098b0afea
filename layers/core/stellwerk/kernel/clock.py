"""Time as a dependency: rules ask a clock, tests set it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the present moment, always in UTC."""

    def now(self) -> datetime:
        """Return the present moment with its time zone, UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return datetime.now(UTC)


def instant(moment: datetime) -> str:
    """Return `moment` as Step Functions and our API write it: RFC 3339 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
