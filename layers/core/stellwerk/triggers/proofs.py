"""How callers of webhooks prove who they are: a shared secret, or a signature made with one.

Secrets and signatures are compared in constant time; what carries a time stamp is taken only
within `tolerance` seconds of now, in either direction.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.errors import Unauthenticated

Kind = Literal["none", "header", "basic", "bearer", "hmac", "github", "stripe", "slack", "standard"]
_STANDARD_PREFIX = "whsec_"


class Authentication(BaseModel):
    """How callers prove who they are. The secret is kept apart, and set at the hook."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = Field(default="none", description="How", examples=["github"])
    header: str = Field(
        default="",
        max_length=100,
        description="header: which one holds the secret (X-Webhook-Secret); "
        "hmac: which one holds the signature (X-Signature)",
        examples=["X-Signature"],
    )
    timestamp_header: str = Field(
        default="X-Timestamp",
        max_length=100,
        description="hmac: which header holds the time, in seconds since 1970; the signature is "
        "the hexadecimal HMAC-SHA256 of time, a full stop and the body",
        examples=["X-Timestamp"],
    )
    username: str = Field(
        default="", max_length=200, description="basic: the user's name", examples=["erp"]
    )
    tolerance: int = Field(
        default=300,
        ge=10,
        le=3600,
        description="Seconds that a signed time may differ from now",
        examples=[300],
    )


@dataclass(frozen=True)
class Incoming:
    """A request as it came: header names in lower case."""

    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    address: str = ""
    """Of the caller."""


def check_proof(how: Authentication, secret: str | None, got: Incoming, now: datetime) -> None:
    """Raise Unauthenticated unless the request proves what `how` asks for."""
    if how.kind == "none":
        return
    if not secret or not _CHECKS[how.kind](how, secret, got, now):
        raise Unauthenticated(
            "The request does not prove who sends it.",
            remedy="Send the secret, or a signature made with it, as the address asks for it.",
        )


def proof_headers(how: Authentication) -> frozenset[str]:
    """Return the headers that may hold a secret, in lower case: no run gets them."""
    more = {(how.header or "X-Webhook-Secret").lower()} if how.kind == "header" else set()
    return frozenset({"authorization", "proxy-authorization", "cookie", *more})


def _header(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    return _same(got.headers.get((how.header or "X-Webhook-Secret").lower(), ""), secret)


def _basic(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    kind, _, text = got.headers.get("authorization", "").partition(" ")
    try:
        given = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    wanted = f"{how.username}:{secret}".encode()
    return hmac.compare_digest(given, wanted) and kind.lower() == "basic"


def _bearer(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    kind, _, text = got.headers.get("authorization", "").partition(" ")
    return _same(text.strip(), secret) and kind.lower() == "bearer"


def _hmac(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    stamp = got.headers.get(how.timestamp_header.lower(), "")
    given = got.headers.get((how.header or "X-Signature").lower(), "").removeprefix("sha256=")
    signed = _hex(secret, stamp.encode() + b"." + got.body)
    return _same(given, signed) and _recent(stamp, how, now)


def _github(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    given = got.headers.get("x-hub-signature-256", "")
    return _same(given, "sha256=" + _hex(secret, got.body))


def _stripe(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    parts = [
        part.strip().partition("=") for part in got.headers.get("stripe-signature", "").split(",")
    ]
    stamp = next((value for name, _, value in parts if name == "t"), "")
    signed = _hex(secret, stamp.encode() + b"." + got.body)
    fits = [_same(value, signed) for name, _, value in parts if name == "v1"]
    return any(fits) and _recent(stamp, how, now)


def _slack(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    stamp = got.headers.get("x-slack-request-timestamp", "")
    signed = "v0=" + _hex(secret, b"v0:" + stamp.encode() + b":" + got.body)
    return _same(got.headers.get("x-slack-signature", ""), signed) and _recent(stamp, how, now)


def _standard(how: Authentication, secret: str, got: Incoming, now: datetime) -> bool:
    """Check as standardwebhooks.com says: `v1,` and base 64, several with blanks between."""
    stamp = got.headers.get("webhook-timestamp", "")
    about = f"{got.headers.get('webhook-id', '')}.{stamp}.".encode()
    try:
        key = base64.b64decode(secret.removeprefix(_STANDARD_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return False
    made = hmac.new(key, about + got.body, hashlib.sha256).digest()
    signed = "v1," + base64.b64encode(made).decode()
    fits = [_same(given, signed) for given in got.headers.get("webhook-signature", "").split()]
    return any(fits) and _recent(stamp, how, now)


_CHECKS: Mapping[str, Callable[[Authentication, str, Incoming, datetime], bool]] = {
    "header": _header,
    "basic": _basic,
    "bearer": _bearer,
    "hmac": _hmac,
    "github": _github,
    "stripe": _stripe,
    "slack": _slack,
    "standard": _standard,
}


def _hex(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _recent(stamp: str, how: Authentication, now: datetime) -> bool:
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        return False
    return abs(now.timestamp() - int(stamp)) <= how.tolerance
