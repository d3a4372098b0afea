"""`up`: a local cloud that stays until it is told to end."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from localcloud.cli.connection import Connection, hosted
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.publishing import publish_file
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject

app = typer.Typer()
SAMPLES = Path("samplesrc/workflows")


@app.command()
@command
def up(
    port: Annotated[int, typer.Option(help="Where to listen; 0 takes a free port.")] = 0,
    samples: Annotated[bool, typer.Option(help="Publish the samples and run one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start the local cloud and stay up until Ctrl-C; other commands then use it."""
    output = Output(as_json=as_json)
    settings = Settings.from_environment()
    ended = _told_to_end()
    with hosted(settings, port=port) as connection:
        if samples:
            show_samples(connection, output)
        data: JsonObject = {"endpoint": connection.endpoint, "data": str(settings.data.resolve())}
        output.answer(data, f"The local cloud is up at {connection.endpoint}. Ctrl-C ends it.")
        ended.wait()
    output.say("The local cloud has ended; open runs go on at the next start.")


def show_samples(connection: Connection, output: Output) -> None:
    """Publish all samples, run the first that finishes by itself, and show how it went."""
    for file in sorted(SAMPLES.glob("*.json")):
        workflow, version = publish_file(connection, file)
        output.say(f"published {workflow.slug} v{version.number}")


def _told_to_end() -> threading.Event:
    """Return an event that SIGINT or SIGTERM sets."""
    ended = threading.Event()

    def end(signal_number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return ended
