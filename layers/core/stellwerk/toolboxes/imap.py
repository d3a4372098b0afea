"""Mailboxes over IMAP: read without being marked as read."""

from __future__ import annotations

import imaplib
import json
import re
import socket
import ssl
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from imap_tools import A, BaseMailBox, MailAttachment, MailMessage, U
from imap_tools.errors import (
    MailboxFolderSelectError,
    MailboxLoginError,
    UnexpectedCommandStatusError,
)

from stellwerk.kernel.errors import (
    ConnectionRejected,
    Forbidden,
    NotFound,
    ServiceUnavailable,
)
from stellwerk.toolboxes.exchange import dialled
from stellwerk.toolboxes.kinds import MailServers
from stellwerk.toolboxes.mail import LARGEST, LONGEST_TEXT, PAGE, Attachment, Batch, Mail
from stellwerk.toolboxes.targets import addresses_of

SECONDS = 20.0
"""How long a server may take to answer a command."""
_UID = re.compile(rb"UID (\d+)")
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


@dataclass(frozen=True)
class Place:
    """A server, by addresses that were checked; and how the way there is kept secret."""

    host: str
    port: int
    security: str
    addresses: tuple[str, ...]

    @classmethod
    def of(cls, host: str, port: int, security: str, allowed: Collection[str]) -> Place:
        """Return a place that may be called; raise Forbidden for private ones that may not."""
        if security == "none" and f"{host}:{port}" not in allowed:
            raise Forbidden(
                f"A password would go to {host}:{port} for everybody to read.",
                remedy=f"Use tls or starttls, or let the operator add {host}:{port} to "
                "STELLWERK_HTTP_ALLOW.",
            )
        return cls(host, port, security, addresses_of(host, port, allowed))

    def dial(self, seconds: float) -> socket.socket:
        """Return a connection, under TLS where it begins with that."""
        opened = dialled(self.host, self.port, self.addresses, seconds)
        opened.settimeout(seconds)
        if self.security != "tls":
            return opened
        try:
            return ssl.create_default_context().wrap_socket(opened, server_hostname=self.host)
        except BaseException:
            opened.close()
            raise


class _Client(imaplib.IMAP4):
    """imaplib's client, over a connection that `Place` makes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        super().__init__(place.host, place.port, SECONDS)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._place.dial(timeout or SECONDS)


class _Box(BaseMailBox):
    """imap-tools' mailbox, over that client."""

    def __init__(self, place: Place) -> None:
        self._place = place
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        client = _Client(self._place)
        if self._place.security == "starttls":
            try:
                client.starttls(ssl.create_default_context())
            except BaseException:
                client.shutdown()
                raise
        return client


class ImapMailbox:
    """Implements `mail.Mailbox`. The mark is the last UID that was seen, and of which validity."""

    def __init__(self, servers: MailServers, password: str, allowed: Collection[str]) -> None:
        self._servers = servers
        self._password = password
        self._allowed = allowed

    def check(self) -> str:
        """Sign in and open the inbox."""
        with self._opened("INBOX") as box:
            count = len(box.uids("ALL"))
        return f"{self._servers.imap_host} lets {self._servers.user} in: INBOX has {count} mails."

    def read(self, folder: str, mark: str, since: datetime) -> Batch:
        """Return the next mails of a folder; each UID once, while the folder keeps its validity."""
        with self._opened(folder) as box:
            validity = _number(box, "UIDVALIDITY")
            last = _last(mark, validity)
            fresh = _fresh(box, last, since)
            taken = fresh[:PAGE]
            mails = list(_mails(box, taken, validity, since if last is None else None))
            end = taken[-1] if taken else _end(box, last)
        written = json.dumps({"validity": validity, "uid": end})
        return Batch(mails, written, more=len(fresh) > len(taken))

    @contextmanager
    def _opened(self, folder: str) -> Iterator[_Box]:
        servers = self._servers
        place = Place.of(servers.imap_host, servers.imap_port, servers.imap_security, self._allowed)
        with _explained(servers, folder):
            box = _Box(place)
            try:
                self._sign_in(box)
                box.folder.set(folder, readonly=True)
                yield box
            finally:
                _leave(box)

    def _sign_in(self, box: _Box) -> None:
        plain = self._servers.user.isascii() and self._password.isascii()
        login = box.login if plain else box.login_utf8
        try:
            login(self._servers.user, self._password, initial_folder=None)
        except imaplib.IMAP4.abort:
            raise
        except (MailboxLoginError, imaplib.IMAP4.error):
            raise ConnectionRejected(
                f"{self._servers.imap_host} does not let '{self._servers.user}' in.",
                remedy="Hand in the mailbox's password again, or one made for applications.",
            ) from None


