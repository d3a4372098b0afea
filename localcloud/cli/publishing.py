"""`publish`: a workflow file becomes a version with its own state machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localcloud.cli.arguments import read_workflow, slug_of
from localcloud.cli.connection import Connection, connected
from localcloud.cli.output import AsJson, Output, command
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.model import Version, Workflow

app = typer.Typer()


@app.command()
@command
def publish(
    file: Annotated[Path, typer.Argument(help="A workflow as JSON.", metavar="FILE")],
    slug: Annotated[str | None, typer.Option(help="Its name; else that of the file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a workflow file: new runs take this version, running ones keep theirs."""
    output = Output(as_json=as_json)
    with connected() as connection:
        workflow, version = publish_file(connection, file, slug=slug)
    data: JsonObject = {
        "workflow": workflow.id,
        "slug": workflow.slug,
        "version": version.number,
        "hash": version.graph_hash,
        "machines": {**version.machines},
    }
    output.answer(data, f"published {workflow.slug} as version {version.number}")


def publish_file(
    connection: Connection, file: Path, *, slug: str | None = None
) -> tuple[Workflow, Version]:
    """Publish the file; what is published already under that name stays as it is."""
    graph = read_workflow(file)
    return connection.services.workflows.publish(
        connection.scope, graph, slug=slug or slug_of(file)
    )
