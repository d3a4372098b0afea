"""Webhooks: what is asked of a request before anything is kept of it, and what a run gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.deliveries import delivery_of
from stellwerk.triggers.proofs import Authentication, Incoming, check_proof, proof_headers
from stellwerk.triggers.receiving import Opened
from stellwerk.triggers.secrets import Secrets, secret_name

_LONGEST_CHALLENGE = 4096


class WebhookRules(BaseModel):
    """The parameters of a `trigger.webhook` that matter at its address."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mode: Literal["accepted", "wait"] = "accepted"
    authentication: Authentication = Field(default_factory=Authentication)
    delivery: str = ""


@dataclass(frozen=True)
class Webhook:
    """An open webhook with its rules and its secret."""

    opened: Opened
    rules: WebhookRules
    secret: str | None

    @property
    def waits(self) -> bool:
        """Whether callers wait for the result."""
        return self.rules.mode == "wait"

    def check(self, got: Incoming, now: datetime) -> None:
        """Raise Unauthenticated unless the request proves who sends it."""
        check_proof(self.rules.authentication, self.secret, got, now)

    def delivery(self, got: Incoming, body: JsonValue, now: datetime) -> str:
        """Return the id under which the request is known."""
        rules = self.rules
        kind = rules.authentication.kind
        return delivery_of(self.opened.hook.node, got, body, now, path=rules.delivery, kind=kind)

    def payload(self, got: Incoming, body: JsonValue) -> JsonObject:
        """Return what the run gets: the request without what proves who sent it."""
        hidden = proof_headers(self.rules.authentication)
        headers: JsonObject = {
            name: value for name, value in got.headers.items() if name not in hidden
        }
        return {
            "body": body,
            "method": got.method,
            "headers": headers,
            "query": {**got.query},
        }

    def handshake(self, query: Mapping[str, str]) -> str | None:
        """Return what a GET that sets up a subscription is to be answered with; None: it is none.

        WebSub and Meta send `hub.challenge`, with a token that must be the secret if there is one.
        """
        if query.get("hub.mode") in {"subscribe", "unsubscribe"}:
            proof = Incoming(b"", {"authorization": f"Bearer {query.get('hub.verify_token', '')}"})
            if self.secret:
                check_proof(Authentication(kind="bearer"), self.secret, proof, datetime.min)
            return _challenge(query.get("hub.challenge"))
        return _challenge(query.get("validationToken"))


class Webhooks:
    """Reads the rules and the secret of an open hook."""

    def __init__(self, secrets: Secrets, clock: Clock) -> None:
        self._secrets = secrets
        self.clock = clock

    def of(self, opened: Opened) -> Webhook:
        """Return the webhook; reads its secret if it needs one."""
        hook = opened.hook
        rules = WebhookRules.model_validate(hook.parameters)
        needed = rules.authentication.kind != "none"
        name = secret_name(hook.workflow, hook.node)
        secret = self._secrets.get(opened.scope, name) if needed else None
        return Webhook(opened, rules, secret)


def challenge_in(query: Mapping[str, str], body: JsonValue) -> str | None:
    """Return what a POST that sets up a subscription is to be answered with; None: it is none.

    Microsoft Graph sends `validationToken`, Slack a body of type `url_verification`.
    """
    if isinstance(body, dict) and body.get("type") == "url_verification":
        given = body.get("challenge")
        return _challenge(given if isinstance(given, str) else None)
    return _challenge(query.get("validationToken"))


def _challenge(text: str | None) -> str | None:
    return text if text and len(text) <= _LONGEST_CHALLENGE else None