@contextmanager
def _explained(servers: MailServers, folder: str) -> Iterator[None]:
    """Say in our words what the server or the way there has refused."""
    place = f"{servers.imap_host}:{servers.imap_port}"
    try:
        yield
    except MailboxFolderSelectError:
        raise NotFound(
            f"The mailbox of '{servers.user}' has no folder '{folder}'.",
            remedy="Name a folder that is there, such as INBOX.",
        ) from None
    except ssl.SSLCertVerificationError as error:
        raise ConnectionRejected(
            f"The certificate of {place} is not valid: {error.verify_message}",
            remedy="Let the server's operator renew it.",
        ) from error
    except (imaplib.IMAP4.error, UnexpectedCommandStatusError, OSError) as error:
        raise ServiceUnavailable(f"{place} does not answer as it should: {error}") from error


def _leave(box: _Box) -> None:
    try:
        box.logout()
    except (imaplib.IMAP4.error, UnexpectedCommandStatusError, OSError):
        box.client.shutdown()


def _number(box: _Box, name: str) -> int:
    """Return a number that the server told when the folder was opened; 0 if it told none."""
    _, found = box.client.response(name)
    return int(found[-1]) if found and isinstance(found[-1], bytes) else 0


def _last(mark: str, validity: int) -> int | None:
    """Return the last UID that was seen; None where the mark is of other UIDs, or there is none."""
    found = json.loads(mark) if mark else {}
    return int(found["uid"]) if found.get("validity") == validity else None


def _fresh(box: _Box, last: int | None, since: datetime) -> list[int]:
    """Return the UIDs behind the last one; without one of all mails from the day before on."""
    if last is None:
        begun = (since - timedelta(days=1)).date()
        return sorted(map(int, box.uids(A(date_gte=begun))))
    wanted = A(uid=U(str(last + 1), "*"))
    return sorted(uid for uid in map(int, box.uids(wanted)) if uid > last)


def _end(box: _Box, last: int | None) -> int:
    """Return the UID behind which new mails will lie, in a folder where nothing is new."""
    return max(last or 0, _number(box, "UIDNEXT") - 1)


def _mails(box: _Box, uids: Sequence[int], validity: int, since: datetime | None) -> Iterator[Mail]:
    """Yield those mails that are still there, and came from `since` on."""
    for uid, (received, size) in sorted(_heads(box, uids).items()):
        if since is not None and received < since:
            continue
        whole = size <= LARGEST
        wanted = A(uid=str(uid))
        for message in box.fetch(wanted, mark_seen=False, headers_only=not whole):
            yield _mail(message, f"{validity}-{uid}", received)


def _heads(box: _Box, uids: Sequence[int]) -> dict[int, tuple[datetime, int]]:
    """Return when each mail arrived, and how many bytes it has."""
    if not uids:
        return {}
    _, lines = box.client.uid("FETCH", ",".join(map(str, uids)), "(UID INTERNALDATE RFC822.SIZE)")
    heads = {}
    for line in lines:
        text = line if isinstance(line, bytes) else b""
        uid, size, moment = _UID.search(text), _SIZE.search(text), imaplib.Internaldate2tuple(text)
        if uid and size and moment:
            received = datetime.fromtimestamp(time.mktime(moment), UTC)
            heads[int(uid[1])] = (received, int(size[1]))
    return heads


def _mail(message: MailMessage, own_id: str, received: datetime) -> Mail:
    named = str(message.obj.get("message-id", "")).strip()
    sender = message.from_values
    return Mail(
        id=named or own_id,
        received=received,
        sender=message.from_,
        sender_name=sender.name if sender else "",
        to=message.to,
        cc=message.cc,
        subject=message.subject,
        text=message.text[:LONGEST_TEXT],
        html=message.html[:LONGEST_TEXT],
        files=partial(_files, message),
    )


def _files(message: MailMessage) -> Sequence[Attachment]:
    return [
        Attachment(
            one.filename or f"attachment-{number}",
            one.content_type,
            one.size,
            partial(_payload, one),
        )
        for number, one in enumerate(message.attachments, 1)
    ]


def _payload(attachment: MailAttachment) -> bytes:
    return attachment.payload
