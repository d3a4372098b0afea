"""The way to a server that takes mail."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from stellwerk.kernel.errors import ConnectionRejected, ServiceUnavailable
from stellwerk.toolboxes.imap import Place
from stellwerk.toolboxes.kinds import MailServers

SECONDS = 20.0


class _Client(smtplib.SMTP):
    """smtplib's client, over a connection that `Place` makes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        super().__init__(timeout=SECONDS)
        self._host = place.host
        self.connect(place.host, place.port)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._place.dial(timeout)


@contextmanager
def signed_in(
    servers: MailServers, password: str, allowed: Collection[str]
) -> Iterator[smtplib.SMTP]:
    """Sign in at a mailbox's SMTP server for the block.

    Raises ConnectionRejected where it does not let the mailbox's owner in, ServiceUnavailable where
    it cannot be reached.
    """
    host, port = servers.smtp_host or servers.imap_host, servers.smtp_port
    place = Place.of(host, port, servers.smtp_security, allowed)
    try:
        with _Client(place) as client:
            if servers.smtp_security == "starttls":
                client.starttls(context=ssl.create_default_context())
            client.login(servers.user, password)
            yield client
    except smtplib.SMTPAuthenticationError:
        raise ConnectionRejected(
            f"{host}:{port} does not let '{servers.user}' in.",
            remedy="Hand in the mailbox's password again, or one made for applications.",
        ) from None
    except ssl.SSLCertVerificationError as error:
        raise ConnectionRejected(
            f"The certificate of {host}:{port} is not valid: {error.verify_message}",
            remedy="Let the server's operator renew it.",
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        raise ServiceUnavailable(f"{host}:{port} does not answer as it should: {error}") from error
