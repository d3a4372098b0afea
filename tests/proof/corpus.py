"""Real topologies as workflows: the shapes of `corpora/n8n-shapes.json` and two variants of each.

The shapes are from enescingoz/awesome-n8n-templates, CC-BY-4.0; the file stays outside of the
repository.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from pathlib import Path as File

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import ERROR_PORT, OUT_PORT, OnError
from tests.proof.sketch import FAIL, Drawn, Item, Sketch

FILE = File(__file__).parents[3] / "shared" / "corpora" / "n8n-shapes.json"
HANDLER = NodeKey("handler")
_FAILING = 0.2


class ShapeNode(BaseModel):
    """A node of a shape."""

    model_config = ConfigDict(extra="forbid")

    key: NodeKey
    kind: Drawn
    ports: int = 1


class ShapeEdge(BaseModel):
    """An edge of a shape; port 1 of a step is its error port."""

    model_config = ConfigDict(extra="forbid")

    source: NodeKey = Field(alias="from")
    port: int
    target: NodeKey = Field(alias="to")


class Shape(BaseModel):
    """The topology of a published workflow."""

    model_config = ConfigDict(extra="forbid")

    name: str
    cyclic: bool
    nodes: list[ShapeNode]
    edges: list[ShapeEdge]


class Variant(StrEnum):
    """What is done to a shape before it is compiled."""

    DRAWN = "as drawn"
    HANDLER = "with a shared error handler"
    DEAD_ENDS = "with dead-end ports"


@cache
def shapes() -> tuple[Shape, ...]:
    """Return all shapes; none where the file is absent."""
    if not FILE.exists():
        return ()
    adapter = TypeAdapter(dict[str, str | list[Shape]])
    found = adapter.validate_json(FILE.read_bytes())["shapes"]
    return tuple(shape for shape in found if isinstance(shape, Shape))


def sketch(shape: Shape, variant: Variant = Variant.DRAWN) -> Sketch:
    """Return the shape as a workflow whose nodes all fire their first port."""
    drawn = Sketch([_item(shape, node, variant) for node in shape.nodes])
    by_key = {item.key: item for item in drawn.items}
    drawn.edges = [
        (edge.source, _port(by_key[edge.source], edge.port), edge.target) for edge in shape.edges
    ]
    if variant is Variant.HANDLER:
        _add_handler(drawn)
    drawn.start = next(item.key for item in drawn.items if item.kind is Drawn.TRIGGER)
    return drawn


def with_fates(drawn: Sketch, seed: int) -> Sketch:
    """Return the workflow with a trigger and ports chosen at random."""
    chosen = random.Random(seed)
    for item in drawn.items:
        failing = item.on_error is OnError.BRANCH and chosen.random() < _FAILING
        item.fates = (FAIL if failing else chosen.choice(item.ports),)
    triggers = [item.key for item in drawn.items if item.kind is Drawn.TRIGGER]
    drawn.start = chosen.choice(triggers)
    return drawn


def _item(shape: Shape, node: ShapeNode, variant: Variant) -> Item:
    item = Item(node.key, node.kind)
    if node.kind is Drawn.SWITCH:
        count = node.ports + (variant is Variant.DEAD_ENDS)
        item.ports = (*(f"c{number}" for number in range(count - 1)), "default")
    elif node.kind is Drawn.STEP:
        branches = any(edge.source == node.key and edge.port == 1 for edge in shape.edges)
        handled = branches or variant is Variant.HANDLER
        item.on_error = OnError.BRANCH if handled else OnError.FAIL
    item.fates = item.ports[:1]
    return item


def _port(item: Item, number: int) -> str:
    if item.kind is Drawn.SWITCH:
        return item.ports[number]
    return ERROR_PORT if number else OUT_PORT


def _add_handler(drawn: Sketch) -> None:
    steps = [item.key for item in drawn.items if item.kind is Drawn.STEP]
    drawn.items.append(Item(HANDLER, Drawn.STEP))
    drawn.edges += [(key, ERROR_PORT, HANDLER) for key in steps]


def each_variant(check: Callable[[Shape, Variant], None]) -> None:
    """Call `check` with every acyclic shape and variant."""
    for shape in shapes():
        for variant in Variant:
            if not shape.cyclic:
                check(shape, variant)
