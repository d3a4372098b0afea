"""What people are told: a run has failed, something waits for them, a schedule did not fire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class Notice:
    """One thing to tell."""

    kind: str
    """Such as `run.failed`, `task.asked`, `task.reminder`, `task.escalated`, `schedule.missed`."""
    to: tuple[str, ...]
    """Who is told: `user:ID`, `role:label`, or a mail address."""
    subject: str
    text: str
    """Markdown."""
    group: str = ""
    """What belongs together, such as a workflow's id: many of one group become one message."""
    link: str = ""
    """A path below the editor's address where the reader can act."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Ids by kind: `run`, `task`, `workflow`, `version`, `node`."""


class Notices(Protocol):
    """Tells people."""

    def notify(self, scope: Scope, notice: Notice) -> None:
        """Tell, soon and at least once; never raises: who tells has something else to do."""
