"""Machines that sign in with client credentials."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InMandate, place
from api.models.people import Client, ClientPage, ClientWithSecret, NewClient
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.kernel.ids import UserId

router = operations("/mandates/{mandate}/clients", tags=["clients"])
ClientInPath = Annotated[UserId, Path(pattern=ID, description="Id of a machine")]


@router.get("", response_model=ClientPage)
def list_clients(scope: InMandate, here: Here, page: Paged) -> Response:
    """List the machines of a mandate, the oldest first."""
    found = here.administration.clients.list(scope, cursor=page.cursor, limit=page.limit)
    items = [Client.of(client) for client in found.items]
    return shown(ClientPage(items=items, cursor=found.cursor))


@router.post("", response_model=ClientWithSecret, status_code=201)
def create_client(scope: InMandate, here: Here, creating: Creating, body: NewClient) -> Response:
    """Create a machine. Its secret is in this answer and nowhere else.

    The local issuer takes it. On AWS the user pool knows only app clients that the operator has
    made: there the machine cannot sign in yet (docs/security.md).
    """

    def make() -> Created:
        made, secret = here.administration.clients.create(
            scope, body.name, body.roles, body.expires
        )
        view = ClientWithSecret.with_secret(made, secret)
        return Created(view, f"{place(scope)}/clients/{made.id}", hidden=("secret",))

    return creating.answer(scope, body, make)


@router.post("/{client}/rotate", response_model=ClientWithSecret)
def rotate_client_secret(scope: InMandate, here: Here, client: ClientInPath) -> Response:
    """Give a machine another secret, which is in this answer and nowhere else."""
    changed, secret = here.administration.clients.rotate(scope, client)
    return shown(ClientWithSecret.with_secret(changed, secret))


@router.delete("/{client}", status_code=204)
def revoke_client(scope: InMandate, here: Here, client: ClientInPath) -> Response:
    """Refuse a machine and its tokens from now on."""
    here.administration.clients.revoke(scope, client)
    return Response(status_code=204)
