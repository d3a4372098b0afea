"""Connections: what is known of them, and what is handed in. No answer holds a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, Label, PageOf, Shown
from stellwerk.kernel.json import Flag, JsonObject
from stellwerk.toolboxes import model as stored

KindName = Literal["smtp_imap", "microsoft", "slack", "webhook"]
StatusName = Literal["active", "expired", "revoked"]
Settings = Annotated[
    JsonObject, Field(description="What is no secret; docs/connections.md lists it by kind")
]
Secret = Annotated[
    JsonObject,
    Field(description="What nobody is shown again; docs/connections.md lists it by kind"),
]


class Connection(Shown):
    """An account at a service, without its secrets."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "01kb2c3d4e5f6g7h8j9k0m1n2p",
                "kind": "smtp_imap",
                "label": "Office",
                "owner": "u-demo-user",
                "shared": False,
                "scopes": [],
                "status": "active",
                "settings": {"user": "office@muster.example", "imap_host": "imap.muster.example"},
                "created": "2026-12-01T08:15:00Z",
                "checked": None,
                "problem": "",
                "etag": '"1"',
            }
        }
    )

    id: str
    kind: KindName
    label: str
    owner: str
    shared: bool = Field(description="Whether it is the instance's")
    scopes: list[str] = Field(description="What the service was asked to allow")
    status: StatusName
    settings: JsonObject
    created: datetime
    checked: datetime | None = Field(description="When it was last tried out or found not to work")
    problem: str = Field(description="Why it did not work then")
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, connection: stored.Connection) -> Connection:
        """Show a connection."""
        return cls(
            id=connection.id,
            kind=connection.kind.value,
            label=connection.label,
            owner=connection.owner,
            shared=connection.shared,
            scopes=list(connection.scopes),
            status=connection.status.value,
            settings=connection.settings,
            created=connection.created,
            checked=connection.checked,
            problem=connection.problem,
            etag=f'"{connection.revision}"',
        )


class ConnectionPage(PageOf[Connection]):
    """A page of connections, the oldest first; what you do not see is left out of it."""


class NewConnection(Body):
    """A connection that is to be made."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "kind": "smtp_imap",
                "label": "Office",
                "settings": {"user": "office@muster.example", "imap_host": "imap.muster.example"},
                "secret": {"password": "correct-horse-battery-staple"},
            }
        }
    )

    kind: KindName
    label: Label
    settings: Settings = Field(default_factory=dict)
    secret: Secret = Field(default_factory=dict)
    shared: Flag = Field(default=False, description="Whether it is to be the instance's")


class ConnectionChanges(Body):
    """What is to be otherwise. Settings are changed together with the secret only."""

    model_config = ConfigDict(json_schema_extra={"example": {"label": "Post"}})

    label: Label | None = None
    settings: Settings | None = None
    secret: Secret | None = None
    shared: Flag | None = None


class Verdict(Shown):
    """What a test has found."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "works": False,
                "message": "imap.muster.example does not let 'office' in.",
                "remedy": "Hand in the mailbox's password again.",
            }
        }
    )

    works: bool
    message: str
    remedy: str

    @classmethod
    def of(cls, verdict: stored.Verdict) -> Verdict:
        """Show a verdict."""
        return cls(works=verdict.works, message=verdict.message, remedy=verdict.remedy)


class ConsentWanted(Body):
    """Where one is to be sent back to after consenting."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"redirect": "http://localhost:8401/connected"}}
    )

    redirect: str = Field(
        min_length=1,
        max_length=2000,
        description="One of the addresses that the operator has named",
        examples=["http://localhost:8401/connected"],
    )


class Consent(Shown):
    """Where the account's owner consents, within ten minutes."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"url": "https://login.microsoftonline.com/common/oauth2/v2.0/authorize?..."}
        }
    )

    url: str


class Consented(Body):
    """What came back in the address to which one was sent."""

    model_config = ConfigDict(json_schema_extra={"example": {"state": "c3RhdGU", "code": "Y29kZQ"}})

    state: str = Field(min_length=1, max_length=500)
    code: str = Field(min_length=1, max_length=8000)
