"""Connections as graphs name them."""

from __future__ import annotations

from stellwerk.kernel.errors import NotFound
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import ConnectionId
from stellwerk.toolboxes.ports import Connections
from stellwerk.toolboxes.rights import may_use

CONNECTION = "connection"
"""The kind of such things: `x-resource` in the schema of parameters."""


class KnownConnections:
    """Those that the scope's user may use; implements `workflows.ports.Things`."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    def known(self, scope: Scope, name: str) -> bool:
        """Say whether there is such a connection, and the scope's user may act through it."""
        try:
            return may_use(scope, self._store.get(scope, ConnectionId(name)))
        except NotFound:
            return False
