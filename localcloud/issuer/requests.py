"""What clients ask for, read; faults carry the names that the protocol gives them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

from starlette.requests import Request

from localcloud.issuer import redirects

LARGEST = 32 * 1024
"""Bytes of a form."""
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
Clients = Mapping[str, Collection[str]]
"""Public clients by id, each with the addresses registered for it."""


class Refused(Exception):
    """The client gets an error of the protocol: `invalid_request`, `invalid_client`, ..."""

    def __init__(self, error: str, description: str, *, status: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status


@dataclass(frozen=True)
class Authorization:
    """A request for a code, of which client and address are known to be right."""

    client: str
    redirect: str
    challenge: str
    state: str
    nonce: str
    scope: str


def parameters(text: str) -> dict[str, str]:
    """Return a query or form; raises Refused where a name comes twice."""
    pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50)
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("invalid_request", "a parameter comes twice")
    return found


async def form(request: Request) -> dict[str, str]:
    """Return the form that a request carries; raises Refused."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise Refused("invalid_request", f"a form has at most {LARGEST} bytes", status=413)
    try:
        return parameters(body.decode())
    except ValueError as error:
        raise Refused("invalid_request", "the body is no form") from error


def query(request: Request) -> dict[str, str]:
    """Return the query of a request; raises Refused."""
    try:
        return parameters(request.url.query)
    except ValueError as error:
        raise Refused("invalid_request", "the query cannot be read") from error


def target(asked: Mapping[str, str], clients: Clients) -> tuple[str, str]:
    """Return client and address of a request for a code.

    Raises Refused, which must not be told to an address: nobody vouches for it.
    """
    client, redirect = asked.get("client_id", ""), asked.get("redirect_uri", "")
    if client not in clients:
        raise Refused("invalid_client", f"client_id '{client}' is none of: {', '.join(clients)}")
    if not redirects.allowed(redirect, clients[client]):
        raise Refused(
            "invalid_request",
            f"redirect_uri '{redirect}' is neither registered nor a page of this machine, "
            "as http://127.0.0.1:8401/callback",
        )
    return client, redirect


def authorization(asked: Mapping[str, str], client: str, redirect: str) -> Authorization:
    """Return a request for a code; raises Refused, which is told to the address."""
    if asked.get("response_type") != "code":
        raise Refused("unsupported_response_type", "response_type must be 'code'")
    if asked.get("code_challenge_method") != "S256":
        raise Refused("invalid_request", "code_challenge_method must be 'S256'")
    challenge = asked.get("code_challenge", "")
    if not _CHALLENGE.fullmatch(challenge):
        raise Refused("invalid_request", "code_challenge must be a SHA-256 in base64url")
    return Authorization(
        client=client,
        redirect=redirect,
        challenge=challenge,
        state=asked.get("state", ""),
        nonce=asked.get("nonce", ""),
        scope=asked.get("scope", "openid"),
    )


def credentials(request: Request, sent: Mapping[str, str]) -> tuple[str, str]:
    """Return client id and secret, from the header or the form; the secret may be "".

    Raises Refused for a header that cannot be read.
    """
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return sent.get("client_id", ""), sent.get("client_secret", "")
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise Refused("invalid_client", "the header cannot be read", status=401) from error
    client, _, secret = text.partition(":")
    return unquote_plus(client), unquote_plus(secret)
