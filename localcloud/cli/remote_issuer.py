"""The issuer of tokens as a client: codes with PKCE, client credentials, refresh, revocation."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from localcloud.cli.remote_sessions import Session
from stellwerk.kernel.errors import ServiceUnavailable, Unauthenticated
from stellwerk.kernel.json import JsonObject

SECONDS = 15.0
SCOPE = "openid email profile"


class _Description(BaseModel):
    """The part of an issuer's description that matters here."""

    model_config = ConfigDict(extra="ignore")

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str = ""


class _Tokens(BaseModel):
    model_config = ConfigDict(extra="ignore")

    access_token: str
    refresh_token: str = ""
    expires_in: int


class Wish:
    """A wish for a code: what only this client knows, and what it sends."""

    def __init__(self, client: str, redirect: str) -> None:
        self.client = client
        self.redirect = redirect
        self.state = secrets.token_urlsafe(24)
        self.verifier = secrets.token_urlsafe(48)

    @property
    def query(self) -> str:
        """The query of the page on which the person signs in."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return urlencode(
            {
                "response_type": "code",
                "client_id": self.client,
                "redirect_uri": self.redirect,
                "scope": SCOPE,
                "state": self.state,
                "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
                "code_challenge_method": "S256",
            }
        )


class Issuer:
    """An issuer, found by its address; raises ServiceUnavailable where it does not answer."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        found = _answered("GET", f"{self.address}/.well-known/openid-configuration")
        try:
            self._described = _Description.model_validate(found)
        except ValidationError as error:
            raise ServiceUnavailable(f"{address} does not describe itself as an issuer") from error

    def page(self, wish: Wish) -> str:
        """Return the address of the page on which the person signs in."""
        return f"{self._described.authorization_endpoint}?{wish.query}"

    def redeem(self, wish: Wish, code: str) -> Session:
        """Return the session that a code stands for; raises Unauthenticated."""
        form = {
            "grant_type": "authorization_code",
            "client_id": wish.client,
            "redirect_uri": wish.redirect,
            "code": code,
            "code_verifier": wish.verifier,
        }
        return self._session(wish.client, form)

    def machine(self, client: str, secret: str) -> Session:
        """Return the session of a machine; raises Unauthenticated."""
        form = {"grant_type": "client_credentials"}
        return self._session(client, form, (client, secret))

    def refresh(self, session: Session) -> Session:
        """Return the session with a new access token; raises Unauthenticated."""
        form = {
            "grant_type": "refresh_token",
            "client_id": session.client_id,
            "refresh_token": session.refresh_token,
        }
        renewed = self._session(session.client_id, form)
        kept = renewed.refresh_token or session.refresh_token
        return renewed.model_copy(update={"refresh_token": kept})

    def revoke(self, session: Session) -> None:
        """Let the session's refresh token open nothing any more."""
        if self._described.revocation_endpoint and session.refresh_token:
            form = {"token": session.refresh_token, "client_id": session.client_id}
            _answered("POST", self._described.revocation_endpoint, form)

    def _session(
        self, client: str, form: Mapping[str, str], credentials: tuple[str, str] | None = None
    ) -> Session:
        found = _answered("POST", self._described.token_endpoint, form, credentials)
        try:
            tokens = _Tokens.model_validate(found)
        except ValidationError as error:
            raise ServiceUnavailable(f"{self.address} answers without tokens") from error
        return Session(
            issuer=self.address,
            client_id=client,
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            expires=datetime.now(UTC) + timedelta(seconds=tokens.expires_in),
        )


def _answered(
    method: str,
    url: str,
    form: Mapping[str, str] | None = None,
    credentials: tuple[str, str] | None = None,
) -> JsonObject:
    try:
        answer = httpx2.request(method, url, data=form, auth=credentials, timeout=SECONDS)
    except httpx2.HTTPError as error:
        raise ServiceUnavailable(f"{url} does not answer: {type(error).__name__}") from error
    try:
        found = answer.json() if answer.content else {}
    except ValueError:
        found = None
    if answer.status_code in {400, 401} and isinstance(found, dict):
        why = found.get("error_description") or found.get("error") or "no reason given"
        raise Unauthenticated(f"The issuer refuses: {why}.", remedy="Sign in by `stellwerk login`.")
    if not answer.is_success or not isinstance(found, dict):
        raise ServiceUnavailable(f"{url} answers {answer.status_code}")
    return found
