"""Counts of requests, and requests under idempotency keys, in memory."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime

from stellwerk.kernel.ids import UserId
from stellwerk.requests.model import Repeat
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import replaced


class FakeCounters:
    """Counts in a dict."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, UserId, datetime]] = Counter()

    def take(self, scope: Scope, principal: UserId, window: datetime, *, limit: int) -> bool:
        key = (scope.mandate, principal, window)
        with self._lock:
            if self._counts[key] >= limit:
                return False
            self._counts[key] += 1
        return True


class FakeRepeats:
    """Keeps requests in a dict."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str, str], Repeat] = {}

    def find(self, scope: Scope, key: str) -> Repeat | None:
        return self._kept.get(_place(scope, key))

    def write(self, scope: Scope, repeat: Repeat) -> Repeat:
        with self._lock:
            place = _place(scope, repeat.key)
            self._kept[place] = replaced(self._kept.get(place), repeat)
            return self._kept[place]

    def forget(self, scope: Scope, repeat: Repeat) -> None:
        with self._lock:
            if self._kept.get(_place(scope, repeat.key)) == repeat:
                del self._kept[_place(scope, repeat.key)]


def _place(scope: Scope, key: str) -> tuple[str, str, str, str]:
    return (scope.mandate, scope.instance, scope.user, key)
