"""`run`, `runs`, `show`, `cancel` and `replay`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from localcloud.cli.arguments import answers, is_file, json_value, pairs, slug_of
from localcloud.cli.calls import DEEPEST, DEPTH, calls_json, calls_of
from localcloud.cli.connection import Connection, connected
from localcloud.cli.graphs import checked
from localcloud.cli.output import AsJson, Exit, Output, command
from localcloud.cli.publishing import publish_graph
from localcloud.cli.rendering import (
    call_parts,
    compared_table,
    continued,
    how_to_decide,
    run_lines,
    run_table,
    step_table,
)
from localcloud.cli.task_tables import task_table
from localcloud.cli.views import RunView, open_tasks, run_json, run_view
from localcloud.cli.watching import Watch
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey, RunId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import RunStatus, StepKey
from stellwerk.runs.partial import partial_of

app = typer.Typer()


class Kind(StrEnum):
    """How a run acts."""

    LIVE = "live"
    TEST = "test"
    DRY = "dry"


RunArgument = Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")]
Live = Annotated[bool, typer.Option("--watch", help="Show nodes changing state.")]
Decisions = Annotated[
    list[str] | None,
    typer.Option(
        "--decide",
        metavar="NODE=PORT[:JSON|:@FILE]",
        help="Decide a node's task as it opens, with what its form asks for: "
        """--decide ask=approved, --decide 'ask=approved:{"comment": "fine"}'.""",
    ),
]


@app.command()
@command
def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="WORKFLOW", help="A workflow file, which is published, or a slug or id."
        ),
    ],
    payload: Annotated[
        str | None, typer.Option("--input", metavar="JSON|@FILE", help="What the trigger gets.")
    ] = None,
    decide: Decisions = None,
    trigger: Annotated[str | None, typer.Option(help="The trigger to start at.")] = None,
    mode: Annotated[
        Kind, typer.Option(help="test: the latest version. dry: the same, and nothing is written.")
    ] = Kind.LIVE,
    from_node: Annotated[
        str | None, typer.Option("--from", metavar="NODE", help="Run this and what follows only.")
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="NODE", help="Run this node only.")] = None,
    pinned_from: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Whose values the nodes before --from or --only have."),
    ] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE=JSON|@FILE", help="The value of a node that does not run."),
    ] = None,
    watch: Live = False,
    as_json: AsJson = False,
) -> None:
    """Run a workflow, or a part of it, until it ends, or pauses for a person."""
    output = Output(as_json=as_json)
    data, decisions = json_value(payload, "--input"), answers(decide or [], "--decide")
    pinned = {
        NodeKey(node): json_value(text, "--pin") for node, text in pairs(pin or [], "--pin").items()
    }
    source = RunId(pinned_from) if pinned_from else None
    partial = partial_of(_key(from_node), _key(only), source)
    file = Path(target) if is_file(target) else None
    graph = checked(file)[0] if file else None
    with connected() as connection:
        workflow: str = target
        if file and graph:
            published, version = publish_graph(connection, graph, slug_of(file))
            output.say(f"published {published.slug} as version {version.number}")
            workflow = published.id
        started = connection.services.runs.start(
            connection.scope,
            workflow,
            trigger=_key(trigger),
            payload=data,
            mode=mode.value,
            pinned=pinned,
            partial=partial,
        )
        view = Watch(connection, output, live=watch).until_rest(started.id, decisions)
        report(connection, output, view)


@app.command()
@command
def runs(
    workflow: Annotated[str | None, typer.Option(help="Only of this workflow: slug or id.")] = None,
    status: Annotated[RunStatus | None, typer.Option(help="Only those that stand so.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 20,
    cursor: Annotated[str | None, typer.Option(help="Continue a list.")] = None,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first."""
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        only = WorkflowId(services.workflows.find(scope, workflow).id) if workflow else None
        page = services.runs.list(scope, workflow=only, status=status, cursor=cursor, limit=limit)
    data: JsonObject = {"runs": [run_json(each) for each in page.items], "cursor": page.cursor}
    none = "No run is like that." if workflow or status else "No runs: stellwerk run starts one."
    shown = run_table(page.items) if page.items else none
    output.answer(data, shown, *continued(page.cursor))


