"""What is recorded of a run: the run, its steps (the journal), its human tasks, its start."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import (
    ROOT,
    InstanceId,
    MandateId,
    NodeKey,
    Path,
    RunId,
    TaskId,
    UserId,
    WorkflowId,
)
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Record, Stored
from stellwerk.runs.ballots import Quorum, Vote
from stellwerk.runs.notes import News
from stellwerk.workflows.model import Overflow

Mode = Literal["live", "test", "dry"]
"""How a run acts: live; for whoever is testing; or so that nothing outside is written."""


class StepStatus(StrEnum):
    """Where the execution of a node stands."""

    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    UNCERTAIN = "uncertain"


class RunStatus(StrEnum):
    """Where a run stands. Paused while at least one wait for a person, a mail or a step is open."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def open(self) -> bool:
        """Whether the run is not over."""
        return self in {RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSED}


class TaskStatus(StrEnum):
    """Where a human task stands."""

    PENDING = "pending"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Failure(BaseModel):
    """An error as people and `on_error` ports see it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    message: str
    remedy: str = ""
    node: NodeKey | None = None
    path: Path = ROOT
    uncertain: bool = False
    traceback: str = ""


class Attempt(BaseModel):
    """One try of a step. Without `ended` it is in flight, or its process died."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    started: datetime
    ended: datetime | None = None
    error: Failure | None = None


class StepKey(NamedTuple):
    """Which step of a run: a node, at a place in its loops."""

    path: Path
    node: NodeKey

    @property
    def text(self) -> str:
        """The key as one string, as the command line shows it: `lines[3].check`."""
        return f"{self.path}.{self.node}" if self.path else self.node


class Step(Record):
    """An entry of the journal: one execution of a node (RunStepLog).

    The entry of a loop's own key at a body's path (`lines` at `lines[3]`) is that pass's scope: its
    value is the item, or a while loop's value before the pass, and its type is `scope`.
    """

    run: RunId
    path: Path = ROOT
    node: NodeKey
    type: str
    status: StepStatus
    port: str | None = None
    value: Stored | None = None
    input: Stored | None = None
    """The resolved parameters, secrets redacted."""
    attempts: tuple[Attempt, ...] = ()
    lease: datetime | None = None
    """Until when the running attempt may still act."""
    execution: int = 1
    """The generation of the execution that wrote it last."""
    generation: int = 1
    """Part of the idempotency key; rises only when a person repeats a write deliberately."""
    due: datetime | None = None
    """The moment until which a wait waits, computed once."""
    child: str | None = None
    """A child run's id, or the name of a loop's child execution."""
    awaits: str | None = None
    """What a wait waits for that comes from outside, such as `mail`."""
    token: str | None = None
    """The task token that wakes this wait."""
    size: int | None = None
    """Number of items of a loop."""
    recorded_from: RunId | None = None
    """The run whose record this is, when replayed or pinned."""
    dry: bool = False
    """Whether it has answered with the sample of its type instead of acting."""

    @property
    def key(self) -> StepKey:
        """Which step of its run this is."""
        return StepKey(path=self.path, node=self.node)

    @property
    def done(self) -> bool:
        """Whether the node has fired its port."""
        return self.port is not None


class TriggeredBy(BaseModel):
    """What started a run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node: NodeKey
    delivery: str
    kind: str = "trigger.manual"


class ParentStep(BaseModel):
    """The step of another run that waits for this one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: RunId
    path: Path
    node: NodeKey
    depth: int


class Run(Record):
    """One execution of a workflow version."""

    id: RunId
    mandate: MandateId
    instance: InstanceId
    user: UserId
    workflow: WorkflowId
    version: int
    title: str = ""
    status: RunStatus
    trigger: TriggeredBy
    started: datetime
    ended: datetime | None = None
    generation: int = 1
    """Of the execution: rises when an interrupted run is continued."""
    execution: str = ""
    """ARN of the present execution."""
    waits: int = 0
    """Open waits for a person, a mail or a child run."""
    mode: Mode = "live"
    trial: str = ""
    """Which state of a draft it tests."""
    input: Stored | None = None
    output: Stored | None = None
    error: Failure | None = None
    parent: ParentStep | None = None
    origin: RunId | None = None
    """The run that this one replays."""
    job: str = ""
    """The replay job that has started it."""
    vars: JsonObject = Field(default_factory=dict)
    pinned_versions: dict[str, int] = Field(default_factory=dict)
    """Versions of sub-workflows, fixed when the run starts."""
    overlap: Overflow | None = None
    """What its trigger says of a start while another of its runs is open; None: nothing."""
    slots: tuple[str, ...] = ()
    """The pools of which it holds a slot while it is open: see `runs.limits`."""
    queue: str = ""
    """The pool in whose queue it stands while it is queued."""


class Decision(BaseModel):
    """How a task ended, who ended it and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: str
    data: JsonValue = None
    by: UserId | None
    """None: nobody answered in time. Of several votes it is the last one's."""
    at: datetime
    on_behalf_of: UserId | None = None
    """Whom `by` stood in for."""
    comment: str = ""


class Delegation(BaseModel):
    """That someone handed a task on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: UserId
    to: UserId
    at: datetime


class HumanTask(Record):
    """A question to a person while a run waits."""

    id: TaskId
    run: RunId
    path: Path = ROOT
    node: NodeKey
    workflow: WorkflowId
    kind: str
    """`approval`, `form`, `choice`, `upload` or `review`."""
    status: TaskStatus = TaskStatus.PENDING
    title: str
    description: str = ""
    assignees: tuple[str, ...]
    """For whom it waits: `user:ID`, `role:label`, or `*` for everyone of the instance."""
    delegations: tuple[Delegation, ...] = ()
    ports: tuple[str, ...]
    """The outcomes that a person can choose."""
    form: JsonObject | None = None
    """JSON Schema of the data that a decision carries."""
    value: JsonValue = None
    """What a review shows and lets edit."""
    created: datetime
    due: datetime | None = None
    on_expire: Literal["cancel", "default"] = "cancel"
    default: JsonValue = None
    """The value at port `expired` where `on_expire` is `default`."""
    token: str = ""
    decision: Decision | None = None
    answered: bool = False
    """Whether Step Functions took the token's answer."""
    quorum: Quorum | None = None
    """None: the first answer decides."""
    votes: tuple[Vote, ...] = ()
    """The answers so far, where there is a quorum."""
    not_by: tuple[UserId, ...] = ()
    """Who may neither decide it nor be stood in for: whoever has started the run."""
    news: News = News()

    @property
    def attention(self) -> datetime | None:
        """When the sweeper looks at it while it is pending: to tell of it, or to end it."""
        moments = (self.news.next(self.created), self.due)
        return min((moment for moment in moments if moment is not None), default=None)
