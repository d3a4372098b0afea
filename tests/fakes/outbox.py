"""The outbox in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.bundles import Bundle, Sent

_LATEST = ("subject", "text", "link", "about")


class FakeOutbox:
    """Keeps bundles and messages in dicts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bundles: dict[tuple[str, str, str], Bundle] = {}
        self._sent: dict[tuple[str, str], list[Sent]] = defaultdict(list)

    def add(self, scope: Scope, bundle: Bundle) -> None:
        with self._lock:
            stored = self._bundles.get(_place(scope, bundle.id))
            if stored is None or stored.closed:
                new = bundle.model_copy(update={"revision": bundle.revision + 1})
            else:
                latest = {name: getattr(bundle, name) for name in _LATEST}
                new = stored.model_copy(update={**latest, "count": stored.count + 1})
            self._bundles[_place(scope, bundle.id)] = new

    def find(self, scope: Scope, bundle: str) -> Bundle | None:
        with self._lock:
            return self._bundles.get(_place(scope, bundle))

    def write(self, scope: Scope, bundle: Bundle, sent: Sent | None = None) -> Bundle:
        with self._lock:
            stored = self._checked(scope, bundle)
            kept = {name: getattr(stored, name) for name in (*_LATEST, "count", "closed")}
            written = bundle.model_copy(update={**kept, "revision": bundle.revision + 1})
            self._bundles[_place(scope, bundle.id)] = written
            if sent is not None:
                self._sent[scope.mandate, scope.instance].insert(
                    0, sent.model_copy(update={"revision": 1})
                )
        return bundle.model_copy(update={"revision": bundle.revision + 1})

    def close(self, scope: Scope, bundle: Bundle) -> None:
        with self._lock:
            if self._checked(scope, bundle).count != bundle.count:
                raise Conflict("a notice has come")
            closed = {"closed": True, "revision": bundle.revision + 1}
            self._bundles[_place(scope, bundle.id)] = bundle.model_copy(update=closed)

    def due(self, scope: Scope, now: datetime) -> Sequence[str]:
        with self._lock:
            found = [(one.due, one.id) for one in self._of(scope) if one.due and one.due <= now]
        return [name for _, name in sorted(found)]

    def open(self, scope: Scope) -> Sequence[Bundle]:
        with self._lock:
            return [one for one in self._of(scope) if not one.closed]

    def sent(self, scope: Scope, *, limit: int) -> Sequence[Sent]:
        with self._lock:
            return self._sent.get((scope.mandate, scope.instance), [])[:limit]

    def _of(self, scope: Scope) -> list[Bundle]:
        place = (scope.mandate, scope.instance)
        return [one for key, one in self._bundles.items() if key[:2] == place]

    def _checked(self, scope: Scope, bundle: Bundle) -> Bundle:
        stored = self._bundles.get(_place(scope, bundle.id))
        if stored is None or stored.revision != bundle.revision:
            raise Conflict("somebody else has written it")
        return stored


def _place(scope: Scope, bundle: str) -> tuple[str, str, str]:
    return scope.mandate, scope.instance, bundle
