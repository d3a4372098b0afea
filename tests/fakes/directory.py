"""Mandates, roles, users and where they belong, in memory."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Place
from stellwerk.tenancy.model import (
    FeatureAccess,
    FeatureInstance,
    MachineSecret,
    Mandate,
    Role,
    User,
    UserMandate,
)
from stellwerk.tenancy.ports import Directory, RoleAt, Standing
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope
from tests.fakes.memory import paged, replaced

Belonging: TypeAlias = UserMandate | FeatureAccess
T = TypeVar("T")


@dataclass
class Records:
    """All that a directory knows. Hold `lock` around every change."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    mandates: dict[MandateId, Mandate] = field(default_factory=dict)
    instances: dict[Place, FeatureInstance] = field(default_factory=dict)
    roles: dict[RoleAt, Role] = field(default_factory=dict)
    turns: Counter[Place] = field(default_factory=Counter)
    users: dict[UserId, User] = field(default_factory=dict)
    secrets: dict[UserId, MachineSecret] = field(default_factory=dict)
    memberships: dict[tuple[MandateId, UserId], UserMandate] = field(default_factory=dict)
    accesses: dict[tuple[Place, UserId], FeatureAccess] = field(default_factory=dict)

    def take_turn(self, scope: Scope, turn: int | None) -> None:
        """Count a turn, if it is still the one that was read."""
        if turn is None:
            return
        if self.turns[scope.place] != turn:
            raise Conflict("who administrates here has changed meanwhile")
        self.turns[scope.place] += 1


def directory() -> Directory:
    """Return an empty directory."""
    records = Records()
    return Directory(FakeMandates(records), FakeRoles(records), FakeMembers(records))


class FakeMandates:
    """Keeps mandates and instances in dicts."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def mandate(self, scope: Scope) -> Mandate:
        return _found(self._records.mandates.get(scope.mandate), "mandate", scope.mandate)

    def mandates(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Mandate]:
        known = list(self._records.mandates.values()) if scope.mandate == SYSTEM else []
        return paged(known, lambda item: item.id, cursor=cursor, limit=limit, newest_first=False)

    def ids(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        known = sorted(self._records.mandates) if scope.mandate == SYSTEM else []
        return [one for one in known if after is None or one > after][:limit]

    def write_mandate(self, scope: Scope, mandate: Mandate) -> Mandate:
        if mandate.id != scope.mandate:
            raise NotFound(f"there is no mandate {mandate.id}")
        with self._records.lock:
            mandates = self._records.mandates
            mandates[mandate.id] = replaced(mandates.get(mandate.id), mandate)
            return mandates[mandate.id]

    def instance(self, scope: Scope, instance: InstanceId) -> FeatureInstance:
        found = self._records.instances.get(Place(scope.mandate, instance))
        return _found(found, "instance", instance)

    def instances(self, scope: Scope) -> Sequence[FeatureInstance]:
        known = self._records.instances.values()
        own = [instance for instance in known if instance.mandate == scope.mandate]
        return sorted(own, key=lambda instance: instance.id)

    def write_instance(self, scope: Scope, instance: FeatureInstance) -> FeatureInstance:
        if instance.mandate != scope.mandate:
            raise NotFound(f"there is no instance {instance.id}")
        place = Place(scope.mandate, instance.id)
        with self._records.lock:
            instances = self._records.instances
            instances[place] = replaced(instances.get(place), instance)
            return instances[place]

    def at(
        self, scope: Scope, places: Sequence[Place]
    ) -> Mapping[Place, Mandate | FeatureInstance]:
        if scope.mandate != SYSTEM:
            return {}
        found = {place: self._at(place) for place in places}
        return {place: record for place, record in found.items() if record is not None}

    def _at(self, place: Place) -> Mandate | FeatureInstance | None:
        if place.instance == NO_INSTANCE:
            return self._records.mandates.get(place.mandate)
        return self._records.instances.get(place)


class FakeRoles:
    """Keeps roles in a dict."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def role(self, scope: Scope, role: RoleId) -> Role:
        return _found(self._records.roles.get(_at(scope, role)), "role", role)

    def roles(self, scope: Scope) -> Sequence[Role]:
        known = self._records.roles.items()
        return sorted(
            (role for place, role in known if place == _at(scope, role.id)),
            key=lambda role: role.id,
        )

    def some(self, scope: Scope, wanted: Sequence[RoleAt]) -> Mapping[RoleAt, Role]:
        known = self._records.roles
        visible = {SYSTEM, scope.mandate}
        return {
            place: known[place]
            for place in wanted
            if place in known and (scope.mandate == SYSTEM or place.mandate in visible)
        }

    def turn(self, scope: Scope) -> int:
        return self._records.turns[scope.place]

    def write_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> Role:
        mandate = None if scope.mandate == SYSTEM else scope.mandate
        if (role.mandate, role.instance) != (mandate, scope.instance or None):
            raise NotFound(f"there is no role {role.id}")
        with self._records.lock:
            place = _at(scope, role.id)
            new = replaced(self._records.roles.get(place), role)
            self._records.take_turn(scope, turn)
            self._records.roles[place] = new
            return new

    def delete_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> None:
        with self._records.lock:
            place = _at(scope, role.id)
            replaced(self._records.roles.get(place), role)
            self._records.take_turn(scope, turn)
            del self._records.roles[place]


