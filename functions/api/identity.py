"""From a bearer token to claims: nothing that a token says counts before its signature does."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Literal

import jwt
from jwt.types import Options
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.issuer_keys import ALGORITHM, Fetch, IssuerKeys, fetched
from stellwerk.kernel.clock import Clock, SystemClock, instant
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.tenancy.claims import Claims

LEEWAY = timedelta(seconds=30)
"""By how much the clocks of issuer and API may differ."""
LONGEST = 16 * 1024
"""Characters of a token; none of ours has a tenth of it."""
_LAST_SECOND = 253_402_300_799
"""Of the year 9999: what comes later is no date any more."""
_SIGN_IN = "Sign in again."
_UNCHECKED: Options = {
    "verify_aud": False,
    "verify_exp": False,
    "verify_iat": False,
    "verify_iss": False,
    "verify_jti": False,
    "verify_nbf": False,
    "verify_sub": False,
}
"""Left to `_Payload` and the checks below: they have our clock, and messages that tell apart."""


class _Payload(BaseModel):
    """What an access token may say that matters here; issuers add more."""

    model_config = ConfigDict(extra="ignore", strict=True)

    iss: str
    sub: str = Field(min_length=1, max_length=255)
    exp: float = Field(ge=0, le=_LAST_SECOND)
    nbf: float = Field(default=0, ge=0, le=_LAST_SECOND)
    token_use: str | None = None
    aud: str | list[str] | None = None
    client_id: str = ""
    azp: str = ""
    email: str = ""
    email_verified: bool | str = False
    name: str = ""

    @property
    def client(self) -> str:
        """The application that got the token: Cognito's word for it, or that of OpenID Connect."""
        return self.client_id or self.azp

    @property
    def audience(self) -> set[str]:
        """Whom the token is for; where it does not say so, the client that got it."""
        if self.aud is None:
            return {self.client}
        return {self.aud} if isinstance(self.aud, str) else set(self.aud)


class Verifier:
    """Verifies access tokens of one issuer; implements `api.backend.Tokens`.

    `clients` are the client ids, or audiences, whose tokens are taken; none given: all.
    """

    def __init__(
        self,
        issuer: str,
        clients: Collection[str] = (),
        *,
        clock: Clock | None = None,
        fetch: Fetch = fetched,
    ) -> None:
        self._issuer = issuer
        self._clients = frozenset(clients)
        self._clock = clock or SystemClock()
        self._keys = IssuerKeys(issuer, self._clock, fetch=fetch)

    def verify(self, token: str) -> Claims:
        """Return what the token says.

        Raises Unauthenticated, saying what does not hold; ServiceUnavailable while the issuer's
        keys cannot be had.
        """
        payload = self._signed(token)
        self._check(payload)
        kind: Literal["person", "machine"] = "person"
        if payload.sub == payload.client:
            kind = "machine"
        return Claims(
            issuer=payload.iss,
            subject=payload.sub,
            client_id=payload.client,
            kind=kind,
            expires=_moment(payload.exp),
            email=payload.email,
            email_verified=payload.email_verified in {True, "true"},
            name=payload.name,
        )

    def _signed(self, token: str) -> _Payload:
        """Return what the token says, once it is certain that the issuer said so."""
        key = self._keys.key(_key_id(token))
        try:
            payload = jwt.decode(token, key=key, algorithms=[ALGORITHM], options=_UNCHECKED)
            return _Payload.model_validate(payload)
        except jwt.InvalidSignatureError as error:
            raise Unauthenticated(
                "The token's signature does not hold.", remedy=_SIGN_IN
            ) from error
        except jwt.PyJWTError as error:
            raise _unreadable() from error
        except ValidationError as error:
            fields = ", ".join(sorted({str(fault["loc"][0]) for fault in error.errors()}))
            raise Unauthenticated(
                f"The token lacks claims, or they cannot be read: {fields}.",
                remedy="Use an access token of the issuer that the API names.",
            ) from None

    def _check(self, payload: _Payload) -> None:
        now = self._clock.now()
        if payload.iss != self._issuer:
            issuer = "The token comes from another issuer."
            raise Unauthenticated(issuer, remedy=f"Sign in at {self._issuer}.")
        if payload.token_use not in {None, "access"}:
            use = "The token is no access token: its use is another one."
            raise Unauthenticated(use, remedy="Send the access token, not the id token.")
        if self._clients and not payload.audience & self._clients:
            audience = "The token was made for another application."
            raise Unauthenticated(audience, remedy="Sign in through a client that this API takes.")
        if _moment(payload.exp) <= now - LEEWAY:
            expired = f"The token expired at {instant(_moment(payload.exp))}."
            raise Unauthenticated(expired, remedy=_SIGN_IN)
        if _moment(payload.nbf) > now + LEEWAY:
            early = f"The token holds only from {instant(_moment(payload.nbf))} on."
            raise Unauthenticated(early, remedy="Wait, or set the clock of this machine right.")


def _key_id(token: str) -> str:
    """Return the id of the key with which a token says that it is signed."""
    if len(token) > LONGEST:
        raise Unauthenticated(f"The token has more than {LONGEST} characters.", remedy=_SIGN_IN)
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as error:
        raise _unreadable() from error
    if header.get("alg") != ALGORITHM:
        algorithm = f"The token is not signed with {ALGORITHM}, the only algorithm that is taken."
        raise Unauthenticated(algorithm, remedy=_SIGN_IN)
    key_id = header.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise Unauthenticated("The token does not name its key.", remedy=_SIGN_IN)
    return key_id


def _unreadable() -> Unauthenticated:
    return Unauthenticated("The token cannot be read: it is no JSON Web Token.", remedy=_SIGN_IN)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
