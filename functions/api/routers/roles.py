"""Roles of a mandate and of its instances, with their rules; why something is allowed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, InMandate, place
from api.conditions import Match, Matching, tag_of
from api.models.people import (
    ContextName,
    Explanation,
    NewRole,
    NewRules,
    Role,
    RoleChanges,
    Roles,
    Rules,
    VerbName,
    rules_of,
)
from api.operations import operations
from api.rendering import Created, shown
from api.repeats import Creating, Creation
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy import model
from stellwerk.tenancy.access import Context, Verb
from stellwerk.tenancy.scope import Scope

MANDATE, INSTANCE = "/mandates/{mandate}", "/mandates/{mandate}/instances/{instance}"
router = operations(tags=["roles"])
RoleInPath = Annotated[RoleId, Path(pattern=ID, description="Id of a role")]


@router.get(f"{MANDATE}/roles", response_model=Roles)
def list_roles(scope: InMandate, here: Here) -> Response:
    """List the roles of a mandate."""
    return _all(scope, here)


@router.post(f"{MANDATE}/roles", response_model=Role, status_code=201)
def create_role(scope: InMandate, here: Here, creating: Creating, body: NewRole) -> Response:
    """Create a role of a mandate."""
    return _create(scope, here, creating, body)


@router.get(f"{MANDATE}/roles/{{role}}", response_model=Role)
def get_role(scope: InMandate, here: Here, role: RoleInPath) -> Response:
    """Show a role of a mandate."""
    return _shown(here.administration.roles.get(scope, role))


@router.put(f"{MANDATE}/roles/{{role}}", response_model=Role)
def update_role(
    scope: InMandate, here: Here, match: Matching, role: RoleInPath, body: RoleChanges
) -> Response:
    """Change a role of a mandate."""
    return _shown(_update(scope, here, match, role=role, body=body))


@router.delete(f"{MANDATE}/roles/{{role}}", status_code=204)
def delete_role(scope: InMandate, here: Here, match: Matching, role: RoleInPath) -> Response:
    """Remove a role of a mandate; who held it holds it no more."""
    return _delete(scope, here, match, role)


@router.get(f"{MANDATE}/roles/{{role}}/rules", response_model=Rules)
def get_role_rules(scope: InMandate, here: Here, role: RoleInPath) -> Response:
    """Show the rules of a mandate's role."""
    found = here.administration.roles.get(scope, role)
    return shown(Rules.of(found), tag=tag_of(found))


@router.put(f"{MANDATE}/roles/{{role}}/rules", response_model=Rules)
def set_role_rules(
    scope: InMandate, here: Here, match: Matching, role: RoleInPath, body: NewRules
) -> Response:
    """Give a mandate's role exactly these rules."""
    changes = RoleChanges(rules=body.rules)
    changed = _update(scope, here, match, role=role, body=changes)
    return shown(Rules.of(changed), tag=tag_of(changed))


@router.get(f"{INSTANCE}/roles", response_model=Roles)
def list_instance_roles(scope: InInstance, here: Here) -> Response:
    """List the roles of an instance."""
    return _all(scope, here)


@router.post(f"{INSTANCE}/roles", response_model=Role, status_code=201)
def create_instance_role(
    scope: InInstance, here: Here, creating: Creating, body: NewRole
) -> Response:
    """Create a role of an instance."""
    return _create(scope, here, creating, body)


@router.get(f"{INSTANCE}/roles/{{role}}", response_model=Role)
def get_instance_role(scope: InInstance, here: Here, role: RoleInPath) -> Response:
    """Show a role of an instance."""
    return _shown(here.administration.roles.get(scope, role))


@router.put(f"{INSTANCE}/roles/{{role}}", response_model=Role)
def update_instance_role(
    scope: InInstance, here: Here, match: Matching, role: RoleInPath, body: RoleChanges
) -> Response:
    """Change a role of an instance, its rules included."""
    return _shown(_update(scope, here, match, role=role, body=body))


@router.delete(f"{INSTANCE}/roles/{{role}}", status_code=204)
def delete_instance_role(
    scope: InInstance, here: Here, match: Matching, role: RoleInPath
) -> Response:
    """Remove a role of an instance; who held it holds it no more."""
    return _delete(scope, here, match, role)


@router.get(f"{MANDATE}/access/explain", response_model=Explanation, tags=["access"])
def explain_access(
    scope: InMandate,
    here: Here,
    user: Annotated[UserId, Query(pattern=ID, description="Id of a member")],
    context: Annotated[ContextName, Query()],
    item: Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.*-]+$")],
    verb: Annotated[VerbName, Query()],
    instance: Annotated[InstanceId | None, Query(pattern=ID)] = None,
    created_by: Annotated[UserId | None, Query(pattern=ID, description="Of a row")] = None,
) -> Response:
    """Explain what a member may do and why, role by role. For administrators."""
    found = here.administration.explainer.explain(
        scope,
        user,
        Context(context),
        item,
        Verb(verb),
        instance=instance,
        created_by=created_by,
    )
    return shown(Explanation.of(found))


def _all(scope: Scope, here: ApiServices) -> Response:
    return shown(Roles(items=[Role.of(role) for role in here.administration.roles.list(scope)]))


def _create(scope: Scope, here: ApiServices, creating: Creation, body: NewRole) -> Response:
    def make() -> Created:
        made = here.administration.roles.create(
            scope,
            body.label,
            description=body.description,
            rules=rules_of(body.rules) or (),
        )
        return Created(Role.of(made), f"{place(scope)}/roles/{made.id}", tag_of(made))

    return creating.answer(scope, body, make)


def _update(
    scope: Scope, here: ApiServices, match: Match, *, role: RoleId, body: RoleChanges
) -> model.Role:
    return match.edit_read(
        lambda: here.administration.roles.get(scope, role),
        Role.of,
        lambda revision: here.administration.roles.update(
            scope,
            role,
            revision,
            label=body.label,
            description=body.description,
            rules=rules_of(body.rules),
        ),
    )


def _delete(scope: Scope, here: ApiServices, match: Match, role: RoleId) -> Response:
    def remove(revision: int) -> model.Role:
        here.administration.roles.delete(scope, role, revision)
        return found

    found = here.administration.roles.get(scope, role)
    match.edit_read(lambda: here.administration.roles.get(scope, role), Role.of, remove)
    return Response(status_code=204)


def _shown(role: model.Role) -> Response:
    return shown(Role.of(role), tag=tag_of(role))
