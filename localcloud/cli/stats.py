"""`watch` and `stats`: what happens in a run, and how runs are doing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Protocol, cast

import typer
from rich.table import Table

from localcloud.cli.connection import Connection, connected
from localcloud.cli.output import AsJson, Exit, Output, command
from stellwerk.bootstrap import Services
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import RunStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.model import Happening
from stellwerk.watching.tallies import Tally

app = typer.Typer()
_FAILED = {Happening.RUN_FAILED, Happening.RUN_CANCELLED}


class Watched(Protocol):
    """Events and numbers, wherever they come from."""

    def events(self, run: str, after: int) -> Iterator[JsonObject]:
        """Yield events of a run behind a number, up to the one that ends it."""

    def stats(self, workflow: str | None, since: str | None, until: str | None) -> JsonObject:
        """Return how the runs of a workflow are doing, or of the instance."""


class _Remote(Protocol):
    """The services at an API, as seen from here."""

    watching: Watched


@dataclass(frozen=True)
class LocalWatching:
    """Those of a local cloud."""

    services: Services
    scope: Scope
    pause: float

    def events(self, run: str, after: int) -> Iterator[JsonObject]:
        """Yield events, looking again and again."""
        happenings = self.services.watching.events_for(self.services.runs)
        while not happenings.told(self.scope, RunId(run), after):
            found = happenings.read(self.scope, RunId(run), after=after)
            for event in found:
                after = event.seq
                shown: JsonObject = event.model_dump(mode="json", exclude_defaults=True)
                yield shown
            if not found:
                time.sleep(self.pause)

    def stats(self, workflow: str | None, since: str | None, until: str | None) -> JsonObject:
        """Return the numbers as the API does."""
        monitoring = self.services.watching.monitoring
        period = monitoring.period(_day(since), _day(until))
        report = (
            monitoring.of_workflow(self.scope, WorkflowId(workflow), period)
            if workflow
            else monitoring.of_instance(self.scope, period)
        )
        days: list[JsonObject] = [
            {"day": day, **_counts(report.days[day])} for day in sorted(report.days)
        ]
        now = {str(status): report.open.get(status, 0) for status in RunStatus if status.open}
        return {
            "since": period.since,
            "until": period.until,
            "open": {**now},
            "total": _counts(report.total),
            "days": [*days],
        }


@app.command()
@command
def watch(
    run_id: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    after: Annotated[int, typer.Option(min=0, help="Only events behind this number.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Tell what happens in a run until it is over; with --json an event a line."""
    output = Output(as_json=as_json)
    kind = ""
    with connected() as connection:
        for event in _watched(connection).events(run_id, after):
            kind = str(event["kind"])
            if as_json:
                typer.echo(json.dumps(event, ensure_ascii=False))
            else:
                output.say(_line(event))
    if kind in _FAILED:
        raise typer.Exit(Exit.FAILED)


@app.command()
@command
def stats(
    workflow: Annotated[str | None, typer.Option(help="Only of this workflow: slug or id.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="From: 2026-12-01.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="The last day.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how runs are doing, by the day on which they ended."""
    output = Output(as_json=as_json)
    for day in (since, until):
        _day(day)
    with connected() as connection:
        only = None
        if workflow:
            only = connection.services.workflows.find(connection.scope, workflow).id
        data = _watched(connection).stats(only, since, until)
    output.answer(data, _table(data))


def _watched(connection: Connection) -> Watched:
    services = connection.services
    if isinstance(services, Services):
        return LocalWatching(services, connection.scope, max(connection.pause, 0.1))
    return cast("_Remote", services).watching


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"'{text}' is no day.", remedy="Write 2026-12-01.") from error


def _line(event: JsonObject) -> str:
    at = str(event["at"])[11:19]
    words = [f"{event['seq']:>5} {at}", str(event.get("step", "")), str(event["kind"])]
    if event.get("port"):
        words.append(f"→ {event['port']}")
    problem = event.get("error")
    if isinstance(problem, dict):
        words.append(f"{problem['type']}: {problem['message']}")
    counts = event.get("counts")
    if isinstance(counts, dict):
        words.append(json.dumps(counts))
    return " ".join(word for word in words if word)


def _table(data: JsonObject) -> Table:
    table = Table("day", "completed", "failed", "cancelled", "failing", "p50", "p95", "steps")
    days = data["days"]
    assert isinstance(days, list)
    for row in (*days, {"day": "all", **cast("JsonObject", data["total"])}):
        assert isinstance(row, dict)
        table.add_row(*_cells(row))
    now = cast("JsonObject", data["open"])
    table.caption = "now " + ", ".join(f"{count} {name}" for name, count in now.items())
    return table


def _cells(row: JsonObject) -> Iterator[str]:
    for name in ("day", "completed", "failed", "cancelled"):
        yield str(row[name])
    rate = row["failure_rate"]
    yield f"{rate:.1%}" if isinstance(rate, float) else "-"
    for name in ("p50_ms", "p95_ms"):
        took = row[name]
        yield f"{took / 1000:.1f} s" if isinstance(took, int) else "-"
    yield str(row["steps"])


def _counts(tally: Tally) -> JsonObject:
    return {
        "completed": tally.completed,
        "failed": tally.failed,
        "cancelled": tally.cancelled,
        "tests": tally.tests,
        "failure_rate": tally.failure_rate,
        "p50_ms": tally.percentile(0.5),
        "p95_ms": tally.percentile(0.95),
        "steps": tally.steps,
        "attempts": tally.attempts,
        "cost_chf": 0.0,
    }
