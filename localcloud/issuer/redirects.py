"""Where an answer may go: to a program on this machine, or to an address that is registered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def allowed(address: str, registered: Collection[str]) -> bool:
    """Return whether `address` is registered, or of this machine, on any port (RFC 8252)."""
    if address in registered:
        return True
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    plain = address.isascii() and address.isprintable() and not set(address) & set("\\ \"'<>")
    bare = parts.username is None and parts.password is None and not parts.fragment
    return plain and bare and parts.scheme == "http" and host in _LOOPBACK


def extended(address: str, answer: Mapping[str, str]) -> str:
    """Return the address with an answer in its query."""
    parts = urlsplit(address)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *answer.items()]
    return urlunsplit(parts._replace(query=urlencode(query)))


def origin(address: str) -> str:
    """Return scheme, host and port of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
