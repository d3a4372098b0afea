"""Workflows and their versions, as stored."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import InstanceId, UserId, WorkflowId
from stellwerk.kernel.json import Flag, JsonObject, Whole
from stellwerk.kernel.records import Record, Stored

MOST_TAGS = 10


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Overflow(StrEnum):
    """What happens to a start when as many runs are open as the limit allows."""

    ALLOW = "allow"  # it starts all the same: there is no limit
    QUEUE = "queue"  # it waits for its turn
    SKIP = "skip"  # it does not happen
    REPLACE = "replace"  # the oldest open run is cancelled for it


class Concurrency(_Part):
    """How many runs of a workflow may be open at once, and what happens beyond."""

    limit: Whole = Field(default=1, ge=1, le=1000)
    policy: Overflow = Overflow.ALLOW


class Retention(_Part):
    """For how many days after its end a run is kept; with `hold` for ever."""

    successes: Whole = Field(default=30, ge=1, le=3650)
    failures: Whole = Field(default=90, ge=1, le=3650)
    hold: Flag = False


class Origin(_Part):
    """Of which version of which workflow of the mandate a workflow is a copy."""

    instance: InstanceId
    workflow: WorkflowId
    version: int


class Workflow(Record):
    """What people call a workflow; its versions hold the graphs."""

    id: WorkflowId
    title: str
    slug: str
    created_by: UserId
    """Its owner: whoever created it, until it was handed on. Automatic runs act for the owner."""
    created: datetime
    latest: int = 0
    published: int | None = None
    active: bool = True
    """Only an active workflow's triggers start anything."""
    tags: tuple[str, ...] = ()
    vars: JsonObject = Field(default_factory=dict)
    """`$vars` of its expressions, read when a run starts."""
    concurrency: Concurrency = Concurrency()
    notify: tuple[str, ...] = ()
    """Who is told of failures, as `user:ID`, `role:label` or an address; empty: the owner."""
    retention: Retention = Retention()
    shared: bool = False
    """Whether the mandate's other instances may copy it."""
    origin: Origin | None = None


class VersionStatus(StrEnum):
    """Where a version stands."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class Reference(_Part):
    """What a node's parameter names outside of its graph: a workflow, a file, a user, ..."""

    node: str
    parameter: str
    kind: str
    name: str


class Version(Record):
    """One graph of a workflow; immutable once published. `graph` is exact, in S3 when large."""

    workflow: WorkflowId
    number: int
    trial: str = ""
    """Of a version as it was when a test of it began: a hash of that; it is kept beside it."""
    status: VersionStatus
    graph: Stored
    graph_hash: str
    author: UserId
    created: datetime
    saved: datetime | None = None
    """When its graph was last changed; None: never since it was made."""
    based_on: int | None = None
    """The version from which it was made."""
    note: str = ""
    """What whoever published it says of it."""
    first_published: datetime | None = None
    """Since then its graph stays as it is."""
    published_at: datetime | None = None
    """When it was last published."""
    published_by: UserId | None = None
    retiring: datetime | None = None
    """Since when nothing new starts on its machines; they go when no run needs them."""
    machines: dict[str, str] = Field(default_factory=dict)
    """State machine ARNs: "" is the workflow's own, others by the loop whose chunks they run."""
    definitions: dict[str, str] = Field(default_factory=dict)
    """Where the machines' definitions are kept, by loop: machines are made anew from them."""
    rebuilt: int = 0
    """How often its machines were removed: those made anew have other names."""
    names: tuple[Reference, ...] = ()
    """What its graph names: looked up again whenever a run starts."""
    plan: JsonObject = Field(default_factory=dict)
    """What the compiler tells the step wrapper: which steps to look at gates after."""

    @property
    def fresh(self) -> bool:
        """Whether it was never published, so that its graph may still change."""
        return self.first_published is None
