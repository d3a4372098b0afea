"""Human tasks: what waits for me, and answers to it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from api.backend import Here
from api.caller import InInstance
from api.models.tasks import Decide, Delegate, Task, TaskPage, TaskStatus
from api.operations import operations
from api.paging import Paged
from api.rendering import shown
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.runs import model as stored

router = operations(tags=["tasks"])
TaskInPath = Annotated[TaskId, Path(pattern=r"^[A-Za-z0-9_-]{1,128}$", description="Id of a task")]


@router.get("/tasks", response_model=TaskPage)
def list_tasks(
    scope: InInstance,
    here: Here,
    page: Paged,
    status: Annotated[TaskStatus, Query()] = "pending",
    all: Annotated[bool, Query(description="Also what waits for others, if you may")] = False,
) -> Response:
    """List the tasks that wait for you or for whom you stand in, the newest first."""
    found = here.tasks.list(
        scope,
        status=stored.TaskStatus(status),
        mine=not all,
        cursor=page.cursor,
        limit=page.limit,
    )
    return shown(TaskPage(items=[Task.of(task) for task in found.items], cursor=found.cursor))


@router.get("/tasks/{task}", response_model=Task)
def get_task(scope: InInstance, here: Here, task: TaskInPath) -> Response:
    """Show a task."""
    return shown(Task.of(here.tasks.get(scope, task)))


@router.post("/tasks/{task}/decide", response_model=Task)
def decide_task(scope: InInstance, here: Here, task: TaskInPath, body: Decide) -> Response:
    """Answer a task that is yours; its run goes on when there are enough answers."""
    decided = here.tasks.decide(scope, task, body.port, body.data, comment=body.comment)
    return shown(Task.of(decided))


@router.post("/tasks/{task}/delegate", response_model=Task)
def delegate_task(scope: InInstance, here: Here, task: TaskInPath, body: Delegate) -> Response:
    """Hand a task on to another user of the instance; of several asked, only your part."""
    return shown(Task.of(here.tasks.delegate(scope, task, UserId(body.to))))


@router.post("/tasks/{task}/cancel", response_model=Task)
def cancel_task(scope: InInstance, here: Here, task: TaskInPath) -> Response:
    """Cancel a task, and with it its run."""
    return shown(Task.of(here.tasks.cancel(scope, task)))
