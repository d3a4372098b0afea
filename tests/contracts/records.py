"""Records to test with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId, TaskId, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.runs.model import (
    Decision,
    HumanTask,
    Run,
    RunStatus,
    Step,
    StepStatus,
    TriggeredBy,
)
from stellwerk.tenancy.scope import Scope, of_run
from stellwerk.workflows.model import Version, VersionStatus, Workflow

SCOPE = of_run("m-one", "i-one", "u-anna")
STRANGERS = (of_run("m-two", "i-one", "u-anna"), of_run("m-one", "i-two", "u-anna"))
START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
WORKFLOW = WorkflowId("w-invoices")
RUN = RunId("r-1")


def run(
    number: int = 1, *, workflow: WorkflowId = WORKFLOW, delivery: str = "", scope: Scope = SCOPE
) -> Run:
    """Return an open run, the higher its number the later."""
    return Run(
        id=RunId(f"r-{number}"),
        mandate=scope.mandate,
        instance=scope.instance,
        user=scope.user,
        workflow=workflow,
        version=1,
        status=RunStatus.RUNNING,
        trigger=TriggeredBy(node=NodeKey("start"), delivery=delivery or f"d-{number}"),
        started=START + timedelta(seconds=number),
    )


def step(
    node: str = "approve",
    path: Path = ROOT,
    *,
    run: RunId = RUN,
    status: StepStatus = StepStatus.RUNNING,
    token: str | None = None,
    value: str | None = None,
    kind: str = "data.set",
) -> Step:
    """Return a new step."""
    return Step(
        run=run,
        path=path,
        node=NodeKey(node),
        type=kind,
        status=status,
        token=token,
        value=None if value is None else Stored(text=value),
    )


def waiting(node: str = "approve", *, token: str = "t-1", revision: int = 0) -> Step:
    """Return a step that waits with a token."""
    new = step(node, status=StepStatus.WAITING, token=token)
    return new.model_copy(update={"revision": revision})


def task(number: int = 1, *, token: str = "t-1", due: datetime | None = None) -> HumanTask:
    """Return a pending task of the run, the higher its number the later."""
    return HumanTask(
        id=TaskId(f"task-{number}"),
        run=RUN,
        node=NodeKey("approve"),
        workflow=WORKFLOW,
        kind="approval",
        title="Approve the invoice",
        assignees=("role:finance",),
        ports=("approved", "rejected"),
        created=START + timedelta(seconds=number),
        due=due,
        token=token,
    )


def decision(port: str = "approved", *, by: Scope = SCOPE) -> Decision:
    """Return how someone decided, an hour after the start."""
    return Decision(
        port=port, data={"note": "✓ geprüft"}, by=by.user, at=START + timedelta(hours=1)
    )


def workflow(slug: str = "invoices") -> Workflow:
    """Return a workflow without versions."""
    return Workflow(
        id=WorkflowId(f"w-{slug}"),
        title=slug.title(),
        slug=slug,
        created_by=SCOPE.user,
        created=START,
    )


def version(number: int = 1, *, workflow: WorkflowId = WORKFLOW) -> Version:
    """Return a draft."""
    return Version(
        workflow=workflow,
        number=number,
        status=VersionStatus.DRAFT,
        graph=Stored(text='{"schema":"stellwerk/graph@1"}'),
        graph_hash=f"hash-{number}",
        author=SCOPE.user,
        created=START,
    )
