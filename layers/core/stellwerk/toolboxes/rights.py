"""Who sees, changes and uses connections.

To see and change them are rules about the table `connections`. To use one is an operation: `own`
for what one owns, `instance` for what is the instance's. What somebody else owns nobody uses,
whatever his roles: its owner must give it to the instance first.
"""

from __future__ import annotations

from stellwerk.kernel.errors import Conflict, Forbidden, NotFound
from stellwerk.tenancy.access import Decision, Level, Verb
from stellwerk.tenancy.scope import Scope, permitted, require, require_operation
from stellwerk.toolboxes.model import Connection, ConnectionId, Status

TABLE = "connections"
OWN, INSTANCE = "connections.own", "connections.instance"


def missing(connection: ConnectionId) -> NotFound:
    """Return what is said of a connection that is not there, or not for the scope."""
    return NotFound(
        f"there is no connection {connection}", remedy="Look at the list of connections."
    )


def sees(scope: Scope, connection: Connection) -> bool:
    """Say whether the scope sees the connection."""
    return _seeing(scope, connection).allowed


def check_seen(scope: Scope, connection: Connection) -> None:
    """Raise NotFound, for which a refusal is the cause, where the scope does not see it."""
    decision = _seeing(scope, connection)
    if not decision.allowed:
        refusal = Forbidden(f"You may not read this connection: {decision.reason}.")
        raise missing(connection.id) from refusal


def _seeing(scope: Scope, connection: Connection) -> Decision:
    return permitted(scope, TABLE, Verb.READ, None if connection.shared else connection.owner)


def check_change(scope: Scope, connection: Connection, verb: Verb = Verb.UPDATE) -> None:
    """Raise as `check_seen`, and Forbidden where the scope may not do that with it."""
    check_seen(scope, connection)
    require(scope, TABLE, verb, None if connection.shared else connection.owner)
    if connection.shared:
        check_sharing(scope, verb, connection)


def check_sharing(scope: Scope, verb: Verb, connection: Connection | None = None) -> None:
    """Raise Forbidden unless the scope may give connections to the instance, or change those.

    Whoever gave one to the instance may change it.
    """
    if connection is not None and connection.owner == scope.user:
        return
    if require(scope, TABLE, verb) is Level.MY:
        raise Forbidden(
            f"You may not {verb} connections of the instance: your roles reach your own alone.",
            remedy="Ask an administrator of the instance.",
        )


def check_use(scope: Scope, connection: Connection) -> None:
    """Raise NotFound, Forbidden or Conflict unless the scope's user may act through it now."""
    own = connection.owner == scope.user
    if not own and not connection.shared:
        refusal = Forbidden(f"Connection {connection.id} is '{connection.owner}'s alone.")
        raise missing(connection.id) from refusal
    require_operation(scope, OWN if own else INSTANCE)
    if connection.status is Status.REVOKED:
        raise Conflict(
            f"Connection '{connection.label}' was revoked.", remedy="Choose or make another one."
        )


def may_use(scope: Scope, connection: Connection) -> bool:
    """Say whether `check_use` raises nothing."""
    try:
        check_use(scope, connection)
    except (NotFound, Forbidden, Conflict):
        return False
    return True
