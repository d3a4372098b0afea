"""Drafts and versions: edit, compare, and move from state to state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.conditions import Matching, tag_of
from api.graphs import BODY, InBody
from api.models.graphs import Fault
from api.models.versions import (
    Draft,
    NewDraft,
    Publish,
    SavedDraft,
    Version,
    VersionPage,
)
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows import model as stored
from stellwerk.workflows.diff import Diff
from stellwerk.workflows.graph import Graph

router = operations("/workflows/{workflow}")
WorkflowInPath = Annotated[WorkflowId, Path(pattern=ID, description="Id of a workflow")]
NumberInPath = Annotated[int, Path(ge=1, le=99_999_999, description="Number of a version")]


@router.get("/drafts", response_model=VersionPage, tags=["drafts"])
def list_drafts(scope: InInstance, here: Here, page: Paged, workflow: WorkflowInPath) -> Response:
    """List the versions that can be edited in place, the newest first. A page may be short."""
    found = here.workflows.versions(scope, workflow, cursor=page.cursor, limit=page.limit)
    items = [Version.of(version) for version in found.items if version.fresh]
    return shown(VersionPage(items=items, cursor=found.cursor))


@router.post("/drafts", response_model=Draft, status_code=201, tags=["drafts"])
def create_draft(
    scope: InInstance, here: Here, creating: Creating, workflow: WorkflowInPath, body: NewDraft
) -> Response:
    """Make a draft from a version; that one stays as it is."""

    def make() -> Created:
        made = here.workflows.new_draft(scope, workflow, body.source)
        location = f"{place(scope)}/workflows/{workflow}/drafts/{made.number}"
        return Created(_view(here, scope)(made), location, tag_of(made))

    return creating.answer(scope, body, make)


@router.get("/drafts/{number}", response_model=Draft, tags=["drafts"])
def get_draft(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Show a version with its graph, to edit it."""
    found = here.workflows.version(scope, workflow, number)
    return shown(_view(here, scope)(found), tag=tag_of(found))


@router.put("/drafts/{number}", response_model=SavedDraft, tags=["drafts"], openapi_extra=BODY)
def save_draft(
    scope: InInstance,
    here: Here,
    match: Matching,
    workflow: WorkflowInPath,
    number: NumberInPath,
    body: InBody,
) -> Response:
    """Save a graph, which may be faulty, and return all that is wrong with it.

    A version that was published once stays as it is: the graph becomes a new draft.
    """
    graph = body.read()
    saved, faults = match.edit(
        _view(here, scope),
        lambda revision: here.workflows.save_draft(scope, workflow, number, revision, graph),
    )
    view = SavedDraft(version=Version.of(saved), faults=Fault.all_of(faults))
    return shown(view, tag=tag_of(saved))


@router.get("/versions", response_model=VersionPage, tags=["versions"])
def list_versions(scope: InInstance, here: Here, page: Paged, workflow: WorkflowInPath) -> Response:
    """List a workflow's versions, the newest first."""
    found = here.workflows.versions(scope, workflow, cursor=page.cursor, limit=page.limit)
    items = [Version.of(version) for version in found.items]
    return shown(VersionPage(items=items, cursor=found.cursor))


@router.get("/versions/{number}", response_model=Version, tags=["versions"])
def get_version(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Show a version without its graph."""
    return _shown(here.workflows.version(scope, workflow, number))


@router.get("/versions/{number}/graph", response_model=Graph, tags=["versions"])
def get_version_graph(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Show the graph of a version."""
    found = here.workflows.version(scope, workflow, number)
    return shown(here.workflows.graph(scope, found), tag=tag_of(found))


@router.get("/versions/{number}/diff/{other}", response_model=Diff, tags=["versions"])
def compare_versions(
    scope: InInstance,
    here: Here,
    workflow: WorkflowInPath,
    number: NumberInPath,
    other: Annotated[int, Path(ge=1, le=99_999_999, description="Number of the other version")],
) -> Response:
    """Say what version `other` has otherwise than version `number`."""
    return shown(here.workflows.diff(scope, workflow, number, other))


@router.post("/versions/{number}/publish", response_model=Version, tags=["versions"])
def publish_version(
    scope: InInstance,
    here: Here,
    match: Matching,
    workflow: WorkflowInPath,
    number: NumberInPath,
    body: Publish,
) -> Response:
    """Publish a draft as you have seen it; the version that was published is archived."""
    _, published = match.edit(
        _view(here, scope),
        lambda revision: here.workflows.publish_version(
            scope, workflow, number, revision, body.note
        ),
    )
    return _shown(published)


@router.post("/versions/{number}/unpublish", response_model=Version, tags=["versions"])
def unpublish_version(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Make the published version a draft again; its runs go on, nothing new starts."""
    return _shown(here.workflows.unpublish(scope, workflow, number)[1])


@router.post("/versions/{number}/archive", response_model=Version, tags=["versions"])
def archive_version(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Archive the published version; its runs go on, nothing new starts."""
    return _shown(here.workflows.archive(scope, workflow, number)[1])


@router.post("/versions/{number}/republish", response_model=Version, tags=["versions"])
def republish_version(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Publish an archived version again, as it is."""
    return _shown(here.workflows.republish(scope, workflow, number)[1])


@router.post("/versions/{number}/rollback", response_model=Version, tags=["versions"])
def roll_back_version(
    scope: InInstance, here: Here, workflow: WorkflowInPath, number: NumberInPath
) -> Response:
    """Make a version that was published before the published one again."""
    return _shown(here.workflows.roll_back(scope, workflow, number)[1])


def _shown(version: stored.Version) -> Response:
    return shown(Version.of(version), tag=tag_of(version))


def _view(here: ApiServices, scope: Scope) -> Callable[[stored.Version], Draft]:
    """Return how a version is shown with its graph."""
    return lambda version: Draft.with_graph(version, here.workflows.graph(scope, version))
