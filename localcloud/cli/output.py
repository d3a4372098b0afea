"""Where answers go: tables for people, or JSON on standard output and words on standard error."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, ParamSpec, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from localcloud.cli.rendering import fault_table
from stellwerk.kernel.errors import NotFound, PermanentError, StellwerkError
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.faults import InvalidGraph

FILE_WIDTH = 160

P = ParamSpec("P")
R = TypeVar("R")

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for machines.")]


class Exit(IntEnum):
    """How a command ends, for scripts."""

    DONE = 0
    FAILED = 1
    INVALID = 2
    NOT_FOUND = 3


class Output:
    """Writes answers. Words for people never mix with JSON for machines."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.screen = _console(stderr=as_json)
        self._errors = _console(stderr=True)

    def say(self, words: RenderableType) -> None:
        """Show something to people: on standard error if standard output is for machines.

        A text that must not be wrapped, such as a command to copy, stays whole.
        """
        whole = isinstance(words, Text) and bool(words.no_wrap)
        self.screen.print(words, markup=False, soft_wrap=whole)

    def answer(self, data: JsonValue, *shown: RenderableType) -> None:
        """Write the command's answer: `data` for machines, or what is `shown` for people."""
        if self.as_json:
            typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
            return
        for part in shown:
            self.say(part)

    def error(self, error: StellwerkError) -> None:
        """Write what went wrong, all of it, and how to mend it."""
        faults = error.faults if isinstance(error, InvalidGraph) else ()
        if self.as_json:
            data: JsonObject = {
                "type": error.type,
                "message": error.message,
                "remedy": error.remedy,
            }
            if faults:
                data["faults"] = [fault.as_json() for fault in faults]
            typer.echo(json.dumps({"error": data}, ensure_ascii=False, indent=2))
            return
        if faults:
            self._errors.print(fault_table(faults))
        count = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}."
        words = count if faults else error.message
        self._errors.print(Text.assemble((f"{error.type}: ", "bold red"), words))
        if error.remedy and not faults:
            self._errors.print(Text(error.remedy))


def _console(*, stderr: bool) -> Console:
    """Return a console; what goes to a file or another program gets wide lines.

    The variable COLUMNS, which Rich reads too, goes before either.
    """
    console = Console(stderr=stderr, highlight=False, emoji=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console.width = FILE_WIDTH
    return console


def exit_code(error: StellwerkError) -> Exit:
    """Return how a command ends that met `error`."""
    if isinstance(error, NotFound):
        return Exit.NOT_FOUND
    return Exit.INVALID if isinstance(error, PermanentError) else Exit.FAILED


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Let a command, which has a parameter `as_json`, end its errors as words and an exit code."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except StellwerkError as error:
            Output(as_json=bool(kwargs.get("as_json"))).error(error)
            raise typer.Exit(exit_code(error)) from error

    return guarded
