"""The scope of a call: who acts, for which mandate and instance, with which roles.

Every service and store method takes one. Made only by the functions of this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import (
    AccessRule,
    Context,
    Decision,
    Grant,
    Level,
    Place,
    Principal,
    Priority,
    Row,
    Verb,
    decide,
)

SEEDED_MANDATE = MandateId("m-demo")
SEEDED_INSTANCE = InstanceId("i-demo")
SEEDED_USER = UserId("u-demo")
SYSTEM = MandateId("system")
"""Stands for no mandate: users, mandates and role templates are kept under it."""
NO_INSTANCE = InstanceId("")
"""Stands for the mandate itself: its members, roles and instances are kept under it."""
GRAPHICAL_EDITOR = "graphicalEditor"
ADMINISTRATION = "administration"
"""The feature of the mandates themselves: the code in the items of what is kept under them."""


@dataclass(frozen=True)
class Scope:
    """Who acts, where. `feature` is the code of the instance's feature."""

    mandate: MandateId
    instance: InstanceId
    principal: Principal
    request: str = ""
    feature: str = GRAPHICAL_EDITOR

    @property
    def user(self) -> UserId:
        """Who acts."""
        return self.principal.user

    @property
    def place(self) -> Place:
        """Where the act happens."""
        return Place(self.mandate, self.instance)

    def table(self, name: str) -> str:
        """Return the DATA item of a table of this instance's feature."""
        return f"data.feature.{self.feature}.{name}"

    def row(self, created_by: UserId) -> Row:
        """Return a row of this instance."""
        return Row(self.mandate, self.instance, created_by)

    def at(self, instance: InstanceId) -> Scope:
        """Return the same principal's scope at another place of the same mandate."""
        return replace(self, instance=instance)


def seeded(*, request: str = "") -> Scope:
    """Return the scope of the one user of a fresh local cloud, who may do everything there."""
    return Scope(SEEDED_MANDATE, SEEDED_INSTANCE, _everything(SEEDED_USER), request)


def of_run(mandate: str, instance: str, user: str, *, request: str = "") -> Scope:
    """Return the scope in which a run's steps act: from its record, never from a payload.

    Whether its user may run the workflow was decided when it started; its steps are the platform's.
    """
    return Scope(MandateId(mandate), InstanceId(instance), _everything(UserId(user)), request)


def of_owner(scope: Scope, owner: UserId) -> Scope:
    """Return the scope of a workflow's owner at the scope's place, who holds no role there yet.

    What the owner may do is looked up where it matters: see `tenancy.owners`.
    """
    return replace(scope, principal=Principal(owner))


def of_platform(mandate: MandateId = SYSTEM, *, request: str = "") -> Scope:
    """Return the scope of the platform itself: seeding, sweeping, looking up who signed in."""
    return Scope(mandate, NO_INSTANCE, _everything(UserId("platform")), request)


def of_principal(
    principal: Principal,
    mandate: MandateId,
    instance: InstanceId = NO_INSTANCE,
    *,
    feature: str = "",
    request: str = "",
) -> Scope:
    """Return the scope of a principal whose token was verified and whose grants were loaded."""
    return Scope(mandate, instance, principal, request, feature)


def at_mandate(scope: Scope) -> Scope:
    """Return the scope of the same user at the mandate itself, where no instance's role counts."""
    if scope.instance == NO_INSTANCE:
        return scope
    grants = [one for one in scope.principal.grants if one.priority is not Priority.INSTANCE]
    principal = Principal(scope.user, tuple(grants))
    return replace(scope, instance=NO_INSTANCE, principal=principal, feature=ADMINISTRATION)


def permitted(scope: Scope, table: str, verb: Verb, created_by: UserId | None = None) -> Decision:
    """Decide about a table of the instance's feature: all of it, or a row by who created it."""
    row = None if created_by is None else scope.row(created_by)
    item = scope.table(table)
    return decide(scope.principal, Context.DATA, item, verb, place=scope.place, row=row)


def require(scope: Scope, table: str, verb: Verb, created_by: UserId | None = None) -> Level:
    """Return to which rows the scope's roles let `verb` reach.

    Raises Forbidden, with the reason, if they do not; NotFound for a row that they do not even let
    read, since its existence is nobody else's business: the refusal is then the error's cause.
    """
    decision = permitted(scope, table, verb, created_by)
    if decision.allowed:
        return decision.level
    refusal = Forbidden(
        f"You may not {verb} {table} here: {decision.reason}.",
        remedy="Ask an administrator of the mandate for a role that allows it.",
    )
    if created_by is not None and not permitted(scope, table, Verb.READ, created_by).allowed:
        raise NotFound(f"there is no such thing among the {table}, or not for you") from refusal
    raise refusal


def require_operation(scope: Scope, name: str) -> None:
    """Raise Forbidden unless the scope's roles let it use a RESOURCE of the instance's feature."""
    item = f"resource.feature.{scope.feature}.{name}"
    decision = decide(scope.principal, Context.RESOURCE, item, Verb.VIEW, place=scope.place)
    if not decision.allowed:
        raise Forbidden(
            f"You may not use '{name}' here: {decision.reason}.",
            remedy="Ask an administrator of the mandate for a role that allows it.",
        )


_LEVELS = {verb.value: Level.ALL for verb in (Verb.READ, Verb.CREATE, Verb.UPDATE, Verb.DELETE)}
_RULES = tuple(
    AccessRule.model_validate({"context": context, "view": True, **_LEVELS}) for context in Context
)
_PLATFORM = (Grant(Priority.INSTANCE, RoleId("platform"), "platform", _RULES),)


@lru_cache(256)
def _everything(user: UserId) -> Principal:
    return Principal(user, _PLATFORM)
