"""The states of a machine before they are text: frozen, named, with symbolic variables.

`next` is the name of another state of the same scope, or None: the scope ends. Payload values
that begin with `{%` are JSONata written by the compiler; no text of a user ever becomes one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue

if TYPE_CHECKING:
    from stellwerk.workflows.compile.scopes import Scope


@dataclass(frozen=True)
class Failed:
    """A step whose failure is handled: it fires `port`."""

    step: NodeKey
    port: str


@dataclass(frozen=True)
class Catch:
    """Where to go on after one of `errors`.

    The input there is `{"Error", "Cause"}`; with `handled` it is `{"node", "error"}`, for states
    that many steps share.
    """

    errors: tuple[str, ...]
    next: str
    handled: Failed | None = None


@dataclass(frozen=True)
class Again:
    """After which errors a Task is tried again: `interval` seconds, growing by `backoff`."""

    errors: tuple[str, ...]
    attempts: int
    interval: float = 1
    backoff: float = 2


@dataclass(frozen=True)
class Task:
    """Calls a Lambda.

    `fires` is the node whose port the answer names; `resets` a pass that begins; `uses` is how
    often the state may run where others run once, because that many steps lead to it.
    """

    name: str
    function: str
    payload: Mapping[str, JsonValue]
    next: str | None
    again: tuple[Again, ...]
    fires: NodeKey | None = None
    token: bool = False
    timeout: int | str | None = None
    catch: tuple[Catch, ...] = ()
    assign: Mapping[str, JsonValue] = field(default_factory=dict)
    output: str | None = None
    resets: Scope | None = None
    uses: int = 1


@dataclass(frozen=True)
class Choice:
    """Goes where the first true condition says, else to `default`; `uses` as in `Task`."""

    name: str
    rules: tuple[tuple[str, str | None], ...]
    default: str | None
    uses: int = 1


@dataclass(frozen=True)
class Parallel:
    """Runs branches at once and takes up the ports that they hand out."""

    name: str
    branches: tuple[Scope, ...]
    next: str | None
    catch: tuple[Catch, ...] = ()
    fires: NodeKey | None = None
    """The loop that has fired `out` when all branches are through."""


@dataclass(frozen=True)
class Map:
    """Runs its body once per entry of `items`, at most `most` times."""

    name: str
    loop: NodeKey
    items: str
    concurrency: int
    body: Scope
    most: int
    next: str | None
    catch: tuple[Catch, ...] = ()


@dataclass(frozen=True)
class Wait:
    """Waits until a moment."""

    name: str
    until: str
    next: str | None


@dataclass(frozen=True)
class Fail:
    """Ends the execution as failed."""

    name: str
    error: str
    cause: str


EVERY_ERROR = "States.ALL"


def quoted(text: str) -> str:
    """Return `text` as a JSONata string literal."""
    return f"'{text}'" if text.isidentifier() and text.isascii() else json.dumps(text)


State: TypeAlias = "Task | Choice | Parallel | Map | Wait | Fail"
