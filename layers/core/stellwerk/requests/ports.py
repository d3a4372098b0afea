"""What limits and repetitions need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from stellwerk.kernel.ids import UserId
from stellwerk.requests.model import Repeat
from stellwerk.tenancy.scope import Scope


class Counters(Protocol):
    """Counts the requests of principals, by window."""

    def take(self, scope: Scope, principal: UserId, window: datetime, *, limit: int) -> bool:
        """Count one request of the window that begins then; False, uncounted, beyond `limit`."""


class Repeats(Protocol):
    """Requests under their idempotency keys; a key belongs to the user of the scope, there."""

    def find(self, scope: Scope, key: str) -> Repeat | None:
        """Return the request that came with the key."""

    def write(self, scope: Scope, repeat: Repeat) -> Repeat:
        """Write `repeat` in place of its revision (0: none); raises Conflict."""

    def forget(self, scope: Scope, repeat: Repeat) -> None:
        """Remove what `write` returned, if it is still stored."""
