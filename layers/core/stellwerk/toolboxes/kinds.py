"""What each kind of connection consists of: settings that all may see, and secrets nobody may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject
from stellwerk.toolboxes.model import Kind

Security = Literal["tls", "starttls", "none"]
"""`none` is for servers that the operator has allowed by host and port, such as one at home."""
Host = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.:_-]+$")]
Port = Annotated[int, Field(ge=1, le=65535)]
Secret = Annotated[str, Field(min_length=1, max_length=8000)]
Url = Annotated[str, Field(min_length=1, max_length=8000, pattern=r"^https?://")]
MAILBOXES = frozenset({Kind.SMTP_IMAP, Kind.MICROSOFT})
"""The kinds that have mail."""
MAIL_SCOPES = ("offline_access", "User.Read", "Mail.Read")


class Part(BaseModel):
    """Settings or secrets: nothing that is not named."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class MailServers(Part):
    """A mailbox: where it is read, and where its mail is sent from."""

    user: str = Field(min_length=1, max_length=320)
    imap_host: Host
    imap_port: Port = 993
    imap_security: Security = "tls"
    smtp_host: Host | None = None
    smtp_port: Port = 465
    smtp_security: Security = "tls"


class Password(Part):
    """The mailbox's secret."""

    password: Secret


class Microsoft(Part):
    """A Microsoft account; an empty client id is the installation's."""

    tenant: str = Field(default="common", pattern=r"^[A-Za-z0-9.-]{1,100}$")
    client_id: str = Field(default="", pattern=r"^[A-Za-z0-9-]{0,100}$")
    scopes: tuple[Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,200}$")], ...] = Field(
        default=MAIL_SCOPES, max_length=30
    )


class ClientSecret(Part):
    """The secret of an application of one's own; tokens come when its owner consents."""

    client_secret: Secret | None = None


class Slack(Part):
    """A workspace; `channel` is where messages go that name no other."""

    channel: str = Field(default="", max_length=200)


class SlackSecret(Part):
    """An incoming webhook's address, or a bot's token."""

    webhook_url: Url | None = None
    bot_token: Secret | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.webhook_url is None) == (self.bot_token is None):
            raise ValueError("exactly one of `webhook_url` and `bot_token` is needed")
        return self


class Webhook(Part):
    """A web address that takes messages."""


class WebhookSecret(Part):
    """The address, which may hold a token, and headers to send along."""

    url: Url
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)


@dataclass(frozen=True)
class Shape:
    """The parts of a kind."""

    settings: type[Part]
    secret: type[Part]


SHAPES = {
    Kind.SMTP_IMAP: Shape(MailServers, Password),
    Kind.MICROSOFT: Shape(Microsoft, ClientSecret),
    Kind.SLACK: Shape(Slack, SlackSecret),
    Kind.WEBHOOK: Shape(Webhook, WebhookSecret),
}


def settings_of(kind: Kind, given: JsonObject) -> JsonObject:
    """Return settings with their defaults; raise BadInput that names all that is wrong."""
    return _checked(SHAPES[kind].settings, given, "settings")


def secret_of(kind: Kind, given: JsonObject) -> JsonObject:
    """Return the secrets of a kind; raise BadInput, which repeats none of them."""
    return _checked(SHAPES[kind].secret, given, "secret")


def _checked(model: type[Part], given: JsonObject, place: str) -> JsonObject:
    try:
        found: JsonObject = model.model_validate(given).model_dump(mode="json", exclude_none=True)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join([place, *map(str, fault['loc'])])}: {fault['msg']}"
            for fault in error.errors(include_input=False)
        )
        raise BadInput(
            f"The connection cannot be kept: {faults}.",
            remedy="Correct these fields; `docs/connections.md` lists those of each kind.",
        ) from None
    return found
