"""What tenancy needs from the world. Errors as in `runs.ports`.

`stellwerk.aws.directory` and `stellwerk.aws.audit` implement these, `tests/fakes` in memory; one
contract test holds both. Writes replace the revision that the record carries (0: it must be new)
and return it one higher; they raise Conflict where something else is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Place
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord, Entry
from stellwerk.tenancy.model import (
    FeatureAccess,
    FeatureInstance,
    MachineSecret,
    Mandate,
    Role,
    User,
    UserMandate,
)
from stellwerk.tenancy.scope import Scope

PEOPLE, MACHINES = "u-", "c-"
"""How ids of users begin, so that a list of either is one query."""


@dataclass(frozen=True)
class Standing:
    """All that is stored about a user's place in a mandate and one of its instances."""

    mandate: Mandate | None
    membership: UserMandate | None
    instance: FeatureInstance | None
    access: FeatureAccess | None


@dataclass(frozen=True)
class RoleAt:
    """Where a role is kept: an instance, a mandate (NO_INSTANCE), or SYSTEM for global ones."""

    mandate: MandateId
    instance: InstanceId
    role: RoleId


class Mandates(Protocol):
    """Mandates and their feature instances."""

    def mandate(self, scope: Scope) -> Mandate:
        """Return the scope's mandate."""

    def mandates(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Mandate]:
        """Return a page of all mandates, by id; only for the platform's scope, else empty."""

    def ids(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        """Return up to `limit` ids of mandates in their order, those behind `after`.

        Only for the platform's scope, else none. No mandate's own data is read.
        """

    def write_mandate(self, scope: Scope, mandate: Mandate) -> Mandate:
        """Write a mandate; a scope of another mandate changes nothing and raises NotFound."""

    def instance(self, scope: Scope, instance: InstanceId) -> FeatureInstance:
        """Return an instance of the scope's mandate."""

    def instances(self, scope: Scope) -> Sequence[FeatureInstance]:
        """Return all instances of the scope's mandate, by id."""

    def write_instance(self, scope: Scope, instance: FeatureInstance) -> FeatureInstance:
        """Write an instance of the scope's mandate."""

    def at(
        self, scope: Scope, places: Sequence[Place]
    ) -> Mapping[Place, Mandate | FeatureInstance]:
        """Return what exists of these mandates (NO_INSTANCE) and instances, in one batch.

        Only for the platform's scope, else nothing.
        """


class Roles(Protocol):
    """Roles. Where they are kept follows from the scope: instance, mandate, or system.

    Who takes someone the right to administrate a place does so under `turn`: how often that was
    done before. If it was done meanwhile nothing is written and Conflict is raised, so that two
    administrators cannot dismiss each other at once.
    """

    def role(self, scope: Scope, role: RoleId) -> Role:
        """Return a role of exactly the scope's place."""

    def roles(self, scope: Scope) -> Sequence[Role]:
        """Return all roles of exactly the scope's place, by id."""

    def some(self, scope: Scope, wanted: Sequence[RoleAt]) -> Mapping[RoleAt, Role]:
        """Return those roles that exist, in one batch: of the scope's mandate, or global.

        For the scope of the platform: of any mandate.
        """

    def turn(self, scope: Scope) -> int:
        """Return how often someone was taken the right to administrate the scope's place."""

    def write_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> Role:
        """Write a role at exactly the scope's place; NotFound for a role of another place."""

    def delete_role(self, scope: Scope, role: Role, *, turn: int | None = None) -> None:
        """Remove a role under its revision."""


class Members(Protocol):
    """Users, and where they belong. `turn` as with roles."""

    def user(self, user: UserId) -> User:
        """Return a user, whose record belongs to no mandate."""

    def users(self, users: Sequence[UserId]) -> Mapping[UserId, User]:
        """Return those users that exist, in one batch."""

    def by_subject(self, issuer: str, subject: str) -> User | None:
        """Return the user of a token, in one request."""

    def by_email(self, email: str) -> User | None:
        """Return the user with this address, however it is written."""

    def write_user(self, user: User, before: User | None = None) -> User:
        """Write a user and what finds it by subject and address, at once.

        Conflict if another user has either. `before` is what is stored, if anything is.
        """

    def secret(self, user: UserId) -> MachineSecret | None:
        """Return what is kept of a machine's secret."""

    def write_secret(self, secret: MachineSecret) -> MachineSecret:
        """Write what is kept of a machine's secret."""

    def standing(self, scope: Scope, user: UserId) -> Standing:
        """Return what is stored of a user at the scope's place, in one batch read."""

    def members(
        self, scope: Scope, *, cursor: str | None, limit: int, ids: str = ""
    ) -> Page[UserMandate]:
        """Return a page of the mandate's members whose ids begin like `ids`, by user."""

    def accesses(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[FeatureAccess]:
        """Return a page of those who may come into the scope's instance, by user."""

    def places(self, user: UserId) -> Sequence[UserMandate | FeatureAccess]:
        """Return everywhere a user belongs, in all mandates: what `GET /me` shows."""

    def write_membership(
        self, scope: Scope, membership: UserMandate, *, turn: int | None = None
    ) -> UserMandate:
        """Write a membership in the scope's mandate, and its entry at the user.

        NotFound if there is no such user, or the membership is of another mandate.
        """

    def write_access(
        self, scope: Scope, access: FeatureAccess, *, turn: int | None = None
    ) -> FeatureAccess:
        """Write an access to the scope's instance, and its entry at the user.

        NotFound if the user is no member of the mandate, or the access is to another instance.
        """

    def remove_membership(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove a membership with all accesses to the mandate's instances; NotFound if none."""

    def remove_access(self, scope: Scope, user: UserId, *, turn: int | None = None) -> None:
        """Remove an access to the scope's instance; NotFound if there is none."""


@dataclass(frozen=True)
class Credentials:
    """With which a machine gets tokens from the issuer."""

    client_id: str
    """The subject of its tokens."""
    secret: str = field(repr=False)


class Registry(Protocol):
    """Where the issuer knows machines: a user pool on AWS, the directory locally."""

    def register(self, client: UserId, name: str) -> Credentials:
        """Return credentials of a new machine."""

    def renew(self, client: UserId, name: str, client_id: str) -> Credentials:
        """Return credentials that replace those before at once; the client id may be another."""

    def withdraw(self, client: UserId, client_id: str) -> None:
        """Forget a machine; one that is forgotten already is none to complain about."""


@dataclass(frozen=True)
class Directory:
    """The stores of who there is and who may do what."""

    mandates: Mandates
    roles: Roles
    members: Members


class AuditLog(Protocol):
    """The audit records of mandates: they can be added and read, and nothing else."""

    def last(self, scope: Scope, day: str) -> AuditRecord | None:
        """Return the newest record of a day (`2026-12-01`) of the scope's mandate.

        Raises ServiceUnavailable where it is damaged: nothing can follow it.
        """

    def append(self, scope: Scope, record: AuditRecord) -> None:
        """Put a record of the scope's mandate; raise Conflict if its day and number are taken.

        One that stands there already, the same in all, is no conflict: its answer had been lost.
        """

    def entries(self, scope: Scope, day: str) -> Iterator[Entry]:
        """Yield all that is stored of a day of the scope's mandate, by place."""

    def page(
        self, scope: Scope, wanted: AuditFilter, *, cursor: str | None, limit: int
    ) -> Page[AuditRecord]:
        """Return a page of records, the newest first.

        It reads a bounded number of records, however few of them match: a page may hold fewer than
        `limit`, even none, and still have a cursor.
        """

    def days(self, scope: Scope) -> Iterator[str]:
        """Yield the days on which the scope's mandate has records, the oldest first."""

    def day_before(self, scope: Scope, day: str) -> str | None:
        """Return the last day before `day` on which the scope's mandate has records."""
