"""Members: who belongs to a mandate or may come into an instance, with which roles."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import RoleId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.administrators import Administrators
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.model import User
from stellwerk.tenancy.people import People
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.reach import require_reach
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, require
from stellwerk.tenancy.seats import Seat, seats_at

TABLE = "members"


class Member(BaseModel):
    """A user at a place, as others there may see him; `revision` is that of the roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: UserId
    kind: str
    name: str
    email: str
    signed_in: bool
    """Whether the person has ever come in since the invitation."""
    roles: tuple[RoleId, ...]
    active: bool
    revision: int


class MemberService:
    """Lists and changes the members of the scope's place: of an instance, or of the mandate."""

    def __init__(self, directory: Directory, *, audit: Audit, clock: Clock) -> None:
        self._directory = directory
        self._members = directory.members
        self._people = People(directory.members, clock)
        self._administrators = Administrators(directory)
        self._audit = audit

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Member]:
        """Return a page of members, by user: a mandate's people; who may come into an instance."""
        with noted(self._audit, scope, "member.list"):
            require(scope, TABLE, Verb.READ)
        page = seats_at(self._members, scope).page(scope, cursor=cursor, limit=limit)
        users = self._members.users([seat.user for seat in page.items])
        known = [_member(users[seat.user], seat) for seat in page.items if seat.user in users]
        return Page(known, page.cursor)

    def get(self, scope: Scope, user: UserId) -> Member:
        """Return a member; raises NotFound."""
        with noted(self._audit, scope, "member.read", f"user:{user}"):
            require(scope, TABLE, Verb.READ)
        seat = self._seat(scope, user)
        return _member(self._members.user(user), seat)

    def add(
        self, scope: Scope, who: str, roles: Iterable[RoleId] = (), *, name: str = ""
    ) -> Member:
        """Add someone by user id or mail address.

        To a mandate by address alone: who is unknown is invited under `name`, signs in with that
        address and belongs here. To an instance only members of its mandate. Raises Forbidden, also
        for roles beyond what the user holds; NotFound for foreign users and roles; BadInput for no
        address; Conflict for who is a member already.
        """
        with self._audit.act(scope, "member.add") as act:
            require(scope, TABLE, Verb.CREATE)
            held = self._checked(scope, roles, before=())
            user = self._candidate(scope, who, name)
            act.object(f"user:{user.id}")
            seats = seats_at(self._members, scope)
            if seats.find(scope, user.id):
                raise Conflict(f"'{user.id}' is a member already", remedy="Change the roles.")
            seat = seats.write(scope, Seat(user=user.id, roles=held))
            act.after(seat)
            return _member(user, seat)

    def set_roles(
        self, scope: Scope, user: UserId, revision: int, roles: Iterable[RoleId]
    ) -> Member:
        """Give a member exactly these roles of the place.

        Raises as `add`; Conflict where `revision` is not what is stored, or nobody would
        administrate the place any more.
        """
        with self._audit.act(scope, "member.set_roles", f"user:{user}") as act:
            require(scope, TABLE, Verb.UPDATE)
            before = self._seat(scope, user)
            act.before(before)
            held = self._checked(scope, roles, before=before.roles)
            turn = self._administrators.turn_without(scope, user, held)
            changed = before.model_copy(update={"roles": held, "revision": revision})
            seat = seats_at(self._members, scope).write(scope, changed, turn=turn)
            act.after(seat)
            return _member(self._members.user(user), seat)

    def remove(self, scope: Scope, user: UserId) -> None:
        """Remove a member: from a mandate with all accesses to its instances.

        Raises Forbidden, NotFound; Conflict for the last one who administrates the place.
        """
        with self._audit.act(scope, "member.remove", f"user:{user}") as act:
            require(scope, TABLE, Verb.DELETE)
            act.before(self._seat(scope, user))
            turn = self._administrators.turn_without(scope, user, ())
            seats_at(self._members, scope).remove(scope, user, turn=turn)
            act.after(None)

    def _seat(self, scope: Scope, user: UserId) -> Seat:
        seat = seats_at(self._members, scope).find(scope, user)
        if seat is None:
            raise NotFound(f"there is no member {user}", remedy="Look at the list of members.")
        return seat

    def _candidate(self, scope: Scope, who: str, name: str) -> User:
        """Return whom to add. Ids of users of other mandates tell nothing, as if unknown."""
        if scope.instance == NO_INSTANCE and "@" in who:
            return self._people.invited(who, name)
        if not who:
            raise BadInput("nobody is named", remedy="Give a user id or a mail address.")
        user = self._people.find(who)
        place = scope.at(NO_INSTANCE)
        if user is None or self._members.standing(place, user.id).membership is None:
            raise NotFound(
                f"there is no member {who} of the mandate",
                remedy="Add people to the mandate by address first.",
            )
        return user

    def _checked(
        self, scope: Scope, roles: Iterable[RoleId], *, before: Iterable[RoleId]
    ) -> tuple[RoleId, ...]:
        """Return the roles, each once; those that have gone since they were given fall out.

        New ones must exist here, and be the user's to give.
        """
        held, old = dict.fromkeys(roles), set(before)
        known = {role.id: role for role in self._directory.roles.roles(scope)}
        for role in held.keys() - old:
            if role not in known:
                raise NotFound(f"there is no role {role}", remedy="Look at the list of roles.")
            require_reach(scope, known[role].rules)
        return tuple(role for role in held if role in known)


def _member(user: User, seat: Seat) -> Member:
    return Member(
        user=user.id,
        kind=user.kind,
        name=user.name,
        email=user.email,
        signed_in=bool(user.subject),
        roles=seat.roles,
        active=user.active and seat.active,
        revision=seat.revision,
    )
