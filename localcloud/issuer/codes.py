"""Codes: each stands for a person who has signed in, for a minute, and is good once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from localcloud.issuer.requests import Authorization, Refused
from stellwerk.kernel.clock import Clock

LIFE = timedelta(seconds=60)
MOST = 1000
"""Codes that wait at once; beyond that the oldest is forgotten."""


@dataclass(frozen=True)
class SignIn:
    """Someone has signed in, for a client that asked so."""

    subject: str
    asked: Authorization
    at: datetime


class Codes:
    """Hands out codes and takes them back, once each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, SignIn] = {}
        self._lock = threading.Lock()

    def issue(self, subject: str, asked: Authorization) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            if len(self._waiting) >= MOST:
                del self._waiting[next(iter(self._waiting))]
            self._waiting[code] = SignIn(subject, asked, self._clock.now())
        return code

    def redeem(self, code: str, *, client: str, redirect: str, verifier: str) -> SignIn:
        """Return what a code stands for; it is used up even where the rest is wrong.

        Raises Refused.
        """
        with self._lock:
            found = self._waiting.pop(code, None)
        if found is None or self._clock.now() - found.at > LIFE:
            raise Refused("invalid_grant", "the code is unknown, was used, or has expired")
        if (client, redirect) != (found.asked.client, found.asked.redirect):
            raise Refused("invalid_grant", "the code was made for another client or address")
        if not hmac.compare_digest(challenge_of(verifier), found.asked.challenge):
            raise Refused("invalid_grant", "code_verifier does not fit the code_challenge")
        return found


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636)."""
    digest = hashlib.sha256(verifier.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
