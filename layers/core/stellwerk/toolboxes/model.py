"""A connection: a user's or an instance's account at a service, without its secrets."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NewType

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Record

ConnectionId = NewType("ConnectionId", str)


class Kind(StrEnum):
    """At what kind of service the account is."""

    SMTP_IMAP = "smtp_imap"
    MICROSOFT = "microsoft"
    SLACK = "slack"
    WEBHOOK = "webhook"


class Status(StrEnum):
    """Whether it can be used. Expired: its owner must sign in, or hand in its secret, again."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Connection(Record):
    """An account. Its secrets are kept elsewhere, under its id."""

    id: ConnectionId
    kind: Kind
    label: str
    owner: UserId
    shared: bool = False
    """Whether it is the instance's: those may use it who may use the instance's connections."""
    scopes: tuple[str, ...] = ()
    """What the service was asked to allow."""
    status: Status = Status.ACTIVE
    settings: JsonObject = Field(default_factory=dict)
    """What is no secret, such as a host; see `kinds`."""
    created: datetime
    checked: datetime | None = None
    """When it was last tried out, or found not to work."""
    problem: str = ""
    """Why it did not work then; empty where it did."""


class Pending(BaseModel):
    """A consent that was asked for: who may come back with its code, and with which verifier."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connection: ConnectionId
    verifier: str
    redirect: str
    expires: datetime


class Verdict(BaseModel):
    """What a test of a connection has found, in one sentence."""

    model_config = ConfigDict(frozen=True)

    works: bool
    message: str
    remedy: str = ""
