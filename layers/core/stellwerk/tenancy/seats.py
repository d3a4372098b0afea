"""Seats: that someone belongs to a place with roles there, the same for mandate and instance."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from stellwerk.kernel.ids import RoleId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Record
from stellwerk.tenancy.model import FeatureAccess, UserMandate
from stellwerk.tenancy.ports import PEOPLE, Members
from stellwerk.tenancy.scope import NO_INSTANCE, Scope


class Seat(Record):
    """A user's place in a mandate or an instance."""

    user: UserId
    roles: tuple[RoleId, ...] = ()
    active: bool = True
    expires: datetime | None = None
    """Of a machine's place in a mandate: the moment after which it counts no more."""


class Seats(Protocol):
    """The seats of a place. Errors as in `ports.Members`."""

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Seat]:
        """Return a page of the seats, by user."""

    def find(self, scope: Scope, user: UserId) -> Seat | None:
        """Return the seat of a user."""

    def write(self, scope: Scope, seat: Seat, *, turn: int | None = None) -> Seat:
        """Write a seat under its revision."""

    def remove(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove a seat."""


def seats_at(members: Members, scope: Scope) -> Seats:
    """Return the seats of the scope's place."""
    return OfMandate(members) if scope.instance == NO_INSTANCE else OfInstance(members)


class OfMandate:
    """Seats in a mandate are memberships; pages list people, not machines."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Seat]:
        """Return a page of the people, by user."""
        page = self._members.members(scope, cursor=cursor, limit=limit, ids=PEOPLE)
        return Page([_of_member(item) for item in page.items], page.cursor)

    def find(self, scope: Scope, user: UserId) -> Seat | None:
        """Return the membership of a user."""
        found = self._members.standing(scope, user).membership
        return _of_member(found) if found else None

    def write(self, scope: Scope, seat: Seat, *, turn: int | None = None) -> Seat:
        """Write a membership."""
        member = UserMandate(mandate=scope.mandate, **seat.model_dump())
        return _of_member(self._members.write_membership(scope, member, turn=turn))

    def remove(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove a membership with all accesses."""
        self._members.remove_membership(scope, user, turn=turn)


class OfInstance:
    """Seats in an instance are accesses, of people and machines."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Seat]:
        """Return a page of those who may come in, by user."""
        page = self._members.accesses(scope, cursor=cursor, limit=limit)
        return Page([_of_access(item) for item in page.items], page.cursor)

    def find(self, scope: Scope, user: UserId) -> Seat | None:
        """Return the access of a user."""
        found = self._members.standing(scope, user).access
        return _of_access(found) if found else None

    def write(self, scope: Scope, seat: Seat, *, turn: int | None = None) -> Seat:
        """Write an access."""
        access = FeatureAccess(
            mandate=scope.mandate,
            instance=scope.instance,
            **seat.model_dump(exclude={"active", "expires"}),
        )
        return _of_access(self._members.write_access(scope, access, turn=turn))

    def remove(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove an access."""
        self._members.remove_access(scope, user, turn=turn)


def _of_member(member: UserMandate) -> Seat:
    return Seat.model_validate(member.model_dump(exclude={"mandate"}))


def _of_access(access: FeatureAccess) -> Seat:
    return Seat.model_validate(access.model_dump(exclude={"mandate", "instance"}))
