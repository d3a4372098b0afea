"""What publishing a graph would make of it, and what one of its runs may spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stellwerk.workflows.faults import Fault

if TYPE_CHECKING:
    from stellwerk.workflows.compile import Compiled


@dataclass(frozen=True)
class Forecast:
    """Upper bounds for one execution of the workflow's own machine, and its size in bytes."""

    events: int
    transitions: int
    size: int


@dataclass(frozen=True)
class Preview:
    """Faults; if none of them is an error, also the definitions and the forecast.

    `definitions` are by loop, "" the workflow's own; `gates` are the joins that wait by a token.
    """

    faults: tuple[Fault, ...]
    definitions: dict[str, str] = field(default_factory=dict)
    graph_hash: str = ""
    gates: tuple[str, ...] = ()
    forecast: Forecast | None = None


def definitions_of(compiled: Compiled) -> dict[str, str]:
    """Return the definitions by loop, "" the workflow's own."""
    children = {str(loop): definition for loop, definition in compiled.children.items()}
    return {"": compiled.definition, **children}


def previewed(compiled: Compiled, faults: Sequence[Fault]) -> Preview:
    """Return the preview of a graph that was compiled."""
    spent = compiled.forecast
    size = len(compiled.definition.encode())
    return Preview(
        faults=tuple(faults),
        definitions=definitions_of(compiled),
        graph_hash=compiled.graph_hash,
        gates=tuple(sorted(compiled.gated)),
        forecast=Forecast(spent.events, spent.transitions, size),
    )
