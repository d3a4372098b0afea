"""An issuer of tokens for tests: keys, a key set that changes, and an outage."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta
from functools import cache

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.json import JsonObject, JsonValue

URL = "https://issuer.example/pool"
CLIENT = "editor"


@cache
def key(name: str) -> RSAPrivateKey:
    """Return the key of that name, the same for all tests of a process."""
    return generate_private_key(public_exponent=65537, key_size=2048)


def described(name: str) -> JsonObject:
    """Return the public key of that name as in a key set."""
    found: JsonObject = json.loads(RSAAlgorithm.to_jwk(key(name).public_key()))
    return {**found, "kid": name, "use": "sig", "alg": "RS256"}


def claims(now: datetime, **changes: JsonValue) -> JsonObject:
    """Return what a token of Cognito's says, with changes; None leaves a claim out."""
    all_of_them: JsonObject = {
        "iss": URL,
        "sub": "subject-1",
        "client_id": CLIENT,
        "token_use": "access",
        "scope": "openid",
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(hours=1)).timestamp()),
        "jti": "jti-1",
        "username": "subject-1",
        **changes,
    }
    return {name: value for name, value in all_of_them.items() if value is not None}


def signed(payload: JsonObject, name: str = "key-1", **header: JsonValue) -> str:
    """Return a token signed with a key."""
    return jwt.encode(payload, key(name), algorithm="RS256", headers={"kid": name, **header})


def signed_with_public_key(payload: JsonObject, name: str = "key-1") -> str:
    """Return a token whose HS256 secret is the issuer's public key."""
    public = key(name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    text = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': name})}.{part(payload)}"
    mac = hmac.new(public, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


def part(value: JsonValue) -> str:
    """Return a value as a token holds it."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class Issuer:
    """Answers as an issuer's web pages do; `down`: it does not."""

    def __init__(self, *names: str) -> None:
        self.keys: list[JsonValue] = [described(name) for name in names]
        self.issuer = URL
        self.down = False
        self.requests: list[str] = []

    def fetch(self, url: str) -> bytes:
        self.requests.append(url.removeprefix(URL))
        if self.down:
            raise ServiceUnavailable("no answer")
        if url == f"{URL}/.well-known/openid-configuration":
            return json.dumps({"issuer": self.issuer, "jwks_uri": f"{URL}/jwks"}).encode()
        assert url == f"{URL}/jwks"
        return json.dumps({"keys": self.keys}).encode()
