"""The issuer's key: made at the first start, then kept with the data of the local cloud."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cached_property
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import RSAAlgorithm

from stellwerk.kernel.json import JsonObject, canonical

ALGORITHM = "RS256"
FILE = "issuer-key.pem"
BITS = 2048


class SigningKey:
    """Signs tokens and checks those that it has signed."""

    def __init__(self, key: RSAPrivateKey) -> None:
        self._key = key

    @classmethod
    def of(cls, data: Path | None) -> SigningKey:
        """Return the key that is kept in a data folder; without a folder, a new one."""
        if data is None:
            return cls(_new())
        file = data / FILE
        if not file.exists():
            _write(file, _new())
        key = load_pem_private_key(file.read_bytes(), password=None)
        if not isinstance(key, RSAPrivateKey):
            raise TypeError(f"{file} holds no RSA key: remove it, and everybody signs in again")
        return cls(key)

    @cached_property
    def public(self) -> JsonObject:
        """The public key as key sets hold it, with its thumbprint (RFC 7638) for id."""
        key: JsonObject = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
        members: JsonObject = {name: key[name] for name in ("e", "kty", "n")}
        digest = hashlib.sha256(canonical(members).encode()).digest()
        identity = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        return {**members, "kid": identity, "use": "sig", "alg": ALGORITHM}

    def signed(self, claims: JsonObject) -> str:
        """Return a token that says `claims`."""
        headers = {"kid": str(self.public["kid"])}
        return jwt.encode(claims, self._key, algorithm=ALGORITHM, headers=headers)

    def read(self, token: str) -> JsonObject | None:
        """Return what a token says that this key has signed, even if its time is over."""
        try:
            claims: JsonObject = jwt.decode(
                token,
                self._key.public_key(),
                algorithms=[ALGORITHM],
                options={"verify_aud": False, "verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError:
            return None
        return claims


def _new() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=BITS)


def _write(file: Path, key: RSAPrivateKey) -> None:
    """Write the key whole or not at all, for its owner alone."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(text)
    draft.replace(file)
