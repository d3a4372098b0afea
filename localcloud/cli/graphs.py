"""`validate` and `compile`: a workflow file looked at, without any cloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from localcloud.cli.arguments import read_workflow, slug_of
from localcloud.cli.mermaid import mermaid
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import fault_table
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.faults import faults_of
from stellwerk.workflows.compile import Compiled, CompileOptions, compile_graph
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.faults import Fault, InvalidGraph, errors
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.press import with_faults_of_triggers

app = typer.Typer()
File = Annotated[Path, typer.Argument(help="A workflow as JSON.", metavar="FILE")]


@app.command("validate")
@command
def check(file: File, as_json: AsJson = False) -> None:
    """Say everything that is wrong with a workflow file, and how to mend it."""
    output = Output(as_json=as_json)
    graph, faults = checked(file)
    data: JsonObject = {
        "valid": True,
        "nodes": len(graph.nodes),
        "hash": graph_hash(graph),
        "faults": [fault.as_json() for fault in faults],
    }
    words = f"{file} is valid: {len(graph.nodes)} nodes, {len(graph.edges)} edges."
    output.answer(data, *([fault_table(faults)] if faults else []), words)


@app.command("compile")
@command
def compile_(
    file: File,
    out: Annotated[
        Path | None, typer.Option(help="Write here: a file, or with child machines a folder.")
    ] = None,
    diagram: Annotated[bool, typer.Option(help="Draw the graph as Mermaid instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compile a workflow file to the States Language."""
    output = Output(as_json=as_json)
    graph, _ = checked(file)
    catalogue = StoredCatalogue()
    if diagram:
        drawing = mermaid(graph, catalogue)
        _deliver(output, {"diagram": drawing}, {slug_of(file) + ".mmd": drawing}, out)
        return
    options = CompileOptions(comment=slug_of(file))
    compiled = compile_graph(graph, catalogue, options)
    _deliver(output, _machines(compiled), _files(file, compiled), out)


def checked(file: Path) -> tuple[Graph, tuple[Fault, ...]]:
    """Return a file's graph and its warnings; raise InvalidGraph with all faults otherwise."""
    graph = read_workflow(file)
    found = GraphCompiler().check(graph, StoredCatalogue(), _Trusted())
    faults = with_faults_of_triggers(found, graph, _Drawn())
    if errors(faults):
        raise InvalidGraph(faults, graph=graph)
    return graph, tuple(faults)


class _Drawn:
    """Knows triggers as they are drawn, and arms none."""

    def changed(self, scope: Scope, workflow: WorkflowId) -> None:
        """Do nothing."""

    def faults(self, graph: Graph) -> Iterator[Fault]:
        yield from faults_of(graph)


class _Trusted:
    """Believes that what a graph names is there: only publishing, with a cloud, can know."""

    def kind(self, wanted: str, name: str) -> str | None:
        return wanted


def _machines(compiled: Compiled) -> JsonObject:
    children: JsonObject = {str(loop): text for loop, text in compiled.children.items()}
    return {
        "hash": compiled.graph_hash,
        "definition": compiled.definition,
        "children": children,
        "gated": [str(key) for key in sorted(compiled.gated)],
    }


def _files(file: Path, compiled: Compiled) -> dict[str, str]:
    """Return the machines as people read them, by file name."""
    name = slug_of(file)
    texts = {f"{name}.{loop}.asl.json": text for loop, text in compiled.children.items()}
    texts = {f"{name}.asl.json": compiled.definition, **texts}
    return {name: _laid_out(text) for name, text in texts.items()}


def _laid_out(definition: str) -> str:
    """Return JSON on many lines, its members in their order: the same text for the same graph."""
    return json.dumps(json.loads(definition), ensure_ascii=False, indent=2) + "\n"


def _deliver(output: Output, data: JsonObject, files: dict[str, str], out: Path | None) -> None:
    """Write the files to `out`, one file or a folder; without it, to standard output."""
    if out is None:
        if output.as_json:
            output.answer(data)
            return
        for text in files.values():
            typer.echo(text.rstrip("\n"))
        return
    if len(files) == 1 and not out.is_dir():
        targets = {out: next(iter(files.values()))}
    else:
        out.mkdir(parents=True, exist_ok=True)
        targets = {out / name: text for name, text in files.items()}
    for target, text in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        output.say(f"wrote {target}")
    if output.as_json:
        output.answer({"files": [str(target) for target in targets]})
