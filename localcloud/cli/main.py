"""The command `stellwerk`: all groups put together."""

from __future__ import annotations

from typing import Annotated

import typer

from localcloud.cli import (
    audit,
    cloud,
    connections,
    graphs,
    hooks,
    login,
    publishing,
    replays,
    runs,
    schedules,
    stats,
    tasks,
    types,
    workflows,
)
from localcloud.cli.connection import TARGET, Target

app = typer.Typer(
    name="stellwerk",
    help="Automation of office work: workflows compiled to state machines, on a local cloud.",
    epilog="Begin with `stellwerk up --samples` in one terminal and `stellwerk tasks` in another. "
    "Exit codes: 0 done, 1 the run failed, 2 bad input, 3 not found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (cloud, graphs, publishing, runs, tasks, hooks, schedules, types, login):
    app.registered_commands += group.app.registered_commands
app.registered_commands += stats.app.registered_commands
app.add_typer(workflows.app, name="workflows")
app.add_typer(replays.app, name="replays")
app.add_typer(audit.app, name="audit")
app.add_typer(connections.app, name="connections")


@app.callback()
def choose(
    api: Annotated[
        str | None,
        typer.Option(
            "--api",
            envvar="STELLWERK_API",
            metavar="URL",
            help="Act at the API of a deployment, after `stellwerk login`; else on a local cloud.",
        ),
    ] = None,
    mandate: Annotated[
        str | None, typer.Option(envvar="STELLWERK_MANDATE", help="Id of the mandate to act in.")
    ] = None,
    instance: Annotated[
        str | None, typer.Option(envvar="STELLWERK_INSTANCE", help="Id of the instance.")
    ] = None,
) -> None:
    """Choose where commands act."""
    TARGET.set(Target(api, mandate, instance))


def main() -> None:
    """Run the command that was typed; see `output.Exit` for how it ends."""
    app()


if __name__ == "__main__":
    main()
