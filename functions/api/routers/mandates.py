"""Mandates: create, list, change."""

from __future__ import annotations

from starlette.responses import Response

from api.backend import Here
from api.caller import InMandate, Outside
from api.conditions import Matching, tag_of
from api.models.mandates import Mandate, MandateChanges, MandatePage, NewMandate
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating

router = operations("/mandates", tags=["mandates"])


@router.get("", response_model=MandatePage)
def list_mandates(scope: Outside, here: Here, page: Paged) -> Response:
    """List the mandates to which you belong; to system administrators all of them."""
    found = here.administration.mandates.list(scope, cursor=page.cursor, limit=page.limit)
    items = [Mandate.of(mandate) for mandate in found.items]
    return shown(MandatePage(items=items, cursor=found.cursor))


@router.post("", response_model=Mandate, status_code=201)
def create_mandate(scope: Outside, here: Here, creating: Creating, body: NewMandate) -> Response:
    """Create a mandate with its roles and first administrator. For system administrators."""

    def make() -> Created:
        made = here.administration.mandates.create(scope, body.label, body.admin)
        return Created(Mandate.of(made), f"/api/v1/mandates/{made.id}", tag_of(made))

    return creating.answer(scope, body, make)


@router.get("/{mandate}", response_model=Mandate)
def get_mandate(scope: InMandate, here: Here) -> Response:
    """Show a mandate."""
    found = here.administration.mandates.get(scope)
    return shown(Mandate.of(found), tag=tag_of(found))


@router.patch("/{mandate}", response_model=Mandate)
def update_mandate(scope: InMandate, here: Here, match: Matching, body: MandateChanges) -> Response:
    """Rename a mandate, let guests decide; its rest and share are system administrators'."""
    changed = match.edit_read(
        lambda: here.administration.mandates.get(scope),
        Mandate.of,
        lambda revision: here.administration.mandates.update(
            scope,
            revision,
            label=body.label,
            active=body.active,
            guests=body.guests,
            open_runs=body.open_runs,
        ),
    )
    return shown(Mandate.of(changed), tag=tag_of(changed))
