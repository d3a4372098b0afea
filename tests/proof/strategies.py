"""Hypothesis draws workflows: sixteen bytes a node, so that a failing one shrinks node by node.

Whatever the bytes say is a valid graph: edges go forward inside a level, everything is reachable,
at most one stop ends a run well and none of those in a loop, bodies are not empty, loops nest three
deep.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import strategies as st

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import OUT_PORT, OnError
from tests.proof.sketch import FAIL, Drawn, Fate, Item, Sketch

MOST_NODES = 40
MOST_DEPTH = 3
PASSES = 3
_BYTES = 16
_WEIGHTS = (
    (Drawn.STEP, 100),
    (Drawn.SWITCH, 48),
    (Drawn.IF, 18),
    (Drawn.APPROVAL, 20),
    (Drawn.EACH, 24),
    (Drawn.WHILE, 16),
    (Drawn.STOP, 12),
    (Drawn.DELAY, 8),
    (Drawn.TRIGGER, 10),
)
_KINDS = tuple(kind for kind, weight in _WEIGHTS for _ in range(weight))
_DISABLED = (7, 8, 9)


@dataclass(frozen=True)
class Genes:
    """The bytes of one node."""

    data: bytes

    def kind(self) -> Drawn:
        """Return what it is."""
        return _KINDS[self.data[0] % len(_KINDS)]

    def pick(self, place: int, among: int) -> int:
        """Return a number below `among`."""
        return self.data[place] % among

    def chance(self, place: int, percent: int) -> bool:
        """Return True for so many of a hundred."""
        return self.data[place] * 100 >= (100 - percent) * 256


def sketches(most: int = MOST_NODES) -> st.SearchStrategy[Sketch]:
    """Return a strategy of workflows with up to `most` nodes besides the first trigger."""
    genes = st.binary(min_size=_BYTES, max_size=_BYTES)
    lists = st.integers(1, most).flatmap(lambda n: st.lists(genes, min_size=n, max_size=n))
    return st.tuples(lists, st.integers(0, 7)).map(lambda drawn: sketch(*drawn))


def sketch(genes: list[bytes], start: int) -> Sketch:
    """Return the workflow that the bytes describe, started at one of its triggers."""
    drawn = Sketch([Item(NodeKey("n0"), Drawn.TRIGGER)])
    for number, data in enumerate(genes, 1):
        _add(drawn, NodeKey(f"n{number}"), Genes(data))
    for item in drawn.items:
        if item.kind.loop and not drawn.inside(item.key):
            item.kind, item.fates = Drawn.STEP, (OUT_PORT,)
    triggers = [item.key for item in drawn.items if item.kind is Drawn.TRIGGER]
    drawn.start = triggers[start % len(triggers)]
    return drawn


def _add(drawn: Sketch, key: NodeKey, genes: Genes) -> None:
    open_loops = [i.key for i in drawn.items if i.kind.loop and drawn.depth(i.parent) < MOST_DEPTH]
    places: list[NodeKey | None] = [None, *open_loops[-3:]]
    parent = places[-1] if genes.chance(1, 60) else places[genes.pick(1, len(places))]
    item = _item(drawn, key, parent, genes)
    if item.kind is not Drawn.TRIGGER:
        _connect(drawn, item, genes)
    drawn.items.append(item)


def _item(drawn: Sketch, key: NodeKey, parent: NodeKey | None, genes: Genes) -> Item:
    kind = genes.kind()
    if kind is Drawn.TRIGGER and parent is not None:
        kind = Drawn.STEP
    item = Item(key, kind, parent, _ports(kind, genes))
    if kind in {Drawn.STEP, Drawn.EACH, Drawn.WHILE}:
        item.on_error = _on_error(genes)
    if kind not in {Drawn.STOP, Drawn.TRIGGER}:
        item.disabled = genes.data[9] in _DISABLED
    if kind is Drawn.EACH:
        item.collect, item.concurrency = genes.chance(10, 50), (1, 1, 2, 5)[genes.pick(11, 4)]
    if kind.loop:
        item.limit = (None, None, 3, 3, 3, 2)[genes.pick(12, 6)]
    passes = 1 if parent is None or kind is Drawn.WHILE else PASSES
    item.fates = tuple(_fate(drawn, item, genes, index) for index in range(passes))
    return item


def _ports(kind: Drawn, genes: Genes) -> tuple[str, ...]:
    match kind:
        case Drawn.SWITCH:
            return (*(f"c{n}" for n in range(1 + genes.pick(10, 3))), "default")
        case Drawn.IF:
            return ("true", "false")
        case Drawn.APPROVAL:
            return ("approved", "rejected")
        case Drawn.STOP:
            return ()
        case _:
            return (OUT_PORT,)


def _on_error(genes: Genes) -> OnError:
    if genes.chance(9, 30):
        return OnError.BRANCH
    return OnError.CONTINUE if genes.chance(9, 40) else OnError.FAIL


def _fate(drawn: Sketch, item: Item, genes: Genes, index: int) -> Fate:
    place = 13 + index
    if item.kind.loop:
        return genes.pick(place, PASSES + 1)
    if item.kind is Drawn.STOP:
        taken = any(other.kind is Drawn.STOP and FAIL not in other.fates for other in drawn.items)
        return FAIL if taken or item.parent is not None or genes.chance(place, 30) else OUT_PORT
    if item.kind is Drawn.STEP and genes.chance(place, _failing(item)):
        return FAIL
    return item.ports[genes.pick(place, len(item.ports))]


def _failing(item: Item) -> int:
    """Return how many of a hundred such steps fail."""
    if item.on_error is not OnError.FAIL:
        return 45
    return 2 if item.parent is None else 6


def _connect(drawn: Sketch, item: Item, genes: Genes) -> None:
    """Draw edges from nodes before it; an entry of a body has none."""
    before = [other for other in drawn.inside(item.parent) if other.kind is not Drawn.STOP]
    if not before or (item.parent is not None and genes.chance(2, 15)):
        return
    for number in range(1 + (genes.pick(2, 5) + 1) // 3):
        reach = len(before) if genes.chance(3 + number, 25) else min(len(before), 4)
        source = before[-1 - genes.pick(3 + number, reach)]
        port = source.exits[genes.pick(6 + number, len(source.exits))]
        edge = (source.key, port, item.key)
        if edge not in drawn.edges:
            drawn.edges.append(edge)


def constructs(drawn: Sketch) -> Counter[str]:
    """Return how often each construct occurs in a workflow."""
    found = Counter(item.kind.value for item in drawn.items)
    exits = Counter((source, port) for source, port, _ in drawn.edges)
    joins = Counter(target for _, _, target in drawn.edges)
    by_key = {item.key: item for item in drawn.items}
    found["fork"] = sum(count > 1 for count in exits.values())
    found["join"] = sum(count > 1 for count in joins.values())
    found["dead end"] = sum(
        (item.key, port) not in exits and any(key == item.key for key, _ in exits)
        for item in drawn.items
        for port in item.exits
    )
    found["error port"] = sum(port == "error" for _, port in exits)
    found["disabled"] = sum(item.disabled for item in drawn.items)
    found["nested loop"] = sum(i.kind.loop and i.parent is not None for i in drawn.items)
    found["several triggers"] = found["trigger"] > 1
    found["wait in a loop"] = sum(
        item.kind is Drawn.APPROVAL and item.parent is not None for item in drawn.items
    )
    found["wait in a branch"] = sum(
        exits[source, port] > 1 and by_key[target].kind is Drawn.APPROVAL
        for source, port, target in drawn.edges
    )
    found["over 30 nodes"] = len(drawn.items) > 30
    return found
