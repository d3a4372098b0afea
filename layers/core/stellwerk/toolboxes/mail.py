"""Mail as it lies in a mailbox, whatever the mailbox is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

PAGE = 25
"""Mails that are read at once."""
LONGEST_TEXT = 200_000
"""Characters of a mail's text, and of its HTML, that are handed on."""
LARGEST = 25 * 1024 * 1024
"""Bytes of a mail that is read whole; of a larger one its head alone."""


@dataclass(frozen=True)
class Attachment:
    """A file that came with a mail; `content` fetches it."""

    name: str
    type: str
    size: int
    """Bytes."""
    content: Callable[[], bytes]


@dataclass(frozen=True)
class Mail:
    """A mail. `id` is the one that its sender gave it, else the mailbox's own."""

    id: str
    received: datetime
    sender: str
    sender_name: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    text: str
    html: str = ""
    files: Callable[[], Sequence[Attachment]] = field(default=tuple)
    """Fetches the list of attachments."""


@dataclass(frozen=True)
class Batch:
    """Some new mails, the oldest first as far as the mailbox knows, and the mark after them."""

    mails: Sequence[Mail]
    mark: str
    more: bool = False
    """Whether there are further ones behind the mark already."""


class Mailbox(Protocol):
    """A mailbox that can be read from a mark on."""

    def read(self, folder: str, mark: str, since: datetime) -> Batch:
        """Return what is new in a folder behind `mark`; without one what came from `since` on.

        Where the mark says nothing any more, all from `since` on comes again. Raises
        ConnectionRejected where the account is refused, NotFound where there is no such folder,
        TransientError where it may work later.
        """

    def check(self) -> str:
        """Sign in and return in a sentence what was found; raises as `read`."""
