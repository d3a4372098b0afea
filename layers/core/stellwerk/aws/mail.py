"""Mail by SES, from an address that the operator has verified there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from stellwerk.aws.errors import translated
from stellwerk.watching.bundles import Message
from stellwerk.watching.channels import mail_of


class Ses(Protocol):
    """The part of SES that is used."""

    def send_email(self, **request: Any) -> object:
        """Send a mail."""


@dataclass(frozen=True)
class SesMail:
    """Sends mails. Requests: 1 each. SES names them itself: a repeated one may come twice."""

    client: Callable[[], Ses]
    sender: str
    editor: str

    def send(self, address: str, message: Message) -> None:
        """Hand a mail to SES; raises what AWS answers, as our errors."""
        mail = mail_of(message, sender=self.sender, to=address, editor=self.editor)
        with translated():
            self.client().send_email(
                FromEmailAddress=self.sender,
                Destination={"ToAddresses": [address]},
                Content={"Raw": {"Data": mail.as_bytes()}},
            )
