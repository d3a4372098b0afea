"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class FixedClock:
    """Tells the moment that it was set to."""

    def __init__(self, moment: datetime = START) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Return the moment that was set."""
        return self.moment

    def advance(self, **parts: float) -> datetime:
        """Go on by a `timedelta` of these parts, and return the new moment."""
        self.moment += timedelta(**parts)
        return self.moment