@app.command()
@command
def show(
    run_id: RunArgument,
    depth: Annotated[
        int,
        typer.Option(min=0, max=DEEPEST, help="How deep to follow the runs that it has called."),
    ] = DEPTH,
    cursor: Annotated[str | None, typer.Option(help="Go on with the steps of a long run.")] = None,
    watch: Live = False,
    as_json: AsJson = False,
) -> None:
    """Tell the story of a run: every node with status, port, tries, time, values and error."""
    output = Output(as_json=as_json)
    with connected() as connection:
        if watch:
            view = Watch(connection, output, live=True).until_rest(RunId(run_id))
        else:
            view = run_view(connection.services, connection.scope, RunId(run_id), cursor=cursor)
        _write(connection, output, view, depth)


@app.command()
@command
def compare(
    run_id: RunArgument,
    other: Annotated[str, typer.Argument(help="Another run's id.", metavar="OTHER")],
    as_json: AsJson = False,
) -> None:
    """Compare two runs step by step: where each stood, how long it took, whether it differs."""
    output = Output(as_json=as_json)
    with connected() as connection:
        runs = connection.services.runs
        steps = runs.compare(connection.scope, RunId(run_id), RunId(other))
    data: JsonObject = {"steps": [asdict(each) for each in steps]}
    output.answer(data, compared_table(steps))


@app.command()
@command
def cancel(run_id: RunArgument, as_json: AsJson = False) -> None:
    """Stop a run, with all that waits in it."""
    output = Output(as_json=as_json)
    with connected() as connection:
        run = connection.services.runs.cancel(connection.scope, RunId(run_id))
    output.answer(run_json(run), f"cancelled {run.title or run.workflow} v{run.version}")


@app.command()
@command
def replay(
    run_id: RunArgument,
    from_node: Annotated[
        str | None, typer.Option("--from", metavar="NODE", help="Run this and what follows again.")
    ] = None,
    assume_done: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP=JSON", help="An uncertain step has happened, with this value."),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP", help="An uncertain step has not happened: do it again."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Writes that happen again are meant to.")
    ] = False,
    decide: Decisions = None,
    watch: Live = False,
    as_json: AsJson = False,
) -> None:
    """Run again from a node, or from where the run failed; what is recorded does not run."""
    output = Output(as_json=as_json)
    done = {
        step: json_value(text, "--assume-done")
        for step, text in pairs(assume_done or [], "--assume-done").items()
    }
    decisions = answers(decide or [], "--decide")
    with connected() as connection:
        wish: _Wish = {
            "from_node": _key(from_node),
            "assume_done": done,
            "repeat": frozenset(repeat or []),
        }
        runs = connection.services.runs
        if not yes:
            _confirm(runs.writes_again(connection.scope, RunId(run_id), **wish), output)
        started = runs.replay(connection.scope, RunId(run_id), **wish)
        view = Watch(connection, output, live=watch).until_rest(started.id, decisions)
        report(connection, output, view)


def _key(text: str | None) -> NodeKey | None:
    return NodeKey(text) if text else None


class _Wish(TypedDict):
    """How to replay a run."""

    from_node: NodeKey | None
    assume_done: Mapping[str, JsonValue]
    repeat: frozenset[str]


def _confirm(again: Sequence[StepKey], output: Output) -> None:
    """Go on only if a person means the writes that would happen again."""
    if not again:
        return
    named = ", ".join(key.text for key in again)
    asked = output.screen.is_terminal and not output.as_json
    if asked and typer.confirm(f"These writes will happen again: {named}. Go on?", err=True):
        return
    raise BadInput(
        f"These writes would happen again: {named}.",
        remedy="Replay with --yes if that is meant, or with --assume-done STEP=JSON.",
    )


def report(connection: Connection, output: Output, view: RunView) -> None:
    """Write how the run stands, and end the command with 1 if it has failed or was cancelled."""
    _write(connection, output, view)
    if view.run.status in {RunStatus.FAILED, RunStatus.CANCELLED}:
        raise typer.Exit(Exit.FAILED)


def _write(connection: Connection, output: Output, view: RunView, depth: int = DEPTH) -> None:
    services, scope = connection.services, connection.scope
    calls = calls_of(services, scope, view, depth=depth)
    tasks = open_tasks(services, scope, view.run.id)
    data: JsonObject = {
        **view.as_json(),
        "calls": calls_json(calls),
        "tasks": [task.as_json() for task in tasks],
    }
    shown = step_table(view.nodes), *call_parts(calls), *continued(view.cursor)
    output.answer(data, *run_lines(view), *shown)
    if tasks and not output.as_json:
        output.answer(data, "", task_table(tasks), *how_to_decide(tasks))
