"""Schedules: when runs start by the clock, what became of the last times, and what was missed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance
from api.models.schedules import (
    SchedulePage,
    ScheduleParameters,
    SchedulePreview,
    ScheduleReport,
    WorkflowSchedules,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import shown
from stellwerk.kernel.ids import WorkflowId
from stellwerk.triggers.schedules.timing import BadSchedule

router = operations(tags=["schedules"])


@router.get("/schedules", response_model=SchedulePage)
def list_schedules(scope: InInstance, here: Here, page: Paged) -> Response:
    """List the instance's schedules by workflow, with its last times that were late or missed."""
    desk = here.schedules.desk
    return shown(SchedulePage.of(desk.of_instance(scope, cursor=page.cursor, limit=page.limit)))


@router.post("/schedules/preview", response_model=SchedulePreview)
def preview_schedule(scope: InInstance, here: Here, body: ScheduleParameters) -> Response:
    """Tell when a schedule of these parameters would be due, or what is wrong with them."""
    try:
        return shown(SchedulePreview.of(here.schedules.desk.preview(body.parameters)))
    except BadSchedule as bad:
        return shown(SchedulePreview.faulty(bad.faults))


@router.post("/schedules/reconcile", response_model=ScheduleReport)
def reconcile_schedules(scope: InInstance, here: Here) -> Response:
    """Compare the instance's schedules with EventBridge Scheduler, and mend what differs."""
    return shown(ScheduleReport.of(here.schedules.desk.reconcile(scope)))


@router.get("/workflows/{workflow}/schedules", response_model=WorkflowSchedules)
def get_workflow_schedules(
    scope: InInstance,
    here: Here,
    workflow: Annotated[WorkflowId, Path(pattern=ID, description="Id or short name")],
) -> Response:
    """Show a workflow's schedules: how they are registered, their next times, their last 50."""
    return shown(WorkflowSchedules.of(here.schedules.desk.of_workflow(scope, workflow)))
