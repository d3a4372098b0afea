"""Who decides while you are away. Deputies are named in one mandate, among its members."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InMandate, place
from api.models.deputies import Deputies, Deputy, NewDeputy
from api.operations import operations
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.kernel.ids import UserId

router = operations("/mandates/{mandate}/me/deputies", tags=["tasks"])


@router.get("", response_model=Deputies)
def list_deputies(scope: InMandate, here: Here) -> Response:
    """List whom you have named as your deputies, and for whom you stand in."""
    found = here.running.deputies.list(scope)
    return shown(Deputies(items=[Deputy.of(one) for one in found]))


@router.post("", response_model=Deputy, status_code=201)
def name_deputy(scope: InMandate, here: Here, creating: Creating, body: NewDeputy) -> Response:
    """Let a member of the mandate stand in for you; a new period replaces the one before."""

    def make() -> Created:
        named = here.running.deputies.name(
            scope, UserId(body.deputy), since=body.since, until=body.until
        )
        return Created(Deputy.of(named), f"{place(scope)}/me/deputies/{named.deputy}")

    return creating.answer(scope, body, make)


@router.delete("/{user}", status_code=204)
def remove_deputy(
    scope: InMandate,
    here: Here,
    user: Annotated[UserId, Path(pattern=ID, description="Id of the deputy")],
) -> Response:
    """Let someone stand in for you no more."""
    here.running.deputies.remove(scope, user)
    return Response(status_code=204)
