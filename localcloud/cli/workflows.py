"""`workflows`: which there are, their versions, what differs between two, and the way back."""

from __future__ import annotations

from typing import Annotated

import typer

from localcloud.cli.connection import connected
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import continued
from localcloud.cli.workflow_tables import diff_table, version_table, workflow_table
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.model import Version, Workflow

app = typer.Typer(invoke_without_command=True)
WorkflowArgument = Annotated[str, typer.Argument(help="A slug or id.", metavar="WORKFLOW")]
Limit = Annotated[int, typer.Option(min=1, max=100)]
Cursor = Annotated[str | None, typer.Option(help="Continue a list.")]


@app.callback()
@command
def workflows(
    context: typer.Context,
    query: Annotated[str, typer.Option(help="Only those with words that begin so.")] = "",
    limit: Limit = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List workflows by slug; or see to the versions of one."""
    if context.invoked_subcommand is not None:
        return
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        page = services.workflows.list(scope, query=query, cursor=cursor, limit=limit)
    data: JsonObject = {
        "workflows": [_workflow_json(each) for each in page.items],
        "cursor": page.cursor,
    }
    none = "No workflow is like that." if query else "No workflows: stellwerk publish makes one."
    output.answer(data, workflow_table(page.items) if page.items else none, *continued(page.cursor))


@app.command()
@command
def versions(
    workflow: WorkflowArgument, limit: Limit = 20, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List the versions of a workflow, the newest first."""
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        found = services.workflows.find(scope, workflow)
        page = services.workflows.versions(scope, found.id, cursor=cursor, limit=limit)
    data: JsonObject = {
        "workflow": found.id,
        "versions": [_version_json(each) for each in page.items],
        "cursor": page.cursor,
    }
    output.answer(data, version_table(page.items), *continued(page.cursor))


@app.command()
@command
def diff(
    workflow: WorkflowArgument,
    before: Annotated[int, typer.Argument(min=1, help="A version's number.", metavar="A")],
    after: Annotated[int, typer.Argument(min=1, help="Another one's.", metavar="B")],
    as_json: AsJson = False,
) -> None:
    """Say what version B has otherwise than version A."""
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        found = services.workflows.find(scope, workflow)
        told = services.workflows.diff(scope, found.id, before, after)
    data: JsonObject = told.model_dump(mode="json", by_alias=True)
    same = f"Versions {before} and {after} of {found.slug} have the same graph."
    table = diff_table(told)
    if not table:
        output.answer(data, same)
    elif told.same_meaning:
        output.answer(data, table, "Runs of the two cannot differ.")
    else:
        output.answer(data, table)


@app.command()
@command
def rollback(
    workflow: WorkflowArgument,
    number: Annotated[int, typer.Argument(min=1, help="A version's number.", metavar="VERSION")],
    as_json: AsJson = False,
) -> None:
    """Make a version that was published before the published one again; runs keep theirs."""
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        found = services.workflows.find(scope, workflow)
        back, version = services.workflows.roll_back(scope, found.id, number)
    data: JsonObject = {"workflow": _workflow_json(back), "version": _version_json(version)}
    output.answer(data, f"{back.slug} is version {version.number} again")


def _workflow_json(workflow: Workflow) -> JsonObject:
    """Return what the API tells of a workflow, too, and machines look for."""
    shown: JsonObject = workflow.model_dump(
        mode="json",
        include={"id", "slug", "title", "created", "latest", "published", "active", "shared"},
    )
    return {**shown, "owner": workflow.created_by, "tags": [*workflow.tags]}


def _version_json(version: Version) -> JsonObject:
    shown: JsonObject = version.model_dump(
        mode="json",
        exclude={"graph", "machines", "definitions", "names", "plan", "rebuilt", "trial"}
        | {"revision", "workflow"},
    )
    return shown
