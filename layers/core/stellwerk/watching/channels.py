"""The ways to reach people: mail over SMTP, and services that take JSON at an address."""

from __future__ import annotations

import json
import smtplib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import urljoin

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import PermanentError, ServiceUnavailable
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.toolboxes.exchange import Interrupted, exchange
from stellwerk.toolboxes.exchange import Message as Request
from stellwerk.toolboxes.targets import target_of
from stellwerk.watching.bundles import Message

SECONDS = 10.0
"""How long a service may take."""
_LARGEST = 64 * 1024


def mail_of(message: Message, *, sender: str, to: str, editor: str) -> EmailMessage:
    """Return a message as a mail; its id is the same each time, so that mailboxes show it once."""
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, to
    mail["Subject"] = " ".join(message.subject.split())
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message.id}@stellwerk>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(_text(message, editor))
    return mail


@dataclass(frozen=True)
class SmtpMail:
    """Mail over an SMTP server without a password, as inside of a network."""

    server: str
    """`host:port`."""
    sender: str
    editor: str

    def send(self, address: str, message: Message) -> None:
        """Hand a mail to the server; raises ServiceUnavailable, PermanentError if it is refused."""
        host, _, port = self.server.rpartition(":")
        mail = mail_of(message, sender=self.sender, to=address, editor=self.editor)
        try:
            with smtplib.SMTP(host, int(port), timeout=SECONDS) as server:
                server.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            raise PermanentError(f"the mail server refuses {address}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise ServiceUnavailable(
                f"the mail server {self.server} does not take mails: {error}",
                remedy="Look at the server, or set STELLWERK_SMTP to another one.",
            ) from error


class NoMail:
    """Stands where no mail server is set."""

    def send(self, address: str, message: Message) -> None:
        """Refuse."""
        raise PermanentError(
            "no mail server is set",
            remedy="Set STELLWERK_SMTP to host:port, and STELLWERK_MAIL_FROM to the sender.",
        )


@dataclass(frozen=True)
class Posted:
    """JSON, posted to a public address: a webhook, or an incoming webhook of Slack or Teams."""

    body: Callable[[Message, str], JsonObject]
    """Makes the body of a message and the editor's address."""
    editor: str
    allowed: Collection[str]
    clock: Clock

    def send(self, address: str, message: Message) -> None:
        """Post a message.

        Raises ServiceUnavailable, Forbidden for an address that is not public, PermanentError where
        the message is refused.
        """
        body = json.dumps(self.body(message, self.editor)).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "stellwerk",
            "Idempotency-Key": message.id,
        }
        target = target_of(address, self.allowed)
        deadline = Deadline.within(self.clock, SECONDS)
        try:
            reply = exchange(target, Request("POST", headers, body), deadline, most=_LARGEST)
        except Interrupted as error:
            raise ServiceUnavailable(f"{target.host} did not answer: {error}") from error
        if reply.status >= 500 or reply.status == 429:
            raise ServiceUnavailable(f"{target.host} answers {reply.status}")
        if reply.status >= 300:
            raise PermanentError(f"{target.host} answers {reply.status}")


def as_json(message: Message, editor: str) -> JsonObject:
    """Return a message as a webhook gets it."""
    return {
        "id": message.id,
        "kind": message.kind,
        "subject": message.subject,
        "text": message.text,
        "count": message.count,
        "link": _link(message, editor),
        "about": dict(message.about),
    }


def for_slack(message: Message, editor: str) -> JsonObject:
    """Return a message as an incoming webhook of Slack takes it."""
    return {"text": f"*{message.subject}*\n{_text(message, editor)}"}


def for_teams(message: Message, editor: str) -> JsonObject:
    """Return a message as an incoming webhook of Teams takes it: an adaptive card."""
    texts: list[JsonObject] = [
        {"type": "TextBlock", "text": message.subject, "weight": "Bolder", "wrap": True},
        {"type": "TextBlock", "text": message.text, "wrap": True},
    ]
    link = _link(message, editor)
    actions: list[JsonObject] = [{"type": "Action.OpenUrl", "title": "Stellwerk", "url": link}]
    card: JsonObject = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [*texts],
        "actions": [*actions] if link else [],
    }
    content = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": content, "content": card}]}


def _text(message: Message, editor: str) -> str:
    link = _link(message, editor)
    return f"{message.text}\n\n{link}" if link else message.text


def _link(message: Message, editor: str) -> str:
    return urljoin(editor, message.link) if editor and message.link else ""
