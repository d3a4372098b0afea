"""What tokens say: as those of a Cognito user pool, completed by who the person is."""

from __future__ import annotations

import secrets
import threading
from datetime import timedelta

from localcloud.issuer.codes import SignIn
from localcloud.issuer.keys import SigningKey
from localcloud.issuer.people import People, Person
from localcloud.issuer.requests import Refused
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.json import JsonObject

ACCESS_LIFE = timedelta(hours=1)
REFRESH_LIFE = timedelta(hours=12)
AUDIENCE = "stellwerk"
"""Whom access tokens are for: the API."""


class Tokens:
    """Writes tokens. Refresh tokens are signed too, and so outlast a restart of the local cloud."""

    def __init__(self, issuer: str, key: SigningKey, people: People, clock: Clock) -> None:
        self._issuer = issuer
        self._key = key
        self._people = people
        self._clock = clock
        self._revoked: set[str] = set()
        self._lock = threading.Lock()

    def signed_in(self, signed_in: SignIn, person: Person) -> JsonObject:
        """Return the tokens of someone who has just signed in."""
        client, scope = signed_in.asked.client, signed_in.asked.scope
        at = int(signed_in.at.timestamp())
        identity = self._claims(person, client, "id", aud=client, auth_time=at)
        if signed_in.asked.nonce:
            identity["nonce"] = signed_in.asked.nonce
        refresh = self._claims(person, client, "refresh", scope=scope, auth_time=at)
        refresh["exp"] = at + int(REFRESH_LIFE.total_seconds())
        return {
            **self._of_person(person, client, scope, at),
            "id_token": self._key.signed(identity),
            "refresh_token": self._key.signed(refresh),
        }

    def refreshed(self, token: str, client: str) -> JsonObject:
        """Return a new access token for a refresh token; raises Refused."""
        claims = self._key.read(token) or {}
        exp, person = claims.get("exp"), self._people.find(str(claims.get("sub")))
        with self._lock:
            revoked = claims.get("jti") in self._revoked
        over = not isinstance(exp, int) or exp <= self._clock.now().timestamp()
        named = (claims.get("iss"), claims.get("client_id"), claims.get("token_use"))
        if over or revoked or person is None or named != (self._issuer, client, "refresh"):
            raise Refused("invalid_grant", "the refresh token is unknown, revoked, or has expired")
        at = claims.get("auth_time")
        scope = str(claims.get("scope", ""))
        return self._of_person(person, client, scope, at if isinstance(at, int) else 0)

    def of_machine(self, client: str) -> JsonObject:
        """Return the token of a machine, which is its own client."""
        claims = self._common(client, client, "access")
        return self._answer({**claims, "scope": f"{AUDIENCE}/api", "aud": AUDIENCE})

    def revoke(self, token: str) -> None:
        """Forget a refresh token, until the local cloud is started anew."""
        claims = self._key.read(token) or {}
        with self._lock:
            self._revoked.add(str(claims.get("jti")))

    def _of_person(self, person: Person, client: str, scope: str, at: int) -> JsonObject:
        claims = self._claims(person, client, "access", scope=scope, aud=AUDIENCE, auth_time=at)
        return self._answer(claims)

    def _answer(self, claims: JsonObject) -> JsonObject:
        return {
            "access_token": self._key.signed(claims),
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LIFE.total_seconds()),
            "scope": claims["scope"],
        }

    def _claims(self, person: Person, client: str, use: str, **more: str | int) -> JsonObject:
        who: JsonObject = {
            "username": person.subject,
            "email": person.email,
            "email_verified": True,
            "name": person.name,
        }
        return {**self._common(person.subject, client, use), **who, **more}

    def _common(self, subject: str, client: str, use: str) -> JsonObject:
        now = int(self._clock.now().timestamp())
        return {
            "iss": self._issuer,
            "sub": subject,
            "client_id": client,
            "token_use": use,
            "iat": now,
            "exp": now + int(ACCESS_LIFE.total_seconds()),
            "jti": secrets.token_urlsafe(16),
        }
