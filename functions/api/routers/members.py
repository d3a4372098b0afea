"""Who belongs to a mandate, and who may come into its instances."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, InMandate, place
from api.conditions import Match, Matching, tag_of
from api.models.people import Member, MemberPage, MemberRoles, NewMember
from api.operations import operations
from api.paging import Paged, Paging
from api.rendering import Created, shown
from api.repeats import Creating, Creation
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy import members
from stellwerk.tenancy.scope import Scope

MANDATE, INSTANCE = "/mandates/{mandate}", "/mandates/{mandate}/instances/{instance}"
router = operations(tags=["members"])
UserInPath = Annotated[UserId, Path(pattern=ID, description="Id of a user")]


@router.get(f"{MANDATE}/members", response_model=MemberPage)
def list_members(scope: InMandate, here: Here, page: Paged) -> Response:
    """List the people of a mandate."""
    return _page(scope, here, page)


@router.post(f"{MANDATE}/members", response_model=Member, status_code=201)
def add_member(scope: InMandate, here: Here, creating: Creating, body: NewMember) -> Response:
    """Add someone to a mandate by address; who is not known yet is invited."""
    return _add(scope, here, creating, body)


@router.get(f"{MANDATE}/members/{{user}}", response_model=Member)
def get_member(scope: InMandate, here: Here, user: UserInPath) -> Response:
    """Show a member of a mandate."""
    return _shown(here.administration.members.get(scope, user))


@router.put(f"{MANDATE}/members/{{user}}", response_model=Member)
def set_member_roles(
    scope: InMandate, here: Here, match: Matching, user: UserInPath, body: MemberRoles
) -> Response:
    """Give a member exactly these roles of the mandate."""
    return _set(scope, here, match, user=user, body=body)


@router.delete(f"{MANDATE}/members/{{user}}", status_code=204)
def remove_member(scope: InMandate, here: Here, user: UserInPath) -> Response:
    """Remove a member from a mandate and all its instances."""
    here.administration.members.remove(scope, user)
    return Response(status_code=204)


@router.get(f"{INSTANCE}/members", response_model=MemberPage)
def list_instance_members(scope: InInstance, here: Here, page: Paged) -> Response:
    """List who may come into an instance."""
    return _page(scope, here, page)


@router.post(f"{INSTANCE}/members", response_model=Member, status_code=201)
def add_instance_member(
    scope: InInstance, here: Here, creating: Creating, body: NewMember
) -> Response:
    """Let a member of the mandate come into an instance."""
    return _add(scope, here, creating, body)


@router.get(f"{INSTANCE}/members/{{user}}", response_model=Member)
def get_instance_member(scope: InInstance, here: Here, user: UserInPath) -> Response:
    """Show someone who may come into an instance."""
    return _shown(here.administration.members.get(scope, user))


@router.put(f"{INSTANCE}/members/{{user}}", response_model=Member)
def set_instance_member_roles(
    scope: InInstance, here: Here, match: Matching, user: UserInPath, body: MemberRoles
) -> Response:
    """Give someone exactly these roles of an instance."""
    return _set(scope, here, match, user=user, body=body)


@router.delete(f"{INSTANCE}/members/{{user}}", status_code=204)
def remove_instance_member(scope: InInstance, here: Here, user: UserInPath) -> Response:
    """Let someone come into an instance no more."""
    here.administration.members.remove(scope, user)
    return Response(status_code=204)


def _page(scope: Scope, here: ApiServices, page: Paging) -> Response:
    found = here.administration.members.list(scope, cursor=page.cursor, limit=page.limit)
    items = [Member.of(member) for member in found.items]
    return shown(MemberPage(items=items, cursor=found.cursor))


def _add(scope: Scope, here: ApiServices, creating: Creation, body: NewMember) -> Response:
    def make() -> Created:
        added = here.administration.members.add(scope, body.who, body.roles, name=body.name or "")
        return Created(Member.of(added), f"{place(scope)}/members/{added.user}", tag_of(added))

    return creating.answer(scope, body, make)


def _set(
    scope: Scope, here: ApiServices, match: Match, *, user: UserId, body: MemberRoles
) -> Response:
    changed = match.edit_read(
        lambda: here.administration.members.get(scope, user),
        Member.of,
        lambda revision: here.administration.members.set_roles(scope, user, revision, body.roles),
    )
    return _shown(changed)


def _shown(member: members.Member) -> Response:
    return shown(Member.of(member), tag=tag_of(member))
