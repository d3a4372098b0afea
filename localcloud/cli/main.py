"""The command `stellwerk`: all groups put together."""

from __future__ import annotations

import typer

from localcloud.cli import cloud, graphs, publishing, runs, tasks, types

app = typer.Typer(
    name="stellwerk",
    help="Automation of office work: workflows compiled to state machines, on a local cloud.",
    epilog="Begin with `stellwerk up --samples` in one terminal and `stellwerk tasks` in another. "
    "Exit codes: 0 done, 1 the run failed, 2 bad input, 3 not found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in (cloud, graphs, publishing, runs, tasks, types):
    app.registered_commands += group.app.registered_commands


def main() -> None:
    """Run the command that was typed; see `output.Exit` for how it ends."""
    app()


if __name__ == "__main__":
    main()
