"""The event log of a run: what happened in it, in one order, without gaps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import NodeKey


class Happening(StrEnum):
    """What an event tells. The last event of a log is one of those that end the run."""

    RUN_QUEUED = "run.queued"
    RUN_STARTED = "run.started"
    RUN_PAUSED = "run.paused"
    RUN_RESUMED = "run.resumed"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    NODE_STARTED = "node.started"
    NODE_WAITING = "node.waiting"
    NODE_RETRYING = "node.retrying"
    NODE_SUCCEEDED = "node.succeeded"
    NODE_FAILED = "node.failed"
    NODE_SKIPPED = "node.skipped"
    NODE_CANCELLED = "node.cancelled"
    LOOP_PROGRESS = "loop.progress"

    @property
    def final(self) -> bool:
        """Whether no event follows."""
        return self in _FINAL


_FINAL = {Happening.RUN_COMPLETED, Happening.RUN_FAILED, Happening.RUN_CANCELLED}


class Problem(BaseModel):
    """An error in short; the journal holds the rest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    message: str
    node: str | None = None


class RunEvent(BaseModel):
    """One entry of a run's log; `seq` counts from 1 without gaps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: int = 0
    kind: Happening
    at: datetime
    """When it happened, as far as the journal says so; else when it was seen."""
    step: str = ""
    """The step as the list of steps names it (`lines[3].check`); "" for the run itself."""
    type: str = ""
    """The node's type."""
    attempt: int | None = None
    """Which try began or ended, counted from 1."""
    port: str | None = None
    due: datetime | None = None
    """Until when a node waits."""
    error: Problem | None = None
    uncertain: bool = False
    """Whether a failed node may have done its work all the same."""
    recorded: bool = False
    """Whether the node's result was taken over from the record of another run."""
    counts: dict[NodeKey, dict[str, int]] = Field(default_factory=dict)
    """Of `loop.progress`: how many steps of each node are over, by status, in passes that are not
    told one by one."""
