"""Replays of many failed runs of a workflow, by canary."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.models.replays import NewReplayJob, ReplayJob, ReplayJobPage, ReplayJobWithRuns
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.kernel.ids import WorkflowId
from stellwerk.runs.jobs import Wanted

router = operations(tags=["replays"])
ReplayInPath = Annotated[str, Path(pattern=ID, description="Id of a replay")]


@router.post("/workflows/{workflow}/replays", response_model=ReplayJob, status_code=201)
def start_replays(
    scope: InInstance,
    here: Here,
    creating: Creating,
    workflow: Annotated[WorkflowId, Path(pattern=ID, description="Id or short name")],
    body: NewReplayJob,
) -> Response:
    """Replay failed runs: one, then ten, then all, until one fails again."""

    def make() -> Created:
        job = here.rerunning.begin(
            scope,
            workflow,
            wanted=Wanted(
                version=body.version, since=body.since, until=body.until, error=body.error
            ),
            version=body.target,
            assume_done=body.assume_done,
            repeat=frozenset(body.repeat),
            confirm_writes=body.confirm_writes,
        )
        return Created(ReplayJob.of(job), f"{place(scope)}/replays/{job.id}")

    return creating.answer(scope, body, make)


@router.get("/replays", response_model=ReplayJobPage)
def list_replays(scope: InInstance, here: Here, page: Paged) -> Response:
    """List replays of many runs, the newest first. A page may be short."""
    found = here.rerunning.list(scope, cursor=page.cursor, limit=page.limit)
    items = [ReplayJob.of(job) for job in found.items]
    return shown(ReplayJobPage(items=items, cursor=found.cursor))


@router.get("/replays/{replay}", response_model=ReplayJobWithRuns)
def get_replays(scope: InInstance, here: Here, replay: ReplayInPath) -> Response:
    """Show how far a replay of many runs is, and what has become of each."""
    return shown(ReplayJobWithRuns.with_runs(here.rerunning.get(scope, replay)))


@router.post("/replays/{replay}/cancel", response_model=ReplayJob)
def cancel_replays(scope: InInstance, here: Here, replay: ReplayInPath) -> Response:
    """Start no further replay; those under way go on."""
    return shown(ReplayJob.of(here.rerunning.cancel(scope, replay)))
