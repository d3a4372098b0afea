"""Who administrates a place, and that there is always someone left who does.

A mandate or an instance is administrated by active people who hold a role of exactly that place
which lets change all its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import RoleId, UserId
from stellwerk.tenancy.access import Context, Grant, Level, Principal, Priority, Verb, decide
from stellwerk.tenancy.model import Role
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.seats import Seat, seats_at

_PAGE = 100


class Administrators:
    """Lets someone lose the right to administrate only while another one has it."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def at(self, scope: Scope, roles: Iterable[Role]) -> bool:
        """Return whether these roles together let administrate the scope's place."""
        grants = [Grant(Priority.INSTANCE, role.id, role.label, role.rules) for role in roles]
        decision = decide(
            Principal(UserId(""), tuple(grants)),
            Context.DATA,
            scope.table("members"),
            Verb.UPDATE,
            place=scope.place,
        )
        return decision.level in {Level.INSTANCE, Level.ALL}

    def turn_without(self, scope: Scope, user: UserId, held: Sequence[RoleId]) -> int | None:
        """Return the turn under which a user may be left with the roles `held`; None: any.

        Raises Conflict if nobody else administrates the place.
        """
        turn, roles = self._read(scope)
        seat = seats_at(self._directory.members, scope).find(scope, user)
        before = seat.roles if seat else ()
        if not self._holds(scope, before, roles) or self._holds(scope, held, roles):
            return None
        self._require_one(scope, roles, without=user)
        return turn

    def turn_with(self, scope: Scope, role: Role, changed: Role | None) -> int | None:
        """Return the turn under which a role may become `changed`, or go (None); None: any.

        Raises Conflict if then nobody administrates the place.
        """
        if not self.at(scope, [role]) or (changed and self.at(scope, [changed])):
            return None
        turn, roles = self._read(scope)
        others = {key: other for key, other in roles.items() if key != role.id}
        if changed:
            others[role.id] = changed
        self._require_one(scope, others)
        return turn

    def _read(self, scope: Scope) -> tuple[int, Mapping[RoleId, Role]]:
        """Return the turn, and the roles that were read after it."""
        turn = self._directory.roles.turn(scope)
        return turn, {role.id: role for role in self._directory.roles.roles(scope)}

    def _holds(self, scope: Scope, held: Sequence[RoleId], roles: Mapping[RoleId, Role]) -> bool:
        return self.at(scope, [roles[role] for role in held if role in roles])

    def _require_one(
        self, scope: Scope, roles: Mapping[RoleId, Role], without: UserId | None = None
    ) -> None:
        for seat in self._seats(scope):
            if seat.user != without and seat.active and self._holds(scope, seat.roles, roles):
                user = self._directory.members.users([seat.user]).get(seat.user)
                if user and user.active and user.kind == "person":
                    return
        raise Conflict(
            "then nobody would administrate this place any more",
            remedy="First give someone else a role that lets change its members.",
        )

    def _seats(self, scope: Scope) -> Iterator[Seat]:
        seats, cursor = seats_at(self._directory.members, scope), None
        while True:
            page = seats.page(scope, cursor=cursor, limit=_PAGE)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return
