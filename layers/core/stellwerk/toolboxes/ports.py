"""What connections need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import Connection, ConnectionId, Pending


class Connections(Protocol):
    """The connections of instances, and what is under way with them."""

    def add(self, scope: Scope, connection: Connection) -> Connection:
        """Keep a new connection; Conflict where there is one of that id."""

    def get(self, scope: Scope, connection: ConnectionId) -> Connection:
        """Return a connection; NotFound."""

    def list(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Connection]:
        """Return a page of the instance's connections, the oldest first."""

    def write(self, scope: Scope, connection: Connection) -> Connection:
        """Write at the revision that it carries; Conflict where it is another one or gone."""

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        """Forget a connection; nothing if it is gone."""

    def lock(self, scope: Scope, connection: ConnectionId, *, now: datetime, holder: str) -> bool:
        """Say whether `holder` may renew its tokens: for half a minute nobody else may."""

    def unlock(self, scope: Scope, connection: ConnectionId, *, holder: str) -> None:
        """Let others renew; nothing where `holder` may not any more."""

    def ask(self, scope: Scope, state: str, pending: Pending) -> None:
        """Keep what the scope's user was sent away with."""

    def answered(self, scope: Scope, state: str) -> Pending:
        """Return and forget it; NotFound for a state of another user, or the second time."""


class Secrets(Protocol):
    """Secrets of connections, each a JSON object. Read by few, shown by nobody."""

    def get(self, scope: Scope, connection: ConnectionId) -> JsonObject:
        """Return the secret of a connection; NotFound."""

    def put(self, scope: Scope, connection: ConnectionId, secret: JsonObject) -> None:
        """Keep it in place of the one before."""

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        """Forget it at once; nothing if it is gone."""


@dataclass(frozen=True)
class Answer:
    """What a service has answered; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Web(Protocol):
    """The way to services over HTTP: to addresses that were checked, without redirects."""

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Return the answer, whatever its status; ServiceUnavailable where there is none."""
