"""How often a principal may ask: so many requests in each minute of the clock."""

from __future__ import annotations

from datetime import timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import StellwerkError
from stellwerk.kernel.ids import UserId
from stellwerk.requests.ports import Counters
from stellwerk.tenancy.scope import of_platform

WINDOW = timedelta(minutes=1)


class TooManyRequests(StellwerkError):
    """The principal has used up its requests; `retry_after` are the seconds until it gets more."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"You have made more than {limit} requests within this minute.",
            remedy=f"Wait for {retry_after} seconds, then go on more slowly.",
        )
        self.retry_after = retry_after


class RateLimit:
    """Lets a principal make `limit` requests in a minute, wherever they go; 0: any number."""

    def __init__(self, counters: Counters, clock: Clock, *, limit: int) -> None:
        self._counters = counters
        self._clock = clock
        self._limit = limit

    def take(self, principal: UserId) -> None:
        """Count a request; raises TooManyRequests."""
        if not self._limit:
            return
        now = self._clock.now()
        window = now.replace(second=0, microsecond=0)
        if self._counters.take(of_platform(), principal, window, limit=self._limit):
            return
        left = window + WINDOW - now
        raise TooManyRequests(self._limit, max(1, int(left.total_seconds())))
