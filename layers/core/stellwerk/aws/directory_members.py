"""Where users belong: memberships of mandates and accesses to instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from stellwerk.aws import keys, listing
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory_roles import turned
from stellwerk.aws.directory_users import DynamoUsers
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Check, Delete, Item, Put, Write, present
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.aws.revisions import unchanged, written
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Record
from stellwerk.tenancy.model import FeatureAccess, FeatureInstance, Mandate, UserMandate
from stellwerk.tenancy.ports import Standing
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, of_platform

_TOGETHER = 40
"""Accesses that are removed in one transaction: two writes each, of at most a hundred."""
_NOBODY = UserId("")

R = TypeVar("R", bound=Record)


class DynamoMembers(DynamoUsers):
    """Users and where they belong. Requests: 1 each; places 2, membership new or removed 3."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        super().__init__(items, bodies)
        self._items = items
        self._bodies = bodies

    def standing(self, scope: Scope, user: UserId) -> Standing:
        """Return what is stored of a user at the scope's place."""
        place = scope.mandate, scope.instance
        mandate, membership = keys.mandate(place[0]), keys.membership(place[0], user)
        instance, access = keys.instance(*place), keys.access(*place, user)
        within = [instance, access] if scope.instance != NO_INSTANCE else []
        items = self._items.batch([mandate, membership, *within])
        return Standing(
            self._known(scope, items.get(mandate), Mandate),
            self._known(scope, items.get(membership), UserMandate),
            self._known(scope, items.get(instance), FeatureInstance),
            self._known(scope, items.get(access), FeatureAccess),
        )

    def members(
        self, scope: Scope, *, cursor: str | None, limit: int, ids: str = ""
    ) -> Page[UserMandate]:
        """Return a page of the mandate's members whose ids begin like `ids`, by user."""
        partition = Range(keys.membership(scope.mandate, _NOBODY).pk, prefix=ids or None)
        found = listing.entries(self._items, partition, cursor=cursor, limit=limit)
        whole = [self._bodies.record(scope, item, UserMandate) for item in found.items]
        return Page(whole, found.cursor)

    def accesses(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[FeatureAccess]:
        """Return a page of those who may come into the scope's instance, by user."""
        partition = Range(keys.access(scope.mandate, scope.instance, _NOBODY).pk)
        found = listing.entries(self._items, partition, cursor=cursor, limit=limit)
        whole = [self._bodies.record(scope, item, FeatureAccess) for item in found.items]
        return Page(whole, found.cursor)

    def places(self, user: UserId) -> Sequence[UserMandate | FeatureAccess]:
        """Return everywhere a user belongs, in all mandates."""
        entries = list(self._items.query(Range(keys.user(user).pk, prefix=keys.PLACE)))
        found = [_belonging(entry, user) for entry in entries]
        items = self._items.batch(found)
        known = [(entry, key) for entry, key in zip(entries, found, strict=True) if key in items]
        return [self._place(entry, items[key]) for entry, key in known]

    def write_membership(
        self, scope: Scope, membership: UserMandate, *, turn: int | None = None
    ) -> UserMandate:
        """Write a membership in the scope's mandate; a new one begins without any access."""
        user = membership.user
        if membership.mandate != scope.mandate:
            raise NotFound(f"there is no mandate {membership.mandate}")
        item = self._bodies.item(scope, membership, "members")
        key = keys.membership(scope.mandate, user)
        known = Check(keys.user(user), when=(present(),))
        writes: list[Write] = [known, Put(key, item, when=unchanged(membership))]
        if membership.revision == 0:
            self._begin(scope, user)
            writes.append(_entry(user, scope.mandate, NO_INSTANCE))
        self._write(scope.at(NO_INSTANCE), writes, turn=turn, needs=f"there is no user {user}")
        return written(membership)

    def write_access(
        self, scope: Scope, access: FeatureAccess, *, turn: int | None = None
    ) -> FeatureAccess:
        """Write an access to the scope's instance, and its entry at the user."""
        if (access.mandate, access.instance) != (scope.mandate, scope.instance):
            raise NotFound(f"there is no instance {access.instance}")
        item = self._bodies.item(scope, access, "accesses")
        key = keys.access(scope.mandate, scope.instance, access.user)
        member = Check(keys.membership(scope.mandate, access.user), when=(present(),))
        writes: list[Write] = [member, Put(key, item, when=unchanged(access))]
        if access.revision == 0:
            writes.append(_entry(access.user, scope.mandate, scope.instance))
        missing = f"'{access.user}' is no member of the mandate"
        self._write(scope, writes, turn=turn, needs=missing)
        return written(access)

    def remove_membership(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove a membership, then all accesses to the mandate's instances.

        Without the membership they open nothing and no more can be given; should the process end
        in between, a new membership removes what is left.
        """
        removed = Delete(keys.membership(scope.mandate, user), when=(present(),))
        entry = Delete(keys.place_of_user(user, scope.mandate))
        missing = f"'{user}' is no member of the mandate"
        self._write(scope.at(NO_INSTANCE), [removed, entry], turn=turn, needs=missing)
        self._remove_accesses(scope, user)

    def remove_access(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove an access to the scope's instance."""
        removed, entry = _removal(scope.mandate, scope.instance, user)
        missing = f"'{user}' may not come into this instance anyway"
        writes = [Delete(removed, when=(present(),)), Delete(entry)]
        self._write(scope, writes, turn=turn, needs=missing)

    def _begin(self, scope: Scope, user: UserId) -> None:
        """Remove accesses that an earlier membership has left behind."""
        if self._items.get(keys.membership(scope.mandate, user)) is None:
            self._remove_accesses(scope, user)

    def _remove_accesses(self, scope: Scope, user: UserId) -> None:
        mine = keys.place_of_user(user, scope.mandate)
        entries = self._items.query(Range(mine.pk, prefix=mine.sk))
        instances = [InstanceId(str(entry["instance"])) for entry in entries if entry["instance"]]
        for start in range(0, len(instances), _TOGETHER):
            some = instances[start : start + _TOGETHER]
            gone = [key for instance in some for key in _removal(scope.mandate, instance, user)]
            self._items.transact([Delete(key) for key in gone])

    def _write(
        self, scope: Scope, writes: Sequence[Write], *, turn: int | None, needs: str
    ) -> None:
        """Write all; the first of them tells whether there is what the others `needs`."""
        try:
            self._items.transact([*writes, *turned(scope, turn)])
        except Refused as refused:
            if refused.reasons[0].failed and refused.reasons[0].item is None:
                raise NotFound(needs, remedy="Look at the list of members.") from refused
            raise Conflict(
                "who belongs here, or who administrates here, has changed meanwhile",
                remedy="Read it again and repeat the change.",
            ) from refused

    def _known(self, scope: Scope, item: Item | None, model: type[R]) -> R | None:
        return None if item is None else self._bodies.record(scope, item, model)

    def _place(self, entry: Item, item: Item) -> UserMandate | FeatureAccess:
        scope = of_platform(MandateId(str(entry["mandate"])))
        if entry["instance"]:
            return self._bodies.record(scope, item, FeatureAccess)
        return self._bodies.record(scope, item, UserMandate)


def _entry(user: UserId, mandate: MandateId, instance: InstanceId) -> Put:
    key = keys.place_of_user(user, mandate, instance)
    return Put(key, {"mandate": mandate, "instance": instance})


def _removal(mandate: MandateId, instance: InstanceId, user: UserId) -> tuple[Key, Key]:
    return keys.access(mandate, instance, user), keys.place_of_user(user, mandate, instance)


def _belonging(entry: Item, user: UserId) -> Key:
    mandate, instance = MandateId(str(entry["mandate"])), InstanceId(str(entry["instance"]))
    return keys.access(mandate, instance, user) if instance else keys.membership(mandate, user)