class FakeMembers:
    """Keeps users, memberships and accesses in dicts."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def user(self, user: UserId) -> User:
        return _found(self._records.users.get(user), "user", user)

    def users(self, users: Sequence[UserId]) -> Mapping[UserId, User]:
        known = self._records.users
        return {user: known[user] for user in users if user in known}

    def by_subject(self, issuer: str, subject: str) -> User | None:
        token = (issuer, subject)
        return self._first(lambda user: user.subject != "" and (user.issuer, user.subject) == token)

    def by_email(self, email: str) -> User | None:
        return self._first(lambda user: user.email != "" and _plain(user.email) == _plain(email))

    def write_user(self, user: User, before: User | None = None) -> User:
        with self._records.lock:
            users = self._records.users
            new = replaced(users.get(user.id), user)
            for other in users.values():
                if other.id != user.id and _same(other, user):
                    raise Conflict("another user has this address or token")
            users[user.id] = new
            return new

    def secret(self, user: UserId) -> MachineSecret | None:
        return self._records.secrets.get(user)

    def write_secret(self, secret: MachineSecret) -> MachineSecret:
        with self._records.lock:
            secrets = self._records.secrets
            secrets[secret.user] = replaced(secrets.get(secret.user), secret)
            return secrets[secret.user]

    def standing(self, scope: Scope, user: UserId) -> Standing:
        records = self._records
        return Standing(
            records.mandates.get(scope.mandate),
            records.memberships.get((scope.mandate, user)),
            records.instances.get(scope.place),
            records.accesses.get((scope.place, user)),
        )

    def members(
        self, scope: Scope, *, cursor: str | None, limit: int, ids: str = ""
    ) -> Page[UserMandate]:
        known = self._records.memberships.values()
        own = [one for one in known if one.mandate == scope.mandate and one.user.startswith(ids)]
        return paged(own, lambda item: item.user, cursor=cursor, limit=limit, newest_first=False)

    def accesses(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[FeatureAccess]:
        own = [
            access
            for access in self._records.accesses.values()
            if (access.mandate, access.instance) == (scope.mandate, scope.instance)
        ]
        return paged(own, lambda item: item.user, cursor=cursor, limit=limit, newest_first=False)

    def places(self, user: UserId) -> Sequence[Belonging]:
        known: list[Belonging] = [*self._records.memberships.values()]
        known += self._records.accesses.values()
        return sorted((item for item in known if item.user == user), key=_position)

    def write_membership(
        self, scope: Scope, membership: UserMandate, *, turn: int | None = None
    ) -> UserMandate:
        if membership.mandate != scope.mandate:
            raise NotFound(f"there is no mandate {membership.mandate}")
        self.user(membership.user)
        with self._records.lock:
            key = (scope.mandate, membership.user)
            new = replaced(self._records.memberships.get(key), membership)
            self._records.take_turn(scope.at(NO_INSTANCE), turn)
            self._records.memberships[key] = new
            return new

    def write_access(
        self, scope: Scope, access: FeatureAccess, *, turn: int | None = None
    ) -> FeatureAccess:
        if (access.mandate, access.instance) != (scope.mandate, scope.instance):
            raise NotFound(f"there is no instance {access.instance}")
        with self._records.lock:
            if (scope.mandate, access.user) not in self._records.memberships:
                raise NotFound(f"'{access.user}' is no member of the mandate")
            key = (scope.place, access.user)
            new = replaced(self._records.accesses.get(key), access)
            self._records.take_turn(scope, turn)
            self._records.accesses[key] = new
            return new

    def remove_membership(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        records = self._records
        with records.lock:
            _found(records.memberships.get((scope.mandate, user)), "member", user)
            records.take_turn(scope.at(NO_INSTANCE), turn)
            del records.memberships[scope.mandate, user]
            for place, holder in list(records.accesses):
                if (place.mandate, holder) == (scope.mandate, user):
                    del records.accesses[place, holder]

    def remove_access(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        with self._records.lock:
            _found(self._records.accesses.get((scope.place, user)), "access", user)
            self._records.take_turn(scope, turn)
            del self._records.accesses[scope.place, user]

    def _first(self, wanted: Callable[[User], bool]) -> User | None:
        return next((user for user in self._records.users.values() if wanted(user)), None)


def _found(record: T | None, kind: str, identity: str) -> T:
    if record is None:
        raise NotFound(f"there is no {kind} {identity}")
    return record


def _at(scope: Scope, role: RoleId) -> RoleAt:
    return RoleAt(scope.mandate, scope.instance, role)


def _plain(address: str) -> str:
    return address.strip().casefold()


def _same(one: User, other: User) -> bool:
    token = (other.issuer, other.subject)
    address = _plain(other.email)
    return (one.subject != "" and (one.issuer, one.subject) == token) or (
        address != "" and _plain(one.email) == address
    )


def _position(place: Belonging) -> tuple[str, str]:
    return (place.mandate, place.instance if isinstance(place, FeatureAccess) else "")
