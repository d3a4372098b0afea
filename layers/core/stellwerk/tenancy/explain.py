"""Explaining access: what a user may do and why, role by role, for administrators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy.access import (
    AccessRule,
    Context,
    Decision,
    Level,
    Place,
    Principal,
    Priority,
    Row,
    Verb,
    closest,
    decide,
)
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.principals import Principals
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, at_mandate, require


@dataclass(frozen=True)
class Considered:
    """A role that the user holds, and what it says about the item."""

    priority: Priority
    role: RoleId
    label: str
    rule: AccessRule | None
    """Its most specific rule that matches; None if none does."""
    level: Level
    counts: bool
    """Whether its priority is the one that decides."""


@dataclass(frozen=True)
class Explanation:
    """A decision about someone, and all roles that were considered, the highest priority first."""

    decision: Decision
    roles: tuple[Considered, ...]


class Explainer:
    """Says why someone may or may not do something."""

    def __init__(self, directory: Directory, *, audit: Audit) -> None:
        self._directory = directory
        self._principals = Principals(directory)
        self._audit = audit

    def explain(
        self,
        scope: Scope,
        user: UserId,
        context: Context,
        item: str,
        verb: Verb,
        *,
        instance: InstanceId | None = None,
        created_by: UserId | None = None,
    ) -> Explanation:
        """Decide for a member of the scope's mandate, as if that user did it there.

        In an instance if one is given; about a row if its creator is. Raises Forbidden for those
        who may not read roles and members; NotFound for foreign users and instances.
        """
        scope = at_mandate(scope)
        with noted(self._audit, scope, "access.explain", f"user:{user}"):
            require(scope, "roles", Verb.READ)
            require(scope, "members", Verb.READ)
        place = Place(scope.mandate, instance or NO_INSTANCE)
        principal = self._principal(scope, user, place)
        row = None if created_by is None else Row(place.mandate, place.instance, created_by)
        decision = decide(principal, context, item, verb, place=place, row=row)
        return Explanation(decision, tuple(_considered(principal, context, item, verb)))

    def _principal(self, scope: Scope, user: UserId, place: Place) -> Principal:
        at_place = scope.at(place.instance)
        standing = self._directory.members.standing(at_place, user)
        if standing.membership is None:
            raise NotFound(f"there is no member {user}", remedy="Look at the list of members.")
        if place.instance and standing.instance is None:
            raise NotFound(f"there is no instance {place.instance}")
        return self._principals.at(self._directory.members.user(user), place).principal


def _considered(
    principal: Principal, context: Context, item: str, verb: Verb
) -> Iterator[Considered]:
    grants = sorted(principal.grants, key=lambda grant: -grant.priority)
    rules = [(grant, closest(grant.rules, context, item, verb)) for grant in grants]
    deciding = next((grant.priority for grant, rule in rules if rule), None)
    for grant, rule in rules:
        level = rule.level(verb) if rule else Level.NONE
        counts = rule is not None and grant.priority is deciding
        yield Considered(grant.priority, grant.role, grant.label, rule, level, counts)
