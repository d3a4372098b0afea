"""What tenancy needs from the world. Errors as in `runs.ports`.

`stellwerk.aws.directory` and `stellwerk.aws.audit` implement these, `tests/fakes` in memory; one
contract test holds both. Writes replace the revision that the record carries (0: it must be new)
and return it one higher; they raise Conflict where something else is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.evidence import AuditRecord
from stellwerk.tenancy.model import (
    FeatureAccess,
    FeatureInstance,
    Mandate,
    Role,
    User,
    UserMandate,
)
from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class Standing:
    """All that is stored about a user's place in a mandate and one of its instances."""

    mandate: Mandate | None
    membership: UserMandate | None
    instance: FeatureInstance | None
    access: FeatureAccess | None


class Mandates(Protocol):
    """Mandates and their feature instances."""

    def mandate(self, scope: Scope) -> Mandate:
        """Return the scope's mandate."""

    def mandates(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Mandate]:
        """Return a page of all mandates, by id; only for the platform's scope, else empty."""

    def write_mandate(self, scope: Scope, mandate: Mandate) -> Mandate:
        """Write a mandate; a scope of another mandate changes nothing and raises NotFound."""

    def instance(self, scope: Scope, instance: InstanceId) -> FeatureInstance:
        """Return an instance of the scope's mandate."""

    def instances(self, scope: Scope) -> Sequence[FeatureInstance]:
        """Return all instances of the scope's mandate, by id."""

    def write_instance(self, scope: Scope, instance: FeatureInstance) -> FeatureInstance:
        """Write an instance of the scope's mandate."""


class Roles(Protocol):
    """Roles. Where they are kept follows from the scope: instance, mandate, or system."""

    def role(self, scope: Scope, role: RoleId) -> Role:
        """Return a role of exactly the scope's place."""

    def roles(self, scope: Scope) -> Sequence[Role]:
        """Return all roles of exactly the scope's place, by id."""

    def some(self, scope: Scope, places: Sequence[tuple[InstanceId, RoleId]]) -> Sequence[Role]:
        """Return those roles of the scope's mandate that exist, in one batch; NO_INSTANCE: its own.

        For the scope of the platform these are the global ones.
        """

    def write_role(self, scope: Scope, role: Role) -> Role:
        """Write a role at exactly the scope's place."""

    def delete_role(self, scope: Scope, role: Role) -> None:
        """Remove a role under its revision."""


class Members(Protocol):
    """Users, and where they belong."""

    def user(self, user: UserId) -> User:
        """Return a user, whose record belongs to no mandate."""

    def by_subject(self, issuer: str, subject: str) -> User | None:
        """Return the user of a token."""

    def by_email(self, email: str) -> User | None:
        """Return the user who was invited under this address."""

    def write_user(self, user: User, before: User | None = None) -> User:
        """Write a user and what finds it by subject and address, at once."""

    def standing(self, scope: Scope, user: UserId) -> Standing:
        """Return what is stored of a user at the scope's place, in one batch read."""

    def members(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[UserMandate]:
        """Return a page of the mandate's members, by user."""

    def accesses(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[FeatureAccess]:
        """Return a page of those who may come into the scope's instance, by user."""

    def places(self, user: UserId) -> Sequence[UserMandate | FeatureAccess]:
        """Return everywhere a user belongs, in all mandates: what `GET /me` shows."""

    def write_membership(self, scope: Scope, membership: UserMandate) -> UserMandate:
        """Write a membership in the scope's mandate, and its entry at the user."""

    def write_access(self, scope: Scope, access: FeatureAccess) -> FeatureAccess:
        """Write an access to the scope's instance, and its entry at the user."""

    def remove_membership(self, scope: Scope, user: UserId) -> None:
        """Remove a membership with all accesses to the mandate's instances."""

    def remove_access(self, scope: Scope, user: UserId) -> None:
        """Remove an access to the scope's instance."""


class AuditLog(Protocol):
    """The audit records of mandates: they can be added and read, and nothing else."""

    def last(self, scope: Scope, day: str) -> AuditRecord | None:
        """Return the newest record of a day (`2026-12-01`) of the scope's mandate."""

    def append(self, scope: Scope, record: AuditRecord) -> None:
        """Put a record; raise Conflict if its day and number are taken."""

    def records(self, scope: Scope, day: str) -> Iterator[AuditRecord]:
        """Yield the records of a day of the scope's mandate, the oldest first."""

    def page(self, scope: Scope, day: str, *, cursor: str | None, limit: int) -> Page[AuditRecord]:
        """Return a page of a day's records, the newest first."""

    def days(self, scope: Scope) -> Iterator[str]:
        """Yield the days on which the scope's mandate has records, the oldest first."""
