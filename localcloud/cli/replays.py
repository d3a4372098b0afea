"""`replays`: many failed runs of a workflow, replayed by canary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from localcloud.cli.arguments import json_value, pairs
from localcloud.cli.connection import connected
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import continued
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.jobs import Job, MemberStatus, Wanted

app = typer.Typer(invoke_without_command=True)
ReplayArgument = Annotated[str, typer.Argument(help="A replay's id.", metavar="REPLAY")]
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]


@app.callback()
@command
def replays(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 20,
    cursor: Annotated[str | None, typer.Option(help="Continue a list.")] = None,
    as_json: AsJson = False,
) -> None:
    """List replays of many runs, the newest first; or see to one."""
    if context.invoked_subcommand is not None:
        return
    output = Output(as_json=as_json)
    with connected() as connection:
        page = connection.services.rerunning.list(connection.scope, cursor=cursor, limit=limit)
    data: JsonObject = {"replays": [_json(each) for each in page.items], "cursor": page.cursor}
    none = "No replays: stellwerk replays start WORKFLOW begins one."
    output.answer(data, _table(page.items) if page.items else none, *continued(page.cursor))


@app.command()
@command
def start(
    workflow: Annotated[str, typer.Argument(help="A slug or id.", metavar="WORKFLOW")],
    version: Annotated[int | None, typer.Option(min=1, help="They ran on this version.")] = None,
    error: Annotated[str | None, typer.Option(help="They failed with this type of error.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=_TIMES, help="Started then or later.")
    ] = None,
    until: Annotated[datetime | None, typer.Option(formats=_TIMES, help="Started before.")] = None,
    target: Annotated[
        int | None, typer.Option(min=1, help="Replay on this version; else the published one.")
    ] = None,
    assume_done: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP=JSON", help="Where uncertain, it has happened: its value."),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP", help="Where uncertain, it has not happened: do it again."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Writes that happen again are meant to.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Replay failed runs: one, then ten, then all, until one fails again."""
    output = Output(as_json=as_json)
    done = {
        step: json_value(text, "--assume-done")
        for step, text in pairs(assume_done or [], "--assume-done").items()
    }
    with connected() as connection:
        job = connection.services.rerunning.begin(
            connection.scope,
            workflow,
            wanted=Wanted(version=version, since=_aware(since), until=_aware(until), error=error),
            version=target,
            assume_done=done,
            repeat=frozenset(repeat or []),
            confirm_writes=yes,
        )
    output.answer(_json(job), _table([job]), f"stellwerk replays show {job.id} says how far it is")


@app.command()
@command
def show(replay: ReplayArgument, as_json: AsJson = False) -> None:
    """Tell how far a replay is, and what has become of each run."""
    output = Output(as_json=as_json)
    with connected() as connection:
        job = connection.services.rerunning.get(connection.scope, replay)
    members: list[JsonObject] = [one.model_dump(mode="json") for one in job.members]
    data: JsonObject = {**_json(job), "runs": [*members]}
    why = [job.reason] if job.reason else []
    output.answer(data, _table([job]), *why, _members(job))


@app.command()
@command
def cancel(replay: ReplayArgument, as_json: AsJson = False) -> None:
    """Start no further replay; those under way go on."""
    output = Output(as_json=as_json)
    with connected() as connection:
        job = connection.services.rerunning.cancel(connection.scope, replay)
    output.answer(_json(job), f"cancelled: {job.counts[MemberStatus.PENDING]} were not replayed")


def _aware(moment: datetime | None) -> datetime | None:
    return moment.astimezone() if moment is not None else None


def _json(job: Job) -> JsonObject:
    counts: JsonObject = {status.value: count for status, count in job.counts.items()}
    told = job.model_dump(
        mode="json",
        include={"id", "workflow", "version", "user", "created", "ended", "status", "reason"},
    )
    return {**told, **counts, "total": len(job.members)}


def _table(jobs: Sequence[Job]) -> Listing:
    table = Listing(
        Column("replay", Fit.NAME),
        Column("status"),
        *(Column(status.value) for status in MemberStatus),
    )
    for job in jobs:
        numbers = (str(count) for count in job.counts.values())
        table.add(job.id, job.status.value, *numbers)
    return table


def _members(job: Job) -> Listing:
    table = Listing(
        Column("run", Fit.NAME),
        Column("status"),
        Column("replayed by", Fit.NAME),
        Column("note", Fit.TEXT),
    )
    for one in job.members:
        table.add(one.source, one.status.value, one.run or "", one.note)
    return table
