"""Principals: a user with all roles that count at a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import (
    Context,
    Grant,
    Level,
    Place,
    Principal,
    Priority,
    Verb,
    decide,
)
from stellwerk.tenancy.model import FeatureInstance, Role, User
from stellwerk.tenancy.ports import Directory, RoleAt, Standing
from stellwerk.tenancy.scope import ADMINISTRATION, NO_INSTANCE, SYSTEM, of_platform

INSTANCES = f"data.feature.{ADMINISTRATION}.instances"


@dataclass(frozen=True)
class Held:
    """A role that someone holds, and the priority with which it counts."""

    priority: Priority
    at: RoleAt


@dataclass(frozen=True)
class Present:
    """A user at a place: what is stored about it, and the principal that follows."""

    standing: Standing
    principal: Principal


class Principals:
    """Loads principals. Requests: 2 each."""

    def __init__(self, directory: Directory) -> None:
        self._members = directory.members
        self._roles = directory.roles

    def at(self, user: User, place: Place) -> Present:
        """Return the user at a place, whether it may come in there or not."""
        scope = of_platform(place.mandate).at(place.instance)
        standing = self._members.standing(scope, user.id)
        return Present(standing, self.principal(user.id, held_at(user, place, standing)))

    def principal(self, user: UserId, held: Sequence[Held]) -> Principal:
        """Return the user with those of the held roles that exist."""
        roles = self._roles.some(of_platform(), [role.at for role in held]) if held else {}
        return Principal(user, tuple(granted(held, roles)))


def held_at(user: User, place: Place, standing: Standing) -> list[Held]:
    """Return the roles that count at a place: those of its instance and mandate, and global ones.

    In a mandate that is not active, or to which the user does not belong, only global ones count.
    """
    held = globally(user)
    if is_member(standing):
        held += belonging_at(place, standing)
    return held


def belonging_at(place: Place, standing: Standing) -> list[Held]:
    """Return the roles of a member of the place's mandate: those there, and of the instance."""
    membership, access = standing.membership, standing.access
    of_mandate = at_mandate(place.mandate, membership.roles if membership else ())
    of_instance = at_instance(place.mandate, place.instance, access.roles if access else ())
    return of_mandate + of_instance


def is_member(standing: Standing) -> bool:
    """Say whether the user is an active member of an active mandate."""
    mandate, membership = standing.mandate, standing.membership
    return bool(mandate and mandate.active and membership and membership.active)


def instance_entered(present: Present, place: Place) -> FeatureInstance | None:
    """Return the instance of the place for one who may come in.

    Those come in who have access, and those who administrate the mandate's instances: otherwise
    nobody could help one whose last user has gone.
    """
    instance, access = present.standing.instance, present.standing.access
    if instance is None or not instance.active or not is_member(present.standing):
        return None
    if access is None and not administrates(present.principal, INSTANCES, place, Priority.MANDATE):
        return None
    return instance


def globally(user: User) -> list[Held]:
    """Return the global roles that a user holds."""
    return _held(Priority.GLOBAL, SYSTEM, NO_INSTANCE, user.roles)


def at_mandate(mandate: MandateId, roles: Sequence[RoleId]) -> list[Held]:
    """Return these roles of a mandate as held."""
    return _held(Priority.MANDATE, mandate, NO_INSTANCE, roles)


def at_instance(mandate: MandateId, instance: InstanceId, roles: Sequence[RoleId]) -> list[Held]:
    """Return these roles of an instance as held."""
    return _held(Priority.INSTANCE, mandate, instance, roles)


def granted(held: Sequence[Held], roles: Mapping[RoleAt, Role]) -> Iterator[Grant]:
    """Yield the grants of those held roles that exist."""
    for one in held:
        if one.at in roles:
            role = roles[one.at]
            yield Grant(one.priority, role.id, role.label, role.rules)


def administrates(principal: Principal, item: str, place: Place, priority: Priority) -> bool:
    """Return whether roles of this priority alone let change all of a table."""
    own = tuple(grant for grant in principal.grants if grant.priority is priority)
    only = Principal(principal.user, own)
    return decide(only, Context.DATA, item, Verb.UPDATE, place=place).level is Level.ALL


def _held(
    priority: Priority, mandate: MandateId, instance: InstanceId, roles: Sequence[RoleId]
) -> list[Held]:
    return [Held(priority, RoleAt(mandate, instance, role)) for role in roles]
