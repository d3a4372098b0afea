"""Notices on their way: those of one group to the same people are one bundle.

The first notice of a bundle is sent at once. What comes within the next minutes is gathered, and
told in one message that says how many there were. A bundle without news is closed; the next notice
opens it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from pydantic import Field

from stellwerk.kernel.records import Record
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope

WINDOW = timedelta(minutes=5)
"""How long notices are gathered after a message was sent."""
LEASE = timedelta(minutes=2)
"""How long a sender has; after that another one may send."""
KEPT = timedelta(days=30)
"""How long it is shown what became of a message."""
GIVEN_UP = 24
"""Tries of a message, with pauses that double from 5 minutes to an hour: most of a day."""
_LONGEST_TEXT = 4000


class Bundle(Record):
    """Notices of one group to the same people."""

    id: str
    kind: str
    to: tuple[str, ...]
    opened: datetime
    """When the first notice came that is told next, or was told last."""
    subject: str
    """Of the latest notice; so are text, link and `about`."""
    text: str
    link: str = ""
    about: dict[str, str] = Field(default_factory=dict)
    count: int = 1
    """Notices since it was opened."""
    told: int = 0
    """How many of them messages have told of."""
    closed: bool = False
    due: datetime | None = None
    """When to look at it; None: nothing is to be done."""
    lease: datetime | None = None
    """Until when a sender is at work."""
    tries: int = 0
    """How often the present message was tried in vain."""
    reached: tuple[str, ...] = ()
    """Who got the present message already, while others did not."""
    upto: int = 0
    """Of how many notices the present message tells."""
    error: str = ""

    @property
    def news(self) -> int:
        """How many notices were not told yet."""
        return self.count - self.told

    @property
    def message_id(self) -> str:
        """What names the present message, each time that it is tried."""
        return f"{self.id[:20]}-{int(self.opened.timestamp() * 1000):x}-{self.upto}"


class Sent(Record):
    """What became of a message."""

    at: datetime
    kind: str
    subject: str
    count: int
    reached: tuple[str, ...]
    error: str = ""
    given_up: bool = False


@dataclass(frozen=True)
class Message:
    """What is sent to one addressee."""

    id: str
    kind: str
    subject: str
    text: str
    count: int
    link: str = ""
    about: Mapping[str, str] = field(default_factory=dict)


class Outbox(Protocol):
    """Bundles, and what became of messages."""

    def add(self, scope: Scope, bundle: Bundle) -> None:
        """Open the bundle, or count one more in the open one of that id, with the new text."""

    def find(self, scope: Scope, bundle: str) -> Bundle | None:
        """Return a bundle."""

    def write(self, scope: Scope, bundle: Bundle, sent: Sent | None = None) -> Bundle:
        """Replace a bundle at its revision, `count` and text as they are stored; note a message.

        Raises Conflict where it is stored at another revision.
        """

    def close(self, scope: Scope, bundle: Bundle) -> None:
        """Write a bundle that is closed, if no notice has come since it was read."""

    def due(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Return up to a hundred ids of bundles that are to be looked at."""

    def open(self, scope: Scope) -> Sequence[Bundle]:
        """Return the bundles that are not closed, up to a hundred."""

    def sent(self, scope: Scope, *, limit: int) -> Sequence[Sent]:
        """Return what became of messages, the newest first."""


def opened(notice: Notice, now: datetime, unique: str) -> Bundle:
    """Return the bundle that a notice opens; one without a group is alone in its own."""
    group = notice.group or unique
    name = "\n".join((notice.kind, group, *sorted(notice.to)))
    return Bundle(
        revision=int(now.timestamp() * 1000),  # never one that it had before it was closed
        id=hashlib.sha256(name.encode()).hexdigest(),
        kind=notice.kind,
        to=notice.to,
        opened=now,
        subject=notice.subject[:200],
        text=notice.text[:_LONGEST_TEXT],
        link=notice.link[:500],
        about=dict(notice.about),
        due=now,
    )


def message_of(bundle: Bundle) -> Message:
    """Return the message that tells of all that is new."""
    number = bundle.upto - bundle.told
    subject, text = bundle.subject, bundle.text
    if number > 1:
        subject = f"{number} times: {bundle.subject}"
        since = bundle.opened.strftime("%Y-%m-%d %H:%M UTC")
        text = f"This happened {number} times since {since}. The latest:\n\n{bundle.text}"
    return Message(bundle.message_id, bundle.kind, subject, text, number, bundle.link, bundle.about)


def pause(tries: int) -> timedelta:
    """Return how long to wait after so many tries in vain."""
    return timedelta(minutes=min(5 << min(tries - 1, 4), 60))
