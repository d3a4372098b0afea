"""A real IMAP server (pymap, in a process of its own) and a real SMTP server (aiosmtpd)."""

from __future__ import annotations

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from stellwerk.kernel.json import JsonObject
from tests.secrets.vault import seeded

USER = "office"
PASSWORD = seeded("mailbox")
ROOT = Path(__file__).parents[2]
PATIENCE = 20.0
"""Seconds that the server may take to come up."""


@dataclass(frozen=True)
class MailServer:
    """Where the mailbox is, and a hand that puts mails into it."""

    port: int

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def settings(self) -> JsonObject:
        """The settings of a connection to it."""
        return {
            "user": USER,
            "imap_host": "127.0.0.1",
            "imap_port": self.port,
            "imap_security": "none",
        }

    def deliver(
        self,
        subject: str,
        *,
        sender: str = "Anna Muster <anna@example.com>",
        message_id: str | None = None,
        folder: str = "INBOX",
        received: datetime | None = None,
        files: tuple[tuple[str, bytes], ...] = (),
    ) -> None:
        """Put a mail into a folder, which is made if it is not there; "" is no Message-ID."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = sender, "office@example.com", subject
        named = f"<{subject.replace(' ', '.')}@example.com>" if message_id is None else message_id
        if named:
            message["Message-ID"] = named
        message.set_content(f"About {subject}.\n")
        for name, content in files:
            message.add_attachment(
                content, maintype="application", subtype="octet-stream", filename=name
            )
        with self._signed_in() as client:
            client.create(folder)
            moment = received or datetime.now(UTC)
            status, _ = client.append(folder, "", moment, message.as_bytes())
            assert status == "OK"

    def clear(self) -> None:
        """Empty the inbox, and remove all other folders."""
        with self._signed_in() as client:
            client.select("INBOX")
            client.store("1:*", "+FLAGS", "\\Deleted")
            client.expunge()
            client.delete("Orders")

    def unseen(self) -> int:
        """Return how many mails nobody has read."""
        with self._signed_in() as client:
            client.select("INBOX", readonly=True)
            return len(client.search(None, "UNSEEN")[1][0].split())

    @contextmanager
    def _signed_in(self) -> Iterator[imaplib.IMAP4]:
        with imaplib.IMAP4("127.0.0.1", self.port, timeout=10) as client:
            client.login(USER, PASSWORD)
            yield client


@contextmanager
def imap_server() -> Iterator[MailServer]:
    """Run an IMAP server with an empty mailbox for the block."""
    server = MailServer(free_port())
    command = [sys.executable, "-m", "tests.fakes.imapd", str(server.port), USER]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, cwd=ROOT
    ) as child:
        assert child.stdin is not None
        child.stdin.write(f"{PASSWORD}\n".encode())
        child.stdin.flush()
        try:
            _wait_for(server.port, child)
            yield server
        finally:
            child.terminate()
            child.wait(10)


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for(port: int, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and child.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise AssertionError("the IMAP server does not come up")


@dataclass
class Post:
    """An SMTP server, and what it has taken."""

    port: int = 0
    taken: list[Envelope] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take a mail."""
        self.taken.append(envelope)
        return "250 OK"


@contextmanager
def smtp_server() -> Iterator[Post]:
    """Run an SMTP server for the block, which lets the mailbox's owner in alone."""
    post = Post()
    port = free_port()
    controller = Controller(
        post,
        hostname="127.0.0.1",
        port=port,
        authenticator=_authenticated,
        auth_required=True,
        auth_require_tls=False,
    )
    controller.start()
    post.port = port
    try:
        yield post
    finally:
        controller.stop()


def _authenticated(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object
) -> AuthResult:
    known = isinstance(given, LoginPassword) and given.password == PASSWORD.encode()
    return AuthResult(success=known, handled=known)
