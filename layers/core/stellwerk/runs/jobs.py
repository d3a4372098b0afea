"""Replaying many failed runs: the first alone, then ten, then all, until one fails again.

The first is the canary: as long as none has succeeded, no second one starts. What can be told from
a job alone is here; `runs.rerunning` does what follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import RunId, UserId, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Record
from stellwerk.runs.model import Step, StepStatus
from stellwerk.runs.wishes import Wish

CANARY, FEW, AT_ONCE = 1, 10, 50
"""How many runs are replayed first, how many then, how many at once of all the others."""
MOST = 1000
"""Runs that a job replays at most."""


class JobStatus(StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    COMPLETED = "completed"  # all were replayed, or could not be
    STOPPED = "stopped"  # a replay has failed: nothing further is started
    CANCELLED = "cancelled"  # a person wants no further ones


class MemberStatus(StrEnum):
    """Where the replay of one run stands."""

    PENDING = "pending"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"  # it cannot be replayed as the job asks: `note` says why


class Member(BaseModel):
    """A failed run of the job, and the run that replays it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: RunId
    status: MemberStatus = MemberStatus.PENDING
    run: RunId | None = None
    note: str = ""


class Wanted(BaseModel):
    """Which failed runs of a workflow are replayed: all these hold; what is None holds always."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    error: str | None = None
    """The type of the error with which they failed."""


class Job(Record):
    """A replay of many runs. `members` are the oldest first."""

    id: str
    workflow: WorkflowId
    user: UserId
    created: datetime
    ended: datetime | None = None
    wanted: Wanted = Wanted()
    version: int
    """On which they are replayed."""
    assume_done: dict[str, JsonValue] = Field(default_factory=dict)
    """Values of uncertain steps that have happened, by step or by node."""
    repeat: frozenset[str] = frozenset()
    """Uncertain steps, or nodes, that have not happened and are done again."""
    confirm_writes: bool = False
    """Whether runs are replayed that would write again what they have written."""
    status: JobStatus = JobStatus.RUNNING
    reason: str = ""
    """Why it has stopped."""
    members: tuple[Member, ...] = ()

    @property
    def counts(self) -> Mapping[MemberStatus, int]:
        """How many members stand where."""
        counts = Counter(member.status for member in self.members)
        return {status: counts[status] for status in MemberStatus}

    @property
    def startable(self) -> Sequence[Member]:
        """The members that may start now, in order; those that are skipped prove nothing."""
        if self.status is not JobStatus.RUNNING:
            return ()
        pending = [one for one in self.members if one.status is MemberStatus.PENDING]
        return pending[: max(0, self._most - self.counts[MemberStatus.STARTED])]

    @property
    def _most(self) -> int:
        """How many may be under way."""
        succeeded = self.counts[MemberStatus.SUCCEEDED]
        if succeeded < CANARY:
            return CANARY
        if succeeded < CANARY + FEW:
            return CANARY + FEW - succeeded
        return AT_ONCE

    def with_member(self, member: Member) -> Job:
        """Return the job with what has become of one of its members."""
        members = tuple(member if one.source == member.source else one for one in self.members)
        return self.model_copy(update={"members": members})

    def judged(self, now: datetime) -> Job:
        """Return the job as its members say that it stands."""
        if self.status is not JobStatus.RUNNING:
            return self
        failed = next((one for one in self.members if one.status is MemberStatus.FAILED), None)
        if failed is not None:
            stopped = {"status": JobStatus.STOPPED, "reason": failed.note, "ended": now}
            return self.model_copy(update=stopped)
        counts = self.counts
        if counts[MemberStatus.PENDING] or counts[MemberStatus.STARTED]:
            return self
        return self.model_copy(update={"status": JobStatus.COMPLETED, "ended": now})

    def wish(self, steps: Sequence[Step]) -> Wish:
        """Return how a run with these steps is replayed: what the job says of uncertain ones."""
        doubted = [
            step.key for step in steps if step.status is StepStatus.UNCERTAIN and not step.done
        ]
        done = {
            key.text: self.assume_done[name]
            for key in doubted
            for name in (key.text, key.node)
            if name in self.assume_done
        }
        again = {key.text for key in doubted if {key.text, key.node} & self.repeat}
        return Wish(assume_done=done, repeat=again - done.keys(), version=self.version)
