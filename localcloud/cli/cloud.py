"""`up`: a local cloud that stays until it is told to end."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Group

from localcloud.cli.arguments import json_value, slug_of
from localcloud.cli.connection import Connection, hosting
from localcloud.cli.graphs import checked
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.publishing import publish_graph
from localcloud.cli.rendering import run_lines, step_table
from localcloud.cli.watching import Watch
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.faults import Code, InvalidGraph, errors
from stellwerk.workflows.graph import Graph

app = typer.Typer()
SAMPLES = Path("samplesrc/workflows")
"""Workflows, and beside each its inputs: `<workflow>.<case>.input.json`."""
SHOWN = SAMPLES / "invoice-approval.small.input.json"


@app.command()
@command
def up(
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes a free port.")] = 0,
    api_port: Annotated[
        int, typer.Option(help="Where the HTTP API listens; 0 takes a free port.")
    ] = 8400,
    samples: Annotated[bool, typer.Option(help="Publish the samples and run one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start the local cloud and stay up until Ctrl-C; other commands then use it."""
    output = Output(as_json=as_json)
    settings = Settings.from_environment()
    ended = _told_to_end()
    with hosting().hosted(settings, port, api_port=api_port) as connection:
        if samples:
            publish_samples(connection, output)
            show_sample(connection, output)
        data: JsonObject = {
            "endpoint": connection.endpoint,
            "api": connection.api,
            "data": str(settings.data.resolve()),
        }
        output.answer(
            data,
            f"The local cloud is up at {connection.endpoint}, its API at {connection.api}/api/v1."
            " Ctrl-C ends it.",
        )
        ended.wait()
    output.say("The local cloud has ended; open runs go on at the next start.")


def publish_samples(connection: Connection, output: Output, folder: Path = SAMPLES) -> None:
    """Publish all samples; those that call others come after these."""
    files = sorted(file for file in folder.glob("*.json") if "." not in file.stem)
    waiting = {file: checked(file)[0] for file in files}
    while waiting:
        published = [file for file, graph in waiting.items() if _published(connection, file, graph)]
        for file in published:
            output.say(f"published {slug_of(file)}")
            del waiting[file]
        if not published:
            file, graph = next(iter(waiting.items()))
            publish_graph(connection, graph, slug_of(file))


def show_sample(connection: Connection, output: Output, file: Path = SHOWN) -> None:
    """Run a sample with one of its inputs, and show its steps.

    The input is one delivery, so that starting the cloud again shows the same run.
    """
    started = connection.services.runs.start(
        connection.scope,
        file.name.split(".")[0],
        payload=json_value(f"@{file}", "--input"),
        delivery=f"sample {file.name}",
    )
    view = Watch(connection, output).until_rest(started.id)
    output.say(Group(*run_lines(view), step_table(view.nodes)))


def _published(connection: Connection, file: Path, graph: Graph) -> bool:
    """Publish a sample unless it calls one that is not published yet."""
    try:
        publish_graph(connection, graph, slug_of(file))
    except InvalidGraph as invalid:
        if {fault.code for fault in errors(invalid.faults)} == {Code.RESOURCE_MISSING}:
            return False
        raise
    return True


def _told_to_end() -> threading.Event:
    """Return an event that SIGINT or SIGTERM sets."""
    ended = threading.Event()

    def end(signal_number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return ended
