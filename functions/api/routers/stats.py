"""How runs are doing: of a mandate, an instance, a workflow; and what people are told."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.backend import Here
from api.caller import InInstance, InMandate
from api.models.base import Day
from api.models.stats import (
    MandateStats,
    Message,
    Messages,
    Stats,
    Waiting,
    WorkflowStats,
    WorkflowStatsPage,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import shown
from api.routers.workflows import WorkflowInPath

router = operations(tags=["stats"])
of_mandates = operations("/mandates/{mandate}/stats", tags=["stats"])
Since = Annotated[Day | None, Query(description="The first day; else 29 days before the last")]
Until = Annotated[Day | None, Query(description="The last day; else today")]


@of_mandates.get("", response_model=MandateStats)
def get_mandate_stats(
    scope: InMandate, here: Here, since: Since = None, until: Until = None
) -> Response:
    """Show how the runs of all instances are doing, for whoever may read the audit."""
    period = here.monitoring.period(since, until)
    found = here.monitoring.by_instance(scope, period)
    return shown(MandateStats.of(period, list(found)))


@router.get("/stats", response_model=Stats)
def get_stats(scope: InInstance, here: Here, since: Since = None, until: Until = None) -> Response:
    """Show how the runs of the instance are doing, day by day."""
    period = here.monitoring.period(since, until)
    return shown(Stats.of(here.monitoring.of_instance(scope, period)))


@router.get("/stats/workflows", response_model=WorkflowStatsPage)
def list_workflow_stats(
    scope: InInstance, here: Here, page: Paged, since: Since = None, until: Until = None
) -> Response:
    """Show how the runs of each workflow are doing: at most 25 workflows a page."""
    period = here.monitoring.period(since, until)
    found, cursor = here.monitoring.by_workflow(scope, period, cursor=page.cursor, limit=page.limit)
    items = [WorkflowStats.of(each) for each in found]
    return shown(WorkflowStatsPage(items=items, cursor=cursor))


@router.get("/workflows/{workflow}/stats", response_model=Stats)
def get_workflow_stats(
    scope: InInstance,
    here: Here,
    workflow: WorkflowInPath,
    since: Since = None,
    until: Until = None,
) -> Response:
    """Show how the runs of a workflow are doing, day by day."""
    period = here.monitoring.period(since, until)
    return shown(Stats.of(here.monitoring.of_workflow(scope, workflow, period)))


@router.get("/messages", response_model=Messages)
def list_messages(
    scope: InInstance,
    here: Here,
    limit: Annotated[int, Query(ge=1, le=100, description="How many of those sent")] = 50,
) -> Response:
    """List what people are told: what waits or could not be sent, and what was sent."""
    found = here.monitoring.messages(scope, limit=limit)
    return shown(
        Messages(
            waiting=[Waiting.of(bundle) for bundle in found.waiting],
            sent=[Message.of(sent) for sent in found.sent],
        )
    )
