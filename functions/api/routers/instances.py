"""Features, and their instances in a mandate."""

from __future__ import annotations

from starlette.responses import Response

from api.backend import Here
from api.caller import InMandate, InstanceInPath, Signed, place
from api.conditions import Matching, tag_of
from api.models.mandates import (
    AddedRules,
    Feature,
    Features,
    Instance,
    Instances,
    NewInstance,
    PlaceChanges,
)
from api.operations import operations
from api.rendering import Created, shown
from api.repeats import Creating

router = operations(tags=["instances"])


@router.get("/features", response_model=Features, tags=["features"])
def list_features(here: Here, claims: Signed) -> Response:
    """List the features of this installation, with their pages, operations and tables."""
    here.administration.signin.user(claims)
    found = here.features.all()
    return shown(Features(items=[Feature.of(found[code]) for code in sorted(found)]))


@router.get("/mandates/{mandate}/instances", response_model=Instances)
def list_instances(scope: InMandate, here: Here) -> Response:
    """List the instances of a mandate: all to its administrators, else those you may enter."""
    found = here.administration.instances.list(scope)
    return shown(Instances(items=[Instance.of(instance) for instance in found]))


@router.post("/mandates/{mandate}/instances", response_model=Instance, status_code=201)
def create_instance(
    scope: InMandate, here: Here, creating: Creating, body: NewInstance
) -> Response:
    """Create an instance of a feature, with copies of its roles; you administrate it."""

    def make() -> Created:
        made = here.administration.instances.create(scope, body.feature, body.label)
        return Created(Instance.of(made), f"{place(scope)}/instances/{made.id}", tag_of(made))

    return creating.answer(scope, body, make)


@router.get("/mandates/{mandate}/instances/{instance}", response_model=Instance)
def get_instance(scope: InMandate, here: Here, instance: InstanceInPath) -> Response:
    """Show an instance."""
    found = here.administration.instances.get(scope, instance)
    return shown(Instance.of(found), tag=tag_of(found))


@router.patch("/mandates/{mandate}/instances/{instance}", response_model=Instance)
def update_instance(
    scope: InMandate, here: Here, match: Matching, instance: InstanceInPath, body: PlaceChanges
) -> Response:
    """Rename an instance, let it rest, or wake it."""
    changed = match.edit_read(
        lambda: here.administration.instances.get(scope, instance),
        Instance.of,
        lambda revision: here.administration.instances.update(
            scope, instance, revision, label=body.label, active=body.active
        ),
    )
    return shown(Instance.of(changed), tag=tag_of(changed))


@router.post("/mandates/{mandate}/instances/{instance}/sync-ui-objects", response_model=AddedRules)
def sync_ui_objects(scope: InMandate, here: Here, instance: InstanceInPath) -> Response:
    """Give the instance's roles what their templates say about pages they do not know yet."""
    return shown(AddedRules.of([*here.administration.instances.sync_ui_objects(scope, instance)]))
