"""`audit verify` and `audit export`: the evidence of a mandate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localcloud.cli.connection import connected
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.output import AsJson, Exit, Output, command
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.audit import Verification

app = typer.Typer(help="Who did what: verify and export the audit of a mandate.")


@app.command()
@command
def verify(
    day: Annotated[
        list[str] | None, typer.Option(metavar="YYYY-MM-DD", help="Only this day, or several.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look whether records were edited, removed or inserted, and acts never came to an end."""
    output = Output(as_json=as_json)
    with connected() as connection:
        found = connection.audit.verify(connection.scope, day)
        mandate = connection.scope.mandate
    data: JsonObject = {
        "mandate": mandate,
        "days": found.days,
        "records": found.records,
        "faults": [fault.as_json() for fault in found.faults],
    }
    looked = f"{found.records} records of {found.days} days of '{mandate}'"
    if not found.faults:
        output.answer(data, f"{looked}: the chain is whole")
        return
    output.answer(data, _faults(found), f"{looked}: {len(found.faults)} faults")
    raise typer.Exit(Exit.FAILED)


@app.command()
@command
def export(
    since: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="The first day.")] = "",
    until: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="The last day.")] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; else standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write all records as JSON Lines, the oldest first. Kept elsewhere, they show what was lost.

    What is written is for machines already: --json changes only how errors are told.
    """
    with connected() as connection:
        lines = connection.audit.export(connection.scope, since, until)
        if out is None:
            for line in lines:
                typer.echo(line, nl=False)
            return
        try:
            with out.open("w", encoding="utf-8") as file:
                file.writelines(lines)
        except OSError as error:
            raise BadInput(f"{out} cannot be written: {error.strerror}.") from error


def _faults(found: Verification) -> Listing:
    table = Listing(
        Column("day"),
        Column("record"),
        Column("what"),
        Column("message", Fit.TEXT, 28),
    )
    for fault in found.faults:
        table.add(fault.day, fault.place.lstrip("0") or fault.place, fault.kind, fault.message)
    return table
