"""What is kept of schedules: a workflow's registration, and the slot of each planned time."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import NodeKey, RunId, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Record
from stellwerk.triggers.schedules.expressions import Expression

FORM = 1
"""Rises when what is registered of an expression changes: all are then registered anew."""
LATE = timedelta(minutes=1)
"""More than that after its time a run is late: the Scheduler fires within the minute."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Planned(_Part):
    """One schedule at the Scheduler."""

    name: str
    node: NodeKey
    text: str
    zone: str
    every: int = 0
    once: datetime | None = None

    @classmethod
    def of(cls, name: str, node: NodeKey, expression: Expression) -> Planned:
        """Return the schedule of an expression."""
        return cls(
            name=name,
            node=node,
            text=expression.text,
            zone=expression.zone,
            every=expression.every,
            once=expression.once,
        )

    @property
    def expression(self) -> Expression:
        """When it fires."""
        return Expression(self.text, self.zone, self.every, self.once)

    @property
    def digest(self) -> str:
        """Tells what is registered from what would be."""
        whole = f"{FORM} {self.name} {self.node} {self.text} {self.zone}"
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


class Span(_Part):
    """From when until when a trigger was armed with these parameters; `until` None: it still is."""

    node: NodeKey
    parameters: JsonObject
    since: datetime
    until: datetime | None = None


class Owed(_Part):
    """A missed slot that is to be made good."""

    node: NodeKey
    slot: datetime
    due: datetime


class Registration(Record):
    """The schedules of one workflow: what the Scheduler is to hold, and what was armed when.

    What `unsettled` names the Scheduler may hold otherwise: its change has begun.
    """

    workflow: WorkflowId
    seen: int
    """The revision of the workflow that wants this."""
    planned: tuple[Planned, ...] = ()
    unsettled: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    held: tuple[str, ...] = ()
    """Names under which the Scheduler holds something, as far as we know."""
    checked: datetime
    """Until then every slot has a row."""
    settled: datetime | None = None
    """When the Scheduler was last told something."""
    owed: tuple[Owed, ...] = ()

    @property
    def by_name(self) -> dict[str, Planned]:
        """What the Scheduler is to hold, by name."""
        return {one.name: one for one in self.planned}

    @property
    def armed(self) -> tuple[Span, ...]:
        """What is armed now."""
        return tuple(span for span in self.spans if span.until is None)


class SlotStatus(StrEnum):
    """What became of a planned time."""

    FIRED = "fired"
    SKIPPED = "skipped"
    MISSED = "missed"


class Reason(StrEnum):
    """Why a slot was skipped."""

    INACTIVE = "inactive"
    """The workflow is not active, or not published."""
    UNPLANNED = "unplanned"
    """The published version knows no such time, or no such trigger."""
    OVERLAP = "overlap"
    """The run before had not ended, and `overlap` is `skip`."""
    LIMIT = "limit"
    """The workflow's limit of runs at a time was reached."""
    RIGHTS = "rights"
    """The workflow's owner may not start it."""
    INVALID = "invalid"
    """What the version names is not there any more."""


class Slot(_Part):
    """What became of one planned time of one trigger."""

    workflow: WorkflowId
    node: NodeKey
    at: datetime
    status: SlotStatus
    recorded: datetime
    run: RunId | None = None
    reason: Reason | None = None
    note: str = ""
    caught_up: bool = False

    @property
    def late(self) -> timedelta:
        """How long after its time this became of it."""
        return max(timedelta(), self.recorded - self.at)


class Found(_Part):
    """A schedule as the Scheduler lists it."""

    name: str
    modified: datetime
    enabled: bool = True


class Held(_Part):
    """What the Scheduler holds under a name."""

    text: str
    zone: str
    input: str
    enabled: bool = True


class Mark(_Part):
    """When the next round is due, and when the Scheduler was last compared with what is kept."""

    due: datetime
    compared: datetime | None = None
