"""Event logs in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import RunId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.memory import Head, Page
from stellwerk.watching.model import RunEvent
from stellwerk.watching.ports import LogState


class FakeEventLog:
    """Keeps logs in dicts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heads: dict[tuple[str, str, RunId], Head] = {}
        self._pages: dict[tuple[str, str, RunId], dict[str, Page]] = defaultdict(dict)
        self._events: dict[tuple[str, str, RunId], list[RunEvent]] = defaultdict(list)

    def state(self, scope: Scope, run: RunId, pages: Sequence[str]) -> LogState:
        with self._lock:
            known = self._pages.get(_place(scope, run), {})
            head = self._heads.get(_place(scope, run), Head())
            return LogState(head, {name: known[name] for name in pages if name in known})

    def append(
        self,
        scope: Scope,
        run: RunId,
        before: LogState,
        after: LogState,
        events: Sequence[RunEvent],
    ) -> None:
        place = _place(scope, run)
        with self._lock:
            if self._heads.get(place, Head()).revision != before.head.revision:
                raise Conflict("somebody else has appended")
            self._heads[place] = after.head
            self._pages[place].update(after.pages)
            self._events[place] += events

    def read(self, scope: Scope, run: RunId, *, after: int, limit: int) -> Sequence[RunEvent]:
        with self._lock:
            events = self._events.get(_place(scope, run), [])
            return [event for event in events if event.seq > after][:limit]


def _place(scope: Scope, run: RunId) -> tuple[str, str, RunId]:
    return scope.mandate, scope.instance, run
