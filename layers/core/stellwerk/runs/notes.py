"""What people are told of a human task, when, and with which links; recorded on the task."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

ASKED, ESCALATED, REMINDER = "asked", "escalated", "reminder"
LINKS_KEPT = 5
"""Links per address that hold at a time: a reminder brings a new one, older ones open it too."""


class Escalation(BaseModel):
    """Who is asked as well, from when on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: datetime
    to: tuple[str, ...]


class GuestLink(BaseModel):
    """What is kept of a link that lets its holder decide as a guest: not enough to make it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str
    """`mail:ADDRESS`, as among the assignees."""
    sha256: str
    """Of the token's secret, in hexadecimal."""
    expires: datetime


class News(BaseModel):
    """What is to be told of a task, and what was."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reminders: tuple[datetime, ...] = ()
    escalation: Escalation | None = None
    asked: bool = False
    """Whether its assignees are told when it opens."""
    told: tuple[str, ...] = ()
    """What was told: `asked`, `escalated`, `reminder` and its moment."""
    telling: datetime | None = None
    """Until when someone is about to tell: after that it has died, and another one tells."""
    links: tuple[GuestLink, ...] = Field(default=(), repr=False)

    def moments(self, created: datetime) -> dict[str, datetime]:
        """Return when what is to be told, without what was."""
        asked = {ASKED: created} if self.asked else {}
        escalated = {ESCALATED: self.escalation.at} if self.escalation else {}
        reminders = {reminder(moment): moment for moment in self.reminders}
        planned = {**asked, **reminders, **escalated}
        return {name: at for name, at in planned.items() if name not in self.told}

    def next(self, created: datetime) -> datetime | None:
        """Return when to look at the task again; None: nothing is left to tell."""
        moment = min(self.moments(created).values(), default=None)
        if moment is None or self.telling is None:
            return moment
        return max(moment, self.telling)


def reminder(moment: datetime) -> str:
    """Return the name of the reminder at that moment."""
    return f"{REMINDER} {moment.isoformat()}"
