"""Connections of a local cloud, in the words of the API: imported by commands that need them."""

from __future__ import annotations

from dataclasses import dataclass

from api.models.connections import Connection, ConnectionPage, Verdict
from stellwerk.bootstrap import Services
from stellwerk.bootstrap.connecting import ConnectionServices, connection_services
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.connections import New
from stellwerk.toolboxes.model import Connection as Kept
from stellwerk.toolboxes.model import ConnectionId, Kind


@dataclass(frozen=True)
class LocalAccounts:
    """Those that a scope may see."""

    services: ConnectionServices
    scope: Scope

    def list(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page."""
        found = self.services.connections.list(self.scope, cursor=cursor, limit=limit)
        page = ConnectionPage(
            items=[Connection.of(one) for one in found.items], cursor=found.cursor
        )
        return page.model_dump(mode="json")

    def create(
        self, kind: Kind, label: str, settings: JsonObject, secret: JsonObject, *, shared: bool
    ) -> JsonObject:
        """Make one."""
        new = New(kind, label, settings, secret, shared)
        return _shown(self.services.connections.create(self.scope, new))

    def test(self, connection: str) -> JsonObject:
        """Try one out."""
        verdict = self.services.connections.test(self.scope, ConnectionId(connection))
        return Verdict.of(verdict).model_dump(mode="json")

    def authorise(self, connection: str, redirect: str) -> str:
        """Return where its owner consents."""
        return self.services.authorising.begin(self.scope, ConnectionId(connection), redirect)

    def finish(self, state: str, code: str) -> JsonObject:
        """Hand in what came back."""
        return _shown(self.services.authorising.finish(self.scope, state, code))

    def revoke(self, connection: str) -> JsonObject:
        """End the use of one."""
        return _shown(self.services.connections.revoke(self.scope, ConnectionId(connection)))

    def remove(self, connection: str) -> None:
        """Forget one."""
        self.services.connections.remove(self.scope, ConnectionId(connection))


def accounts(services: Services, scope: Scope) -> LocalAccounts:
    """Return the connections that the scope may see."""
    press = services.press
    kept = connection_services(services.settings, services.stores, press.audit, press.clock)
    return LocalAccounts(kept, scope)


def _shown(connection: Kept) -> JsonObject:
    return Connection.of(connection).model_dump(mode="json")
