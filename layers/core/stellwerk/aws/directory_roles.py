"""Roles, with the number that keeps a place from losing its last administrator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stellwerk.aws import keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Put, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.aws.revisions import unchanged, written
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RoleId
from stellwerk.tenancy.model import Role
from stellwerk.tenancy.ports import RoleAt
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope


class DynamoRoles:
    """Roles on the table `platform`. Requests: 1 each."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def role(self, scope: Scope, role: RoleId) -> Role:
        """Return a role of exactly the scope's place; raises NotFound."""
        item = self._items.get(_key(scope, role))
        if item is None:
            raise _missing(role)
        return self._bodies.record(scope, item, Role)

    def roles(self, scope: Scope) -> Sequence[Role]:
        """Return all roles of exactly the scope's place, by id."""
        found = self._items.query(Range(_key(scope, RoleId("")).pk))
        return [self._bodies.record(scope, item, Role) for item in found]

    def some(self, scope: Scope, wanted: Sequence[RoleAt]) -> Mapping[RoleAt, Role]:
        """Return those roles that exist, as far as the scope may know of them."""
        own = [role for role in wanted if _visible(scope, role)]
        places = {role: keys.role(role.mandate, role.instance, role.role) for role in own}
        items = self._items.batch(list(places.values()))
        return {
            role: self._bodies.record(scope, items[key], Role)
            for role, key in places.items()
            if key in items
        }

    def turn(self, scope: Scope) -> int:
        """Return how often someone was taken the right to administrate the scope's place."""
        item = self._items.get(keys.administrators(scope))
        return int(item["turn"]) if item else 0

    def write_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> Role:
        """Write a role at exactly the scope's place."""
        if not _belongs(scope, role):
            raise _missing(role.id)
        item = self._bodies.item(scope, role, "roles")
        written_role = Put(_key(scope, role.id), item, when=unchanged(role))
        try:
            self._items.transact([written_role, *turned(scope, turn)])
        except Refused as refused:
            raise _changed(role) from refused
        return written(role)

    def delete_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> None:
        """Remove a role under its revision."""
        removed = Delete(_key(scope, role.id), when=unchanged(role))
        try:
            self._items.transact([removed, *turned(scope, turn)])
        except Refused as refused:
            raise _changed(role) from refused


def turned(scope: Scope, turn: int | None) -> list[Put]:
    """Return the write that holds only if `turn` still stands, and raises it; none for None."""
    if turn is None:
        return []
    still = equals("turn", turn) if turn else absent()
    return [Put(keys.administrators(scope), {"turn": turn + 1}, when=(still,))]


def _key(scope: Scope, role: RoleId) -> Key:
    return keys.role(scope.mandate, scope.instance, role)


def _visible(scope: Scope, role: RoleAt) -> bool:
    return SYSTEM in (scope.mandate, role.mandate) or role.mandate == scope.mandate


def _belongs(scope: Scope, role: Role) -> bool:
    mandate = None if scope.mandate == SYSTEM else scope.mandate
    instance = None if scope.instance == NO_INSTANCE else scope.instance
    return (role.mandate, role.instance) == (mandate, instance)


def _missing(role: RoleId) -> NotFound:
    return NotFound(f"there is no role {role}", remedy="Look at the list of roles.")


def _changed(role: Role) -> Conflict:
    return Conflict(
        f"role '{role.label}', or who administrates here, has changed meanwhile",
        remedy="Read it again and repeat the change.",
    )
