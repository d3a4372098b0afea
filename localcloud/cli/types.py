"""`types`: what a workflow can be made of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.parameters import parameter_table
from localcloud.cli.rendering import type_table
from stellwerk.catalogue.model import NodeType
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject

app = typer.Typer()


@app.command("types")
@command
def types(
    name: Annotated[str | None, typer.Argument(help="One type, in full.", metavar="TYPE")] = None,
    as_json: AsJson = False,
) -> None:
    """List the node types and actions, or tell everything about one; --json adds its schemas."""
    output = Output(as_json=as_json)
    catalogue = StoredCatalogue()
    if name is None:
        found = catalogue.types()
        output.answer([_as_json(each) for each in found], type_table(found))
        return
    declared = catalogue.find(name)
    if declared is None:
        raise NotFound(
            f"There is no node type '{name}'.", remedy="`stellwerk types` lists those that are."
        )
    output.answer(
        _as_json(declared), type_table([declared]), "", parameter_table(declared.parameters)
    )


def _as_json(declared: NodeType) -> JsonObject:
    fields: JsonObject = {**asdict(declared), "ports": list(declared.ports)}
    return {**fields, "retry": list(declared.retry), "aliases": list(declared.aliases)}
