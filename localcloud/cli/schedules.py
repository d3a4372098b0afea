"""`schedules`: when workflows start by the clock, and what became of the last times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Annotated, Protocol, cast

import typer
from rich.console import RenderableType

from localcloud.cli.connection import Connection, connected
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import continued
from stellwerk.bootstrap import Services
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope

app = typer.Typer()
RECONCILE = "reconcile"


class Clocks(Protocol):
    """The schedules of an instance, as the API shows them."""

    def of_workflow(self, workflow: str) -> JsonObject:
        """Return those of a workflow, with its last times."""

    def of_instance(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page of all, with the last times that were late or missed."""

    def reconcile(self) -> JsonObject:
        """Compare them with the Scheduler, mend what differs, and return what that was."""


class _Remote(Protocol):
    """The services at an API, as seen from here."""

    schedules: Clocks


class _Local(Protocol):
    """The module `local_schedules`, as seen from here."""

    def clocks(self, services: Services, scope: Scope) -> Clocks:
        """Return those of a local cloud."""


@app.command()
@command
def schedules(
    workflow: Annotated[
        str | None,
        typer.Argument(
            metavar="[WORKFLOW]",
            help=f"A workflow, by slug or id; or '{RECONCILE}': compare all with EventBridge "
            "Scheduler, and mend what differs.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    cursor: Annotated[str | None, typer.Option(help="Continue a list.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show when runs start by the clock next, what became of the last times, what was missed."""
    output = Output(as_json=as_json)
    with connected() as connection:
        clocks = clocks_of(connection)
        if workflow == RECONCILE:
            data, parts = clocks.reconcile(), _report
        elif workflow is not None:
            data, parts = clocks.of_workflow(workflow), _workflow
        else:
            data, parts = clocks.of_instance(cursor, limit), _instance
    output.answer(data, *parts(data))


def clocks_of(connection: Connection) -> Clocks:
    """Return the schedules that a connection reaches."""
    services = connection.services
    if not isinstance(services, Services):
        return cast("_Remote", services).schedules
    module = cast("_Local", import_module("localcloud.cli.local_schedules"))
    return module.clocks(services, connection.scope)


def _workflow(data: JsonObject) -> Iterator[RenderableType]:
    found, slots = _objects(data["items"]), _objects(data["slots"])
    if not found:
        yield "Nothing starts it by the clock: no active and published trigger.schedule."
    else:
        yield _schedules(found, times=5)
    if slots:
        yield ""
        yield _slots(slots)


def _instance(data: JsonObject) -> Iterator[RenderableType]:
    found = _objects(data["items"])
    yield _schedules(found, times=1) if found else "No workflow starts by the clock."
    for name in ("late", "missed"):
        slots = _objects(data[name])
        if slots:
            yield ""
            yield _slots(slots)
    cursor = data["cursor"]
    yield from continued(cursor if isinstance(cursor, str) else None)


def _report(data: JsonObject) -> Iterator[RenderableType]:
    repairs = _objects(data["repairs"])
    yield f"{data['compared']} schedules compared, {len(repairs)} things mended."
    if repairs:
        table = Listing(Column("what"), Column("workflow", Fit.NAME), Column("schedule", Fit.NAME))
        for one in repairs:
            table.add(str(one["kind"]), str(one["workflow"]), str(one["schedule"]))
        yield table


def _schedules(found: Iterable[JsonObject], *, times: int) -> Listing:
    table = Listing(
        Column("workflow", Fit.TEXT, 12),
        Column("trigger"),
        Column("next", Fit.TEXT, 25),
        Column("registered", Fit.TEXT, 16),
    )
    for one in found:
        due, registered = one["next"], _objects(one["registered"])
        shown = [str(each) for each in due[:times]] if isinstance(due, list) else []
        table.add(
            str(one["title"]),
            str(one["node"]),
            "\n".join(shown) or "never again",
            "\n".join(f"{each['expression']} {each['zone']}" for each in registered),
        )
    return table


def _slots(found: Iterable[JsonObject]) -> Listing:
    table = Listing(
        Column("time UTC"),
        Column("trigger"),
        Column("what"),
        Column("late"),
        Column("run", Fit.NAME),
        Column("why", Fit.TEXT, 20),
    )
    for one in found:
        late = one["late"]
        seconds = round(late) if isinstance(late, int | float) else 0
        table.add(
            str(one["at"]).replace("T", " ").removesuffix("Z"),
            str(one["node"]),
            str(one["status"]),
            f"{seconds} s" if seconds else "",
            str(one["run"] or ""),
            ": ".join(str(each) for each in (one["reason"], one["note"]) if each),
        )
    return table


def _objects(value: JsonValue) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
