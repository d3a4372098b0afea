"""Runs: start, list, count, look at, cancel, replay."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.models.base import Moment
from api.models.runs import (
    Comparison,
    NewRun,
    Replay,
    Run,
    RunCounts,
    RunPage,
    RunStatus,
    RunWithValues,
    Step,
    Steps,
    StepValues,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import NodeKey, RunId, UserId, WorkflowId
from stellwerk.kernel.ids import Path as PathInRun
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs import model as stored
from stellwerk.runs.partial import partial_of
from stellwerk.tenancy.scope import Scope

router = operations(tags=["runs"])
RunInPath = Annotated[RunId, Path(pattern=ID, description="Id of a run")]
StepInPath = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9_.\[\]]{0,399}$", description="A step, as the list names it")
]
OfWorkflow = Annotated[WorkflowId | None, Query(pattern=ID, description="Id of a workflow")]


@router.post("/workflows/{workflow}/runs", response_model=Run, status_code=201)
def start_run(
    scope: InInstance,
    here: Here,
    creating: Creating,
    workflow: Annotated[WorkflowId, Path(pattern=ID, description="Id or short name")],
    body: NewRun,
) -> Response:
    """Start a run of a workflow. With an Idempotency-Key it starts once, even after a crash."""

    def make() -> Created:
        run = here.runs.start(
            scope,
            workflow,
            trigger=body.trigger,
            payload=body.input,
            delivery=body.delivery or creating.key,
            version=body.version,
            mode=body.mode,
            pinned=body.pinned,
            partial=partial_of(body.from_node, body.only_node, body.pinned_from),
        )
        return _created(scope, run)

    return creating.answer(scope, body, make)


@router.get("/runs", response_model=RunPage)
def list_runs(
    scope: InInstance,
    here: Here,
    page: Paged,
    workflow: OfWorkflow = None,
    version: Annotated[int | None, Query(ge=1, le=99_999_999)] = None,
    status: Annotated[RunStatus | None, Query()] = None,
    trigger: Annotated[str | None, Query(pattern=r"^[a-z_.]{1,60}$")] = None,
    user: Annotated[UserId | None, Query(pattern=ID)] = None,
    since: Annotated[Moment | None, Query(description="Started then or later")] = None,
    until: Annotated[Moment | None, Query(description="Started before")] = None,
) -> Response:
    """List runs, the newest first. All filters hold together; a page may be short."""
    found = here.runs.list(
        scope,
        workflow=workflow,
        version=version,
        status=stored.RunStatus(status) if status else None,
        trigger=trigger,
        user=user,
        since=since,
        until=until,
        cursor=page.cursor,
        limit=page.limit,
    )
    return shown(RunPage(items=[Run.of(run) for run in found.items], cursor=found.cursor))


@router.get("/runs/counts", response_model=RunCounts)
def count_runs(scope: InInstance, here: Here, workflow: OfWorkflow = None) -> Response:
    """Count runs by where they stand."""
    counts = here.runs.count(scope, workflow=workflow)
    named = {status.value: counts.get(status, 0) for status in stored.RunStatus}
    return shown(RunCounts(**named, total=sum(named.values())))


@router.get("/runs/{run}", response_model=RunWithValues)
def get_run(scope: InInstance, here: Here, run: RunInPath) -> Response:
    """Show a run with what it received and what it gave."""
    found = here.runs.get(scope, run)
    received, given = (_value(here, scope, kept) for kept in (found.input, found.output))
    return shown(RunWithValues.with_values(found, received, given))


@router.get("/runs/{run}/steps", response_model=Steps)
def list_steps(
    scope: InInstance,
    here: Here,
    run: RunInPath,
    cursor: Annotated[str | None, Query(description="Where the page before has ended")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Response:
    """List the steps of a run, without their values: those outside of loops first."""
    page = here.runs.page(scope, run, cursor=cursor, limit=limit)
    return shown(Steps(items=[Step.of(step) for step in page.items], cursor=page.cursor))


@router.get("/runs/{run}/steps/{step}/values", response_model=StepValues)
def get_step_values(scope: InInstance, here: Here, run: RunInPath, step: StepInPath) -> Response:
    """Show what a step received and what it gave."""
    path, _, node = step.rpartition(".")
    found = here.runs.step(scope, run, stored.StepKey(path=PathInRun(path), node=NodeKey(node)))
    received, given = (_value(here, scope, kept) for kept in (found.input, found.value))
    return shown(StepValues(input=received, value=given))


@router.get("/runs/{run}/compare/{other}", response_model=Comparison)
def compare_runs(
    scope: InInstance,
    here: Here,
    run: RunInPath,
    other: Annotated[RunId, Path(pattern=ID, description="Id of another run")],
) -> Response:
    """Compare two runs step by step: where each stood, how long it took, and whether it differs."""
    return shown(Comparison.of(here.runs.compare(scope, run, other)))


@router.post("/runs/{run}/cancel", response_model=Run)
def cancel_run(scope: InInstance, here: Here, run: RunInPath) -> Response:
    """Stop a run, with all that waits in it."""
    return shown(Run.of(here.runs.cancel(scope, run)))


@router.post("/runs/{run}/replay", response_model=Run, status_code=201)
def replay_run(
    scope: InInstance, here: Here, creating: Creating, run: RunInPath, body: Replay
) -> Response:
    """Start a new run from the record of one that is over: what is recorded does not run again."""
    wish = body.wish

    def make() -> Created:
        again = () if body.confirm_writes else here.runs.writes_again(scope, run, **wish)
        if again:
            named = ", ".join(step.text for step in again)
            raise Conflict(
                f"These steps would write again: {named}.",
                remedy="Send confirm_writes if that is what you want.",
            )
        return _created(scope, here.runs.replay(scope, run, **wish))

    return creating.answer(scope, body, make)


def _created(scope: Scope, run: stored.Run) -> Created:
    return Created(Run.of(run), f"{place(scope)}/runs/{run.id}")


def _value(here: ApiServices, scope: Scope, kept: Stored | None) -> JsonValue:
    return None if kept is None else here.runs.value(scope, kept)
