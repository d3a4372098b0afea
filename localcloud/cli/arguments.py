"""What was typed, read: JSON or @FILE, NODE=PORT:DATA, NAME=VALUE, and workflow files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.reading import read_graph


@dataclass(frozen=True)
class Answer:
    """How a task is to be decided: an outcome, and what its form asks for."""

    port: str
    data: JsonValue = None


def json_value(text: str | None, option: str) -> JsonValue:
    """Return the JSON that an option holds, or the file that it names as `@FILE` (`@-`: stdin).

    Nothing typed is null. Raises BadInput, saying where the text breaks off, or that a value is
    NaN or infinite; NotFound for a missing file.
    """
    if text is None:
        return None
    try:
        value: JsonValue = json.loads(_source(text), parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{option} is not JSON: {error}.",
            remedy="Quote it for the shell, as in '{\"amount\": 12}', or use @FILE.",
        ) from error
    return value


def pairs(entries: Sequence[str], option: str) -> dict[str, str]:
    """Return `NAME=VALUE` entries as a mapping; raise BadInput for one without `=` or a name."""
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not name or not equals:
            raise BadInput(
                f"{option} takes NAME=VALUE, not '{entry}'.",
                remedy=f"Write, for instance, {option} approve=approved.",
            )
        found[name] = value
    return found


def answers(entries: Sequence[str], option: str) -> dict[str, Answer]:
    """Return `NODE=PORT`, `NODE=PORT:JSON` or `NODE=PORT:@FILE` entries as answers by node.

    Raises BadInput for an entry without a port or with data that is not JSON, NotFound for a
    missing file.
    """
    return {node: _answer(node, text, option) for node, text in pairs(entries, option).items()}


def read_file(path: Path) -> bytes:
    """Return the content of a file; raise NotFound or BadInput where it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.", remedy="Correct the path.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def read_workflow(path: Path) -> Graph:
    """Return the graph of a workflow file; raise InvalidGraph with all that cannot be read."""
    return read_graph(read_file(path).decode("utf-8", errors="surrogateescape"))


def is_file(target: str) -> bool:
    """Return whether `target` names a workflow file rather than a workflow's id or slug."""
    return target.endswith(".json") or "/" in target or Path(target).is_file()


def slug_of(path: Path) -> str:
    """Return the name that a workflow gets from its file: `Leave request.json`, `leave-request`."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "workflow"


def _answer(node: str, text: str, option: str) -> Answer:
    port, colon, data = text.partition(":")
    if not port:
        raise BadInput(
            f"{option} {node}= names no outcome.",
            remedy=f"Write, for instance, {option} {node}=approved.",
        )
    return Answer(
        port, json_value(data, f"{option} {node}={port}: what follows") if colon else None
    )


def _source(text: str) -> str:
    if text == "@-":
        return sys.stdin.read()
    return read_file(Path(text[1:])).decode("utf-8") if text.startswith("@") else text


def _refused(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON number")
