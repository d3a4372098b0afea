"""How much of the installation is a mandate's: so many runs of it may be open at once."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.model import SHARE
from stellwerk.tenancy.ports import Mandates
from stellwerk.tenancy.scope import Scope

REMEMBERED = timedelta(minutes=1)
_MOST = 1000
"""Mandates that a process remembers."""


class KnownShares:
    """What the records of the mandates say. Requests: 1 a minute for each mandate."""

    def __init__(self, mandates: Mandates, clock: Clock) -> None:
        self._mandates = mandates
        self._clock = clock
        self._known: dict[MandateId, tuple[datetime, int]] = {}
        self._lock = threading.Lock()

    def share(self, scope: Scope) -> int:
        """Return how many runs of the scope's mandate may be open at once, as of this minute."""
        now = self._clock.now()
        with self._lock:
            read, share = self._known.get(scope.mandate, (None, SHARE))
        if read is None or now - read > REMEMBERED:
            share = self._read(scope)
            with self._lock:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[scope.mandate] = now, share
        return share

    def _read(self, scope: Scope) -> int:
        try:
            return self._mandates.mandate(scope).open_runs
        except NotFound:  # a deployment that was never seeded
            return SHARE
