"""Where a request may go: the name is resolved once, its address checked, and that one called.

A name that resolves to a private, loopback, link-local or otherwise not public address is refused,
unless the operator has allowed its host and port.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from stellwerk.kernel.errors import Forbidden, InvalidParameters, ServiceUnavailable

_LONGEST = 8000
_PORTS = {"http": 80, "https": 443}
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Target:
    """A place to call, and the addresses that were checked."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]

    @property
    def url(self) -> str:
        """The target as a URL."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def shown(self) -> str:
        """The target as messages name it: a query may hold secrets."""
        return self.url.partition("?")[0]

    def at(self, location: str, allowed: Collection[str]) -> Target:
        """Return the target that a redirect from here leads to, checked anew."""
        return target_of(urljoin(self.url, location), allowed)

    def same_place(self, other: Target) -> bool:
        """Whether both are the same service."""
        ours = (self.scheme, self.host, self.port)
        return ours == (other.scheme, other.host, other.port)


def target_of(url: str, allowed: Collection[str] = ()) -> Target:
    """Return the target of `url`; raise InvalidParameters, Forbidden or ServiceUnavailable."""
    scheme, host, port, path = _parts(url)
    return Target(scheme, host, port, path, addresses_of(host, port, allowed))


def addresses_of(host: str, port: int, allowed: Collection[str] = ()) -> tuple[str, ...]:
    """Return the addresses of a host, checked; raise Forbidden or ServiceUnavailable."""
    addresses = _resolved(host, port)
    if f"{host}:{port}" not in allowed:
        for address in addresses:
            _check(address, host, port)
    return addresses


def _parts(url: str) -> tuple[str, str, int, str]:
    if len(url) > _LONGEST or any(char <= " " or char == "\x7f" for char in url):
        raise _invalid("must have no blanks or control characters, and at most 8000 characters")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    except ValueError as error:
        raise _invalid(f"cannot be read: {error}") from None
    if parts.scheme not in _PORTS:
        raise _invalid("must begin with http:// or https://")
    if not host:
        raise _invalid("names no host")
    if parts.username is not None or parts.password is not None:
        raise _invalid("must hold no user name or password")
    path = _encoded(parts.path or "/")
    query = f"?{_encoded(parts.query)}" if parts.query else ""
    return parts.scheme, host.lower(), _PORTS[parts.scheme] if port is None else port, path + query


def _encoded(text: str) -> str:
    """Return `text` in ASCII: what is beyond, as percent signs and hexadecimal digits."""
    return "".join(
        char
        if char.isascii()
        else "".join(f"%{byte:02X}" for byte in char.encode(errors="replace"))
        for char in text
    )


def _resolved(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ServiceUnavailable(
            f"The name {host} cannot be resolved: {error}",
            remedy="Check the URL, or try again later.",
        ) from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _check(address: str, host: str, port: int) -> None:
    if not public(address):
        place = f"{host} is" if host == address else f"{host} is at {address}, which is"
        raise Forbidden(
            f"{place} not a public address.",
            remedy=f"Call a public service, or let the operator add {host}:{port} to "
            "STELLWERK_HTTP_ALLOW.",
        )


def public(address: str) -> bool:
    """Whether `address` is on the open internet, however it is written."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        hidden = found.ipv4_mapped or found.sixtofour or found.teredo
        if hidden or found in _TRANSLATED:
            return False
    return found.is_global and not found.is_multicast


def _invalid(why: str) -> InvalidParameters:
    return InvalidParameters(f"Parameter url {why}.", remedy="Correct the URL.")
