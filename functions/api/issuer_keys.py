"""The public keys by which an OpenID Connect issuer signs, fetched from it and kept for a while."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import urllib3
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError
from pydantic import BaseModel, ConfigDict, ValidationError

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import ServiceUnavailable, Unauthenticated
from stellwerk.kernel.json import JsonObject

LOG = logging.getLogger(__name__)
LIFE = timedelta(hours=1)
"""After this, keys are fetched anew: one that the issuer has withdrawn is then forgotten."""
STALE = timedelta(hours=12)
"""For so long keys serve while the issuer does not answer."""
PAUSE = timedelta(seconds=30)
"""Between two fetches for keys nobody knows: invented key ids cost the issuer no more than this."""
LARGEST = 256 * 1024
SECONDS = 3.0
ALGORITHM = "RS256"

Fetch = Callable[[str], bytes]
"""Returns what an address answers; raises ServiceUnavailable."""

_POOL = urllib3.PoolManager(retries=urllib3.Retry(1, redirect=0), timeout=SECONDS)


def fetched(url: str) -> bytes:
    """Return the body that a GET of `url` answers; raises ServiceUnavailable."""
    try:
        answer = _POOL.request("GET", url, preload_content=False)
        body = answer.read(LARGEST + 1)
        answer.release_conn()
    except urllib3.exceptions.HTTPError as error:
        raise ServiceUnavailable(f"{url} does not answer: {type(error).__name__}") from error
    if answer.status != 200 or len(body) > LARGEST:
        raise ServiceUnavailable(f"{url} answers {answer.status} with {len(body)} bytes")
    return body


class _Discovery(BaseModel):
    """The part of an issuer's description that matters here."""

    model_config = ConfigDict(extra="ignore")

    issuer: str
    jwks_uri: str


class _KeySet(BaseModel):
    model_config = ConfigDict(extra="ignore")

    keys: list[JsonObject]


class IssuerKeys:
    """Keys by id. Requests: two at the first token, then one an hour or for a new key id."""

    def __init__(self, issuer: str, clock: Clock, *, fetch: Fetch = fetched) -> None:
        self._issuer = issuer
        self._clock = clock
        self._fetch = fetch
        self._lock = threading.Lock()
        self._keys: Mapping[str, RSAPublicKey] = {}
        self._address = ""
        self._fetched: datetime | None = None
        self._tried: datetime | None = None
        self._failure: ServiceUnavailable | None = None

    def key(self, key_id: str) -> RSAPublicKey:
        """Return the key of that id.

        Raises Unauthenticated for an id that the issuer does not name, ServiceUnavailable while
        nobody can tell because the issuer does not answer.
        """
        with self._lock:
            self._refresh(key_id)
            found = self._keys.get(key_id)
            if found is not None:
                return found
            if self._failure is not None:
                raise ServiceUnavailable(
                    "The issuer of tokens does not answer, so nobody can sign in now.",
                    remedy="Try again in a minute.",
                ) from self._failure
        raise Unauthenticated(
            "The token is signed with a key that its issuer does not name.",
            remedy="Sign in again.",
        )

    def _refresh(self, key_id: str) -> None:
        """Fetch the keys where they are old or lack this one, but not again and again."""
        now = self._clock.now()
        fresh = self._fetched is not None and now - self._fetched < LIFE
        if fresh and key_id in self._keys:
            return
        if self._tried is not None and now - self._tried < PAUSE:
            return
        self._tried = now
        try:
            self._keys = self._load()
        except ServiceUnavailable as error:
            LOG.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
            self._failure = error
            if self._fetched is not None and now - self._fetched > STALE:
                self._keys = {}
        else:
            self._fetched, self._failure = now, None

    def _load(self) -> Mapping[str, RSAPublicKey]:
        if not self._address:
            self._address = self._discover()
        try:
            found = _KeySet.model_validate_json(self._fetch(self._address))
        except ValidationError as error:
            raise ServiceUnavailable(f"{self._address} answers no key set") from error
        return dict(filter(None, map(_public_key, found.keys)))

    def _discover(self) -> str:
        url = f"{self._issuer}/.well-known/openid-configuration"
        try:
            found = _Discovery.model_validate_json(self._fetch(url))
        except ValidationError as error:
            raise ServiceUnavailable(f"{url} does not describe an issuer") from error
        if found.issuer != self._issuer:
            raise ServiceUnavailable(f"{url} describes another issuer: {found.issuer}")
        return found.jwks_uri


def _public_key(described: JsonObject) -> tuple[str, RSAPublicKey] | None:
    """Return id and key; None for keys of other kinds and uses, which sets may hold too."""
    key_id = described.get("kid")
    if described.get("kty") != "RSA" or described.get("use", "sig") != "sig":
        return None
    try:
        key = PyJWK.from_json(json.dumps(described), algorithm=ALGORITHM).key
    except PyJWTError:
        return None
    return (key_id, key) if isinstance(key_id, str) and isinstance(key, RSAPublicKey) else None
