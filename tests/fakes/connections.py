"""Connections and their secrets in memory."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from datetime import datetime, timedelta

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import Connection, ConnectionId, Pending
from stellwerk.toolboxes.rights import missing
from tests.fakes.memory import paged


class FakeConnections:
    """Keeps connections in dicts, one for each instance."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], dict[str, Connection]] = defaultdict(dict)
        self._locks: dict[tuple[str, ...], tuple[str, datetime]] = {}
        self._asked: dict[tuple[str, ...], Pending] = {}
        self._lock = threading.Lock()

    def add(self, scope: Scope, connection: Connection) -> Connection:
        if connection.id in self._of(scope):
            raise Conflict("there is one already")
        return self._put(scope, connection)

    def get(self, scope: Scope, connection: ConnectionId) -> Connection:
        if connection not in self._of(scope):
            raise missing(connection)
        return self._of(scope)[connection]

    def list(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Connection]:
        found = list(self._of(scope).values())
        return paged(found, lambda one: one.id, cursor=cursor, limit=limit, newest_first=False)

    def write(self, scope: Scope, connection: Connection) -> Connection:
        with self._lock:
            stored = self._of(scope).get(connection.id)
            if stored is None or stored.revision != connection.revision:
                raise Conflict("it has changed meanwhile")
            return self._put(scope, connection)

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        self._of(scope).pop(connection, None)

    def lock(self, scope: Scope, connection: ConnectionId, *, now: datetime, holder: str) -> bool:
        with self._lock:
            key = (scope.mandate, scope.instance, connection)
            if key in self._locks and self._locks[key][1] > now:
                return False
            self._locks[key] = (holder, now + timedelta(seconds=30))
            return True

    def unlock(self, scope: Scope, connection: ConnectionId, *, holder: str) -> None:
        with self._lock:
            key = (scope.mandate, scope.instance, connection)
            if key in self._locks and self._locks[key][0] == holder:
                del self._locks[key]

    def ask(self, scope: Scope, state: str, pending: Pending) -> None:
        self._asked[scope.mandate, scope.instance, scope.user, state] = pending

    def answered(self, scope: Scope, state: str) -> Pending:
        found = self._asked.pop((scope.mandate, scope.instance, scope.user, state), None)
        if found is None:
            raise NotFound("nobody was sent away with this state")
        return found

    def _put(self, scope: Scope, connection: Connection) -> Connection:
        written = connection.model_copy(update={"revision": connection.revision + 1})
        self._of(scope)[connection.id] = written
        return written

    def _of(self, scope: Scope) -> dict[str, Connection]:
        return self._kept[scope.mandate, scope.instance]


class FakeSecrets:
    """Keeps secrets in a dict."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str], str] = {}

    def get(self, scope: Scope, connection: ConnectionId) -> JsonObject:
        text = self.kept.get((scope.mandate, scope.instance, connection))
        if text is None:
            raise NotFound(f"the secret of connection {connection} is gone")
        found: JsonObject = json.loads(text)
        return found

    def put(self, scope: Scope, connection: ConnectionId, secret: JsonObject) -> None:
        self.kept[scope.mandate, scope.instance, connection] = json.dumps(secret)

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        self.kept.pop((scope.mandate, scope.instance, connection), None)
