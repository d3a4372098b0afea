"""One request and its reply over a connection to an address that was checked.

Errors say whether anything may have happened: before the request is sent nothing has.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import Protocol

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from stellwerk.kernel.errors import ConnectionRejected, PermanentError, ServiceUnavailable
from stellwerk.toolboxes.targets import Target

_CONNECT_SECONDS = 10.0
_CHUNK = 64 * 1024


class Time(Protocol):
    """Until when an exchange may last, such as a step's deadline."""

    @property
    def seconds(self) -> float:
        """Seconds that were given in all."""

    @property
    def remaining(self) -> float:
        """Seconds left; zero once it is over."""


class Interrupted(Exception):
    """The connection broke, or the time was over, after the request may have arrived."""


@dataclass(frozen=True)
class Message:
    """What is sent."""

    method: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Plain(HTTPConnection):
    """A connection over a socket that is open already."""

    opened: socket.socket

    def _new_conn(self) -> socket.socket:
        return self.opened


class _Secure(HTTPSConnection):
    """The same under TLS."""

    opened: socket.socket

    def _new_conn(self) -> socket.socket:
        return self.opened


def exchange(target: Target, message: Message, deadline: Time, *, most: int) -> Reply:
    """Send `message` to `target` and return the reply, of at most `most` bytes.

    Raises ServiceUnavailable where nothing was sent, ConnectionRejected for a bad certificate,
    Interrupted where it may have been, PermanentError for a reply that is too large.
    """
    with _opened(target, deadline) as opened, _ended_at(deadline, opened):
        connection = _connected(target, opened)
        try:
            connection.request(
                message.method,
                target.path,
                body=message.body,
                headers=dict(message.headers),
                preload_content=False,
            )
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.headers.items()}
            body = _read(response, message.method, most)
        except (OSError, HTTPException, HTTPError, ValueError) as error:
            raise Interrupted(_reason(error, deadline)) from error
        finally:
            connection.close()
        return Reply(response.status, headers, body)


@contextmanager
def _opened(target: Target, deadline: Time) -> Iterator[socket.socket]:
    """Connect to the first address that answers."""
    with dialled(target.host, target.port, target.addresses, deadline.remaining) as opened:
        opened.settimeout(max(0.01, deadline.remaining))
        yield opened


def dialled(host: str, port: int, addresses: Sequence[str], seconds: float) -> socket.socket:
    """Return a connection to the first of a host's addresses, which were checked, that answers.

    Raises ServiceUnavailable where none does.
    """
    until = time.monotonic() + seconds
    reason: OSError | None = None
    for address in addresses:
        left = max(0.01, min(_CONNECT_SECONDS, until - time.monotonic()))
        try:
            return socket.create_connection((address, port), timeout=left)
        except OSError as error:
            reason = error
    raise ServiceUnavailable(
        f"{host}:{port} cannot be reached: {reason}",
        remedy="Check the address, or try again later.",
    )


@contextmanager
def _ended_at(deadline: Time, opened: socket.socket) -> Iterator[None]:
    """Break the connection when the time is over, however slowly the other side drips."""
    with opened.dup() as same:
        timer = threading.Timer(deadline.remaining, _break, (same,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _break(opened: socket.socket) -> None:
    try:
        opened.shutdown(socket.SHUT_RDWR)
    except OSError:  # the connection has ended by itself
        return


def _connected(target: Target, opened: socket.socket) -> HTTPConnection:
    if target.scheme == "http":
        plain = _Plain(target.host, target.port)
        plain.opened = opened
        return plain
    secure = _Secure(target.host, target.port, ssl_context=ssl.create_default_context())
    secure.opened = opened
    try:
        secure.connect()
    except ssl.SSLCertVerificationError as error:
        raise ConnectionRejected(
            f"The certificate of {target.host} is not valid: {error.verify_message}",
            remedy="Let the service's operator renew it.",
        ) from error
    except (OSError, HTTPError) as error:
        raise ServiceUnavailable(f"{target.host} does not speak TLS: {error}") from error
    return secure


def _read(response: HTTPResponse, method: str, most: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if method != "HEAD" and announced.isdecimal() and int(announced) > most:
        raise _too_large(most)
    body = bytearray()
    while chunk := response.read(_CHUNK, decode_content=True):
        body += chunk
        if len(body) > most:
            raise _too_large(most)
    return bytes(body)


def _too_large(most: int) -> PermanentError:
    return PermanentError(
        f"The reply has more than {most} bytes.",
        remedy="Ask for less, or raise `max_bytes`.",
    )


def _reason(error: Exception, deadline: Time) -> str:
    if deadline.remaining <= 0:
        return f"no complete reply within {deadline.seconds:g} s"
    return f"the connection broke: {error}"
