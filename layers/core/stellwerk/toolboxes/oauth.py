"""OAuth 2 with a Microsoft identity platform: where consent is asked for, codes, and renewals.

oauthlib writes and reads the messages; they travel over `ports.Web`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from stellwerk.kernel.clock import Clock, instant
from stellwerk.kernel.errors import (
    BadInput,
    ConnectionRejected,
    RateLimited,
    ServiceUnavailable,
)
from stellwerk.kernel.json import JsonObject
from stellwerk.toolboxes.model import Connection
from stellwerk.toolboxes.ports import Answer, Web
from stellwerk.toolboxes.web import object_in, retry_after

if TYPE_CHECKING:
    from oauthlib.oauth2 import WebApplicationClient

SHORTEST = 60
"""Seconds that a token lasts at least, whatever its issuer says."""
_FORM = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}


@dataclass(frozen=True)
class Provider:
    """Where Microsoft is, and which application this installation is there."""

    login: str
    """Such as `https://login.microsoftonline.com`."""
    client: str
    """The installation's client id; empty where there is none."""


class Grants:
    """Asks for consent, and gets tokens for it."""

    def __init__(self, provider: Provider, web: Web, clock: Clock) -> None:
        self._provider = provider
        self._web = web
        self._clock = clock

    def verifier(self) -> str:
        """Return a new code verifier (RFC 7636)."""
        return _client("any").create_code_verifier(64)

    def consent(self, connection: Connection, state: str, verifier: str, redirect: str) -> str:
        """Return the address at which the account's owner consents; BadInput without a client."""
        client = _client(self._client_id(connection))
        challenge = client.create_code_challenge(verifier, "S256")
        return client.prepare_request_uri(
            f"{self._base(connection)}/authorize",
            redirect_uri=redirect,
            scope=list(connection.scopes),
            state=state,
            code_challenge=challenge,
            code_challenge_method="S256",
            prompt="select_account",
        )

    def redeem(
        self, connection: Connection, secret: JsonObject, code: str, verifier: str, redirect: str
    ) -> JsonObject:
        """Return the secret with the tokens that a code is good for; ConnectionRejected."""
        client = _client(self._client_id(connection))
        body = client.prepare_request_body(
            code,
            redirect_uri=redirect,
            include_client_id=True,
            code_verifier=verifier,
            **_own(secret),
        )
        return self._tokens(connection, secret, body)

    def renew(self, connection: Connection, secret: JsonObject) -> JsonObject:
        """Return the secret with new tokens; ConnectionRejected where its consent is over."""
        refresh = secret.get("refresh_token")
        if not isinstance(refresh, str):
            raise rejected(connection, "there is no consent to renew")
        client = _client(self._client_id(connection))
        body = client.prepare_refresh_body(
            refresh_token=refresh,
            scope=list(connection.scopes),
            client_id=self._client_id(connection),
            **_own(secret),
        )
        return self._tokens(connection, secret, body)

    def _tokens(self, connection: Connection, secret: JsonObject, body: str) -> JsonObject:
        asked = self._clock.now()
        answer = self._web.send("POST", f"{self._base(connection)}/token", _FORM, body.encode())
        told = object_in(answer)
        token = told.get("access_token")
        if answer.status != 200 or not isinstance(token, str):
            raise _refusal(connection, answer, told)
        seconds = told.get("expires_in")
        lasts = seconds if isinstance(seconds, int | float) else 0
        renewed = {"refresh_token": told["refresh_token"]} if "refresh_token" in told else {}
        expires = asked + timedelta(seconds=max(float(lasts), SHORTEST))
        return {**secret, **renewed, "access_token": token, "expires": instant(expires)}

    def _base(self, connection: Connection) -> str:
        return f"{self._provider.login}/{connection.settings['tenant']}/oauth2/v2.0"

    def _client_id(self, connection: Connection) -> str:
        client = str(connection.settings.get("client_id") or self._provider.client)
        if client:
            return client
        raise BadInput(
            "There is no application that could ask Microsoft for consent.",
            remedy="Let the operator set STELLWERK_MICROSOFT_CLIENT, or name a `client_id`.",
        )


def expires_of(secret: JsonObject) -> datetime | None:
    """Return when the access token ends; None where there is none."""
    text = secret.get("expires")
    if not isinstance(text, str) or "access_token" not in secret:
        return None
    return datetime.fromisoformat(text)


def rejected(connection: Connection, why: str) -> ConnectionRejected:
    """Return what is raised where the account's owner must consent again."""
    return ConnectionRejected(
        f"Connection '{connection.label}' does not work any more: {why}.",
        remedy="Its owner must authorise it again.",
    )


def _refusal(
    connection: Connection, answer: Answer, told: JsonObject
) -> ConnectionRejected | RateLimited | ServiceUnavailable:
    if answer.status == 429:
        return RateLimited("Microsoft asks for patience.", retry_after=retry_after(answer))
    if answer.status >= 500 or answer.status == 200:
        return ServiceUnavailable(f"Microsoft issues no tokens now: status {answer.status}.")
    error = told.get("error")
    named = error if isinstance(error, str) and error.isidentifier() else f"status {answer.status}"
    return rejected(connection, f"Microsoft refuses it ({named})")


def _own(secret: JsonObject) -> dict[str, Any]:
    """Return the secret of an application of one's own, as messages carry it (any keyword)."""
    given = secret.get("client_secret")
    return {"client_secret": given} if isinstance(given, str) else {}


def _client(client_id: str) -> WebApplicationClient:
    module = cast("_OAuth", import_module("oauthlib.oauth2"))
    return module.WebApplicationClient(client_id)


class _OAuth:
    """The module `oauthlib.oauth2`, as seen from here: 35 ms that few processes need."""

    WebApplicationClient: type[WebApplicationClient]
