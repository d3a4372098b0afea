"""A drawn workflow before it has parameters: what each node is, what it will do, and the edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import ERROR_PORT, OUT_PORT, OnError

FAIL = "fail"
"""The fate of a node that fails."""
Fate = str | int
"""What a node does in one pass: the port of a decision, the number of items or passes, or FAIL."""


_NOWHERE = NodeKey("")


class Drawn(StrEnum):
    """The kinds of nodes that tests draw."""

    TRIGGER = "trigger"
    STEP = "step"
    SWITCH = "switch"
    IF = "if"
    APPROVAL = "approval"
    DELAY = "delay"
    EACH = "each"
    WHILE = "while"
    STOP = "stop"

    @property
    def loop(self) -> bool:
        """Whether it has a body."""
        return self in {Drawn.EACH, Drawn.WHILE}


@dataclass
class Item:
    """A node. `fates` are by index of the loop around it; the last one holds for all further."""

    key: NodeKey
    kind: Drawn
    parent: NodeKey | None = None
    ports: tuple[str, ...] = (OUT_PORT,)
    fates: tuple[Fate, ...] = (OUT_PORT,)
    on_error: OnError = OnError.FAIL
    disabled: bool = False
    collect: bool = False
    concurrency: int = 1
    limit: int | None = None

    @property
    def exits(self) -> tuple[str, ...]:
        """The ports that edges can leave by."""
        return (*self.ports, *([ERROR_PORT] if self.on_error is OnError.BRANCH else []))


@dataclass
class Sketch:
    """Nodes in an order in which edges only go forward, and the edges as (from, port, to)."""

    items: list[Item] = field(default_factory=list)
    edges: list[tuple[NodeKey, str, NodeKey]] = field(default_factory=list)
    start: NodeKey = _NOWHERE

    def inside(self, parent: NodeKey | None) -> list[Item]:
        """Return the nodes of one level, in order."""
        return [item for item in self.items if item.parent == parent]

    def depth(self, parent: NodeKey | None) -> int:
        """Return how many loops are around a node with this parent."""
        found = 0
        while parent is not None:
            parent = next(item.parent for item in self.items if item.key == parent)
            found += 1
        return found


def step(key: str, *fates: Fate, parent: str | None = None, on_error: str = "fail") -> Item:
    """Return a step."""
    loop = NodeKey(parent) if parent else None
    handling = OnError(on_error)
    return Item(NodeKey(key), Drawn.STEP, loop, fates=fates or (OUT_PORT,), on_error=handling)


def switch(key: str, *fates: Fate, parent: str | None = None, cases: int = 1) -> Item:
    """Return a switch with ports `c0`, `c1`, ... and `default`."""
    ports = (*(f"c{number}" for number in range(cases)), "default")
    loop = NodeKey(parent) if parent else None
    return Item(NodeKey(key), Drawn.SWITCH, loop, ports, fates)


def approval(key: str, *fates: Fate, parent: str | None = None) -> Item:
    """Return an approval."""
    loop = NodeKey(parent) if parent else None
    return Item(NodeKey(key), Drawn.APPROVAL, loop, ("approved", "rejected"), fates)


def each(
    key: str, *sizes: Fate, parent: str | None = None, collect: bool = False, concurrency: int = 1
) -> Item:
    """Return a for_each over so many items."""
    loop = NodeKey(parent) if parent else None
    item = Item(NodeKey(key), Drawn.EACH, loop, fates=sizes, collect=collect)
    item.concurrency, item.limit = concurrency, 20
    return item


def repeat(key: str, *passes: Fate, parent: str | None = None) -> Item:
    """Return a while with so many passes."""
    loop = NodeKey(parent) if parent else None
    return Item(NodeKey(key), Drawn.WHILE, loop, fates=passes, limit=20)


def draw(edges: str, *items: Item, triggers: str = "t") -> Sketch:
    """Return a workflow; an edge is written `from.port>to` or `from>to`, blanks between them."""
    starts = [Item(NodeKey(key), Drawn.TRIGGER) for key in triggers.split()]
    drawn = Sketch([*starts, *items], start=starts[0].key)
    for edge in edges.split():
        start, _, target = edge.partition(">")
        source, _, port = start.partition(".")
        drawn.edges.append((NodeKey(source), port or OUT_PORT, NodeKey(target)))
    return drawn
