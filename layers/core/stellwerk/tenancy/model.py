"""Mandates, features, instances, roles, and the people and machines that hold them, as stored."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.kernel.records import Record
from stellwerk.tenancy.access import AccessRule


class Text(BaseModel):
    """A text that people read, in the languages of the product."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    de: str
    en: str


SHARE = 5_000
"""How many runs of a mandate may be open at once, unless the installation says otherwise."""


class Mandate(Record):
    """A tenant."""

    id: MandateId
    label: str
    created_by: UserId
    created: datetime
    active: bool = True
    """Nobody can come in and nothing starts in a mandate that is not active."""
    guests: bool = False
    """Whether people without an account may decide tasks by a link that is sent to them."""
    open_runs: int = Field(default=SHARE, ge=1, le=100_000)
    """How many of its runs may be open at once; further ones wait for their turn."""


class FeatureInstance(Record):
    """A feature in use in a mandate; data belongs to one. A mandate may hold several of one."""

    id: InstanceId
    mandate: MandateId
    feature: str
    """The code of the feature."""
    label: str
    created_by: UserId
    created: datetime
    active: bool = True


class Role(Record):
    """Rules under a name: of a mandate, of an instance, global, or a template for new ones.

    A copy of a template is independent of it; `template` says where it came from. A role's rules
    are one record with it, so that nobody ever sees half of a change.
    """

    id: RoleId
    label: str
    description: str = ""
    mandate: MandateId | None = None
    instance: InstanceId | None = None
    feature: str | None = None
    is_system_role: bool = False
    template: RoleId | None = None
    rules: tuple[AccessRule, ...] = Field(default=(), max_length=200)


class User(Record):
    """A person, or a machine that signs in with client credentials.

    `issuer` and `subject` are the token's; both "" until the person first signs in by `email`.
    """

    id: UserId
    kind: Literal["person", "machine"] = "person"
    issuer: str = ""
    subject: str = ""
    email: str = ""
    name: str
    language: Literal["de", "en"] = "de"
    active: bool = True
    """Revoked when false: its tokens are refused at once."""
    expires: datetime | None = None
    """The moment after which a machine may no longer come in."""
    roles: tuple[RoleId, ...] = ()
    """Global roles."""
    created: datetime


class UserMandate(Record):
    """That a user belongs to a mandate, with the mandate's roles there (UserMandateRole)."""

    mandate: MandateId
    user: UserId
    roles: tuple[RoleId, ...] = ()
    active: bool = True
    expires: datetime | None = None
    """The moment after which it counts no more: that of the machine that it is of."""

    def counts(self, now: datetime) -> bool:
        """Say whether it opens anything at that moment."""
        return self.active and (self.expires is None or self.expires > now)


class FeatureAccess(Record):
    """That a user may come into an instance, with the instance's roles there."""

    mandate: MandateId
    instance: InstanceId
    user: UserId
    roles: tuple[RoleId, ...] = ()


class MachineSecret(Record):
    """What is kept of a machine's secret: enough to know it again, not enough to tell it."""

    user: UserId
    sha256: str
    """In hexadecimal. The secret is 32 random bytes, which nobody finds by trying."""
    created: datetime
