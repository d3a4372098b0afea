"""Connections: accounts at services, and their owners' consent."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.conditions import Matching, tag_of
from api.models.connections import (
    Connection,
    ConnectionChanges,
    ConnectionPage,
    Consent,
    Consented,
    ConsentWanted,
    NewConnection,
    Verdict,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.toolboxes.connections import Changes, New
from stellwerk.toolboxes.model import ConnectionId, Kind

router = operations("/connections", tags=["connections"])
ConnectionInPath = Annotated[ConnectionId, Path(pattern=ID, description="Id of a connection")]


@router.get("", response_model=ConnectionPage)
def list_connections(scope: InInstance, here: Here, page: Paged) -> Response:
    """List your connections and those of the instance; all to who administrates it."""
    found = here.connecting.connections.list(scope, cursor=page.cursor, limit=page.limit)
    items = [Connection.of(one) for one in found.items]
    return shown(ConnectionPage(items=items, cursor=found.cursor))


@router.post("", response_model=Connection, status_code=201)
def create_connection(
    scope: InInstance, here: Here, creating: Creating, body: NewConnection
) -> Response:
    """Keep a connection, and its secret where nobody sees it.

    A Microsoft account is `expired` until its owner has consented.
    """

    def make() -> Created:
        new = New(Kind(body.kind), body.label, body.settings, body.secret, body.shared)
        made = here.connecting.connections.create(scope, new)
        return Created(Connection.of(made), f"{place(scope)}/connections/{made.id}", tag_of(made))

    return creating.answer(scope, body, make)


@router.post("/callback", response_model=Connection)
def finish_consent(scope: InInstance, here: Here, body: Consented) -> Response:
    """Hand in what came back after a consent: once, by whoever was sent there."""
    found = here.connecting.authorising.finish(scope, body.state, body.code)
    return shown(Connection.of(found), tag=tag_of(found))


@router.get("/{connection}", response_model=Connection)
def get_connection(scope: InInstance, here: Here, connection: ConnectionInPath) -> Response:
    """Show a connection."""
    found = here.connecting.connections.get(scope, connection)
    return shown(Connection.of(found), tag=tag_of(found))


@router.patch("/{connection}", response_model=Connection)
def update_connection(
    scope: InInstance,
    here: Here,
    match: Matching,
    connection: ConnectionInPath,
    body: ConnectionChanges,
) -> Response:
    """Rename a connection, give it to the instance, or hand in settings and secret anew."""
    changes = Changes(body.label, body.settings, body.secret, body.shared)
    changed = match.edit(
        Connection.of,
        lambda revision: here.connecting.connections.update(scope, connection, revision, changes),
    )
    return shown(Connection.of(changed), tag=tag_of(changed))


@router.delete("/{connection}", status_code=204)
def delete_connection(scope: InInstance, here: Here, connection: ConnectionInPath) -> Response:
    """Forget a connection and its secret. What names it fails from now on."""
    here.connecting.connections.remove(scope, connection)
    return Response(status_code=204)


@router.post("/{connection}/revoke", response_model=Connection)
def revoke_connection(scope: InInstance, here: Here, connection: ConnectionInPath) -> Response:
    """End the use of a connection and forget its secret; it stays in the list."""
    found = here.connecting.connections.revoke(scope, connection)
    return shown(Connection.of(found), tag=tag_of(found))


@router.post("/{connection}/test", response_model=Verdict)
def test_connection(scope: InInstance, here: Here, connection: ConnectionInPath) -> Response:
    """Try a connection out, without leaving a trace at its service."""
    return shown(Verdict.of(here.connecting.connections.test(scope, connection)))


@router.post("/{connection}/authorise", response_model=Consent)
def begin_consent(
    scope: InInstance, here: Here, connection: ConnectionInPath, body: ConsentWanted
) -> Response:
    """Return the address at which you consent for an account that you own."""
    return shown(Consent(url=here.connecting.authorising.begin(scope, connection, body.redirect)))
