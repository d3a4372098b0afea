"""What commands need of the product, wherever it runs: the services here, or an API elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.ids import NodeKey, RunId, TaskId, UserId, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stored
from stellwerk.runs.comparing import Compared
from stellwerk.runs.jobs import Job, Wanted
from stellwerk.runs.model import HumanTask, Mode, Run, RunStatus, Step, StepKey, TaskStatus
from stellwerk.runs.partial import Partial
from stellwerk.tenancy.audit import Verification
from stellwerk.tenancy.deputies import Deputy
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.diff import Diff
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, Workflow


class Runs(Protocol):
    """Starts and shows runs; see `runs.service.RunService`."""

    def start(
        self,
        scope: Scope,
        workflow: WorkflowId | str,
        *,
        trigger: NodeKey | None = None,
        payload: JsonValue = None,
        delivery: str | None = None,
        mode: Mode = "live",
        pinned: Mapping[NodeKey, JsonValue] | None = None,
        partial: Partial | None = None,
    ) -> Run:
        """Start a run."""

    def list(
        self,
        scope: Scope,
        *,
        workflow: WorkflowId | None = None,
        status: RunStatus | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Run]:
        """Return a page of runs."""

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return a run."""

    def steps(self, scope: Scope, run: RunId) -> Sequence[Step]:
        """Return its journal."""

    def page(self, scope: Scope, run: RunId, *, cursor: str | None = None) -> Page[Step]:
        """Return a page of its journal."""

    def compare(self, scope: Scope, one: RunId, other: RunId) -> Sequence[Compared]:
        """Return two runs beside each other."""

    def value(self, scope: Scope, stored: Stored) -> JsonValue:
        """Return a value that a run or step holds."""

    def cancel(self, scope: Scope, run: RunId) -> Run:
        """Stop a run with all that waits in it."""

    def writes_again(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> Sequence[StepKey]:
        """Return the writes that a replay would repeat."""

    def replay(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> Run:
        """Run again what is not recorded."""


class Rerunning(Protocol):
    """Replays many failed runs; see `runs.rerunning.Rerunning`."""

    def begin(
        self,
        scope: Scope,
        workflow: str,
        *,
        wanted: Wanted | None = None,
        version: int | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
        confirm_writes: bool = False,
    ) -> Job:
        """Replay the failed runs of a workflow."""

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return a page of jobs."""

    def get(self, scope: Scope, job: str) -> Job:
        """Return a job."""

    def cancel(self, scope: Scope, job: str) -> Job:
        """Start no further replay."""


class Tasks(Protocol):
    """Lists and decides human tasks; see `runs.tasks.TaskService`."""

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        """Return a page of tasks."""

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return a task."""

    def decide(
        self, scope: Scope, task: TaskId, port: str, data: JsonValue = None, *, comment: str = ""
    ) -> HumanTask:
        """Decide a task."""

    def delegate(self, scope: Scope, task: TaskId, to: UserId) -> HumanTask:
        """Hand a task on."""

    def cancel(self, scope: Scope, task: TaskId) -> HumanTask:
        """Cancel a task with its run."""


class Deputies(Protocol):
    """Names who stands in for whom; see `tenancy.deputies.DeputyService`."""

    def list(self, scope: Scope) -> Sequence[Deputy]:
        """Return whom the user has named, and for whom it was named."""

    def name(
        self, scope: Scope, deputy: UserId, *, until: datetime, since: datetime | None = None
    ) -> Deputy:
        """Let someone stand in."""

    def remove(self, scope: Scope, deputy: UserId) -> None:
        """Let someone stand in no more."""


class Workflows(Protocol):
    """Finds, publishes and compares workflows; see `workflows.service.WorkflowService`."""

    def find(self, scope: Scope, name: str) -> Workflow:
        """Return a workflow by slug or id."""

    def list(
        self, scope: Scope, *, query: str = "", cursor: str | None = None, limit: int = 50
    ) -> Page[Workflow]:
        """Return a page of workflows by slug."""

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Version]:
        """Return a page of a workflow's versions, the newest first."""

    def diff(self, scope: Scope, workflow: WorkflowId, before: int, after: int) -> Diff:
        """Return what version `after` has otherwise than version `before`."""

    def roll_back(
        self, scope: Scope, workflow: WorkflowId, number: int
    ) -> tuple[Workflow, Version]:
        """Make a version that was published before the published one again."""

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str = "", title: str = ""
    ) -> tuple[Workflow, Version]:
        """Publish a graph."""


class Types(Protocol):
    """Knows the types of nodes."""

    def find(self, name: str) -> NodeType | None:
        """Return a type."""


class Desk(Protocol):
    """All of it. `bootstrap.Services` is one; `remote_desk.RemoteDesk` another."""

    @property
    def runs(self) -> Runs:
        """Runs."""

    @property
    def tasks(self) -> Tasks:
        """Human tasks."""

    @property
    def deputies(self) -> Deputies:
        """Who stands in for whom."""

    @property
    def workflows(self) -> Workflows:
        """Workflows."""

    @property
    def rerunning(self) -> Rerunning:
        """Replays of many runs."""

    @property
    def catalogue(self) -> Types:
        """Types of nodes."""


class AuditReader(Protocol):
    """Reads the audit of a mandate; see `tenancy.audit.AuditService`."""

    def verify(self, scope: Scope, days: Sequence[str] | None = None) -> Verification:
        """Look whether the chain is whole."""

    def export(self, scope: Scope, since: str = "", until: str = "") -> Iterator[str]:
        """Return its records as JSON Lines."""
