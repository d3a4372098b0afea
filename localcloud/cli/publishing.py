"""`publish`: a workflow file becomes a version with its own state machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localcloud.cli.arguments import slug_of
from localcloud.cli.connection import Connection, connected
from localcloud.cli.graphs import checked
from localcloud.cli.output import AsJson, Output, command
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.graph import Graph
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
    graph, _ = checked(file)
    with connected() as connection:
        workflow, version = publish_graph(connection, graph, slug or slug_of(file))
    data: JsonObject = {
        "workflow": workflow.id,
        "slug": workflow.slug,
        "version": version.number,
        "hash": version.graph_hash,
        "machines": {**version.machines},
    }
    output.answer(data, f"published {workflow.slug} as version {version.number}")


def publish_graph(connection: Connection, graph: Graph, slug: str) -> tuple[Workflow, Version]:
    """Publish under a name; what is published already under that name stays as it is."""
    return connection.services.workflows.publish(connection.scope, graph, slug=slug)
