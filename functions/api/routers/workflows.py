"""Workflows: begin, find, set, hand on, share, carry."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.conditions import Matching, tag_of
from api.models.graphs import Fault
from api.models.versions import Version
from api.models.workflows import (
    Begun,
    CopyFrom,
    ImportReport,
    NewWorkflow,
    Shared,
    SharedPage,
    Transfer,
    Workflow,
    WorkflowChanges,
    WorkflowPage,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows import model as stored
from stellwerk.workflows.carrying import Document

router = operations(tags=["workflows"])
WorkflowInPath = Annotated[WorkflowId, Path(pattern=ID, description="Id of a workflow")]


@router.get("/workflows", response_model=WorkflowPage)
def list_workflows(
    scope: InInstance,
    here: Here,
    page: Paged,
    query: Annotated[str, Query(max_length=100, description="Beginnings of words")] = "",
    tag: Annotated[str, Query(max_length=40)] = "",
    active: Annotated[bool | None, Query()] = None,
    mine: Annotated[bool, Query(description="Only those that are yours")] = False,
) -> Response:
    """List workflows by short name. All filters hold together."""
    found = here.workflows.list(
        scope,
        query=query,
        tag=tag,
        active=active,
        mine=mine,
        cursor=page.cursor,
        limit=page.limit,
    )
    items = [Workflow.of(workflow) for workflow in found.items]
    return shown(WorkflowPage(items=items, cursor=found.cursor))


@router.post("/workflows", response_model=Begun, status_code=201)
def create_workflow(
    scope: InInstance, here: Here, creating: Creating, body: NewWorkflow
) -> Response:
    """Begin a workflow with its first draft, empty or of a graph, which may be faulty."""

    def make() -> Created:
        workflow, draft = here.workflows.create(scope, body.title, body.slug, body.graph)
        faults = here.workflows.validate(scope, body.graph) if body.graph else ()
        begun = Begun(
            workflow=Workflow.of(workflow), draft=Version.of(draft), faults=Fault.all_of(faults)
        )
        return Created(begun, _location(scope, workflow), tag_of(workflow))

    return creating.answer(scope, body, make)


@router.post("/workflows/import", response_model=ImportReport, status_code=201)
def import_workflow(scope: InInstance, here: Here, creating: Creating, body: Document) -> Response:
    """Begin a workflow from an exported document: all its versions become drafts."""

    def make() -> Created:
        made = here.workflows.import_(scope, body)
        report = ImportReport(
            workflow=Workflow.of(made.workflow),
            versions=[Version.of(version) for version in made.versions],
            faults={str(number): Fault.all_of(found) for number, found in made.faults.items()},
        )
        return Created(report, _location(scope, made.workflow), tag_of(made.workflow))

    return creating.answer(scope, body, make)


@router.get("/shared", response_model=SharedPage)
def list_shared_workflows(scope: InInstance, here: Here, page: Paged) -> Response:
    """List what the instances of this mandate share, by short name."""
    found = here.workflows.shared(scope, cursor=page.cursor, limit=page.limit)
    return shown(SharedPage(items=[Shared.of(one) for one in found.items], cursor=found.cursor))


@router.post("/shared/{workflow}/copy", response_model=Begun, status_code=201)
def copy_shared_workflow(
    scope: InInstance, here: Here, creating: Creating, workflow: WorkflowInPath, body: CopyFrom
) -> Response:
    """Begin a workflow here with the graph of one that another instance shares."""

    def make() -> Created:
        copied, draft, faults = here.workflows.copy(scope, body.instance, workflow)
        begun = Begun(
            workflow=Workflow.of(copied), draft=Version.of(draft), faults=Fault.all_of(faults)
        )
        return Created(begun, _location(scope, copied), tag_of(copied))

    return creating.answer(scope, body, make)


@router.get("/workflows/{workflow}", response_model=Workflow)
def get_workflow(
    scope: InInstance,
    here: Here,
    workflow: Annotated[WorkflowId, Path(pattern=ID, description="Id or short name")],
) -> Response:
    """Show a workflow."""
    return _shown(here.workflows.find(scope, workflow))


@router.patch("/workflows/{workflow}", response_model=Workflow)
def update_workflow(
    scope: InInstance,
    here: Here,
    match: Matching,
    workflow: WorkflowInPath,
    body: WorkflowChanges,
) -> Response:
    """Change a workflow's settings; what is not given stays as it is."""
    changed = match.edit(
        Workflow.of,
        lambda revision: here.workflows.update(scope, workflow, revision, body.changes),
    )
    return _shown(changed)


@router.post("/workflows/{workflow}/activate", response_model=Workflow)
def activate_workflow(scope: InInstance, here: Here, workflow: WorkflowInPath) -> Response:
    """Let a workflow's triggers start runs."""
    return _shown(here.workflows.activate(scope, workflow))


@router.post("/workflows/{workflow}/deactivate", response_model=Workflow)
def deactivate_workflow(scope: InInstance, here: Here, workflow: WorkflowInPath) -> Response:
    """Let a workflow's triggers start nothing; its runs go on."""
    return _shown(here.workflows.deactivate(scope, workflow))


@router.post("/workflows/{workflow}/transfer", response_model=Workflow)
def transfer_workflow(
    scope: InInstance, here: Here, workflow: WorkflowInPath, body: Transfer
) -> Response:
    """Make another user of the instance the owner, for whom automatic runs act."""
    return _shown(here.workflows.transfer(scope, workflow, body.owner))


@router.post("/workflows/{workflow}/share", response_model=Workflow)
def share_workflow(scope: InInstance, here: Here, workflow: WorkflowInPath) -> Response:
    """Let the mandate's other instances copy a workflow."""
    return _shown(here.workflows.share(scope, workflow))


@router.post("/workflows/{workflow}/unshare", response_model=Workflow)
def unshare_workflow(scope: InInstance, here: Here, workflow: WorkflowInPath) -> Response:
    """Let nobody copy a workflow any more; copies stay."""
    return _shown(here.workflows.unshare(scope, workflow))


@router.get("/workflows/{workflow}/export", response_model=Document)
def export_workflow(scope: InInstance, here: Here, workflow: WorkflowInPath) -> Response:
    """Export a workflow with all its versions, as a document that names no user and no tenant."""
    return shown(here.workflows.export(scope, workflow))


def _shown(workflow: stored.Workflow) -> Response:
    return shown(Workflow.of(workflow), tag=tag_of(workflow))


def _location(scope: Scope, workflow: stored.Workflow) -> str:
    return f"{place(scope)}/workflows/{workflow.id}"
