"""Which entries of a run's journal another run may begin with: pure, over graphs and entries.

A node is kept whole if it is unchanged (type, parameters, predecessors) and all its ancestors are
kept whole. A loop that is unchanged, with such ancestors, but with a body that is not whole, is
entered again: its items and the entries of its body that are kept are recorded, and it is assembled
anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.runs.model import Run, Step, StepKey, StepStatus
from stellwerk.runs.names import CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE
from stellwerk.workflows.graph import Graph, enclosing, inside

_PASSING = {GATE_TYPE, CHUNK_TYPE}


@dataclass(frozen=True)
class Kept:
    """Nodes whose entries stay as they are, and loops that are entered again."""

    whole: frozenset[NodeKey]
    entered: frozenset[NodeKey]


def kept_nodes(old: Graph, new: Graph, again: NodeKey | None) -> Kept:
    """Return what of `new` is recorded in a run of `old`, where node `again` shall run again."""
    whole: set[NodeKey] = set()
    entered: set[NodeKey] = set()
    _keep_level(old, new, again, None, whole, entered)
    return Kept(frozenset(whole), frozenset(entered))


def kept_entries(
    kept: Kept, graph: Graph, steps: Sequence[Step], counted_loops: frozenset[NodeKey]
) -> dict[StepKey, Step]:
    """Return the entries that a new run begins with, unchanged, by key.

    `counted_loops` are the while loops: a pass follows from the one before, so behind a pass that
    is not complete nothing is kept.
    """
    found = {step.key: step for step in steps if _stays(kept, step)}
    for step in steps:
        if step.node in counted_loops and step.type != SCOPE_TYPE and step.key not in found:
            _cut_passes(kept, graph, steps, step.key, found)
    return found


def opened_loops(kept: Kept, steps: Iterable[Step]) -> list[Step]:
    """Return the entries of loops that are entered again: their items are those recorded."""
    return [
        step
        for step in steps
        if step.node in kept.entered
        and step.type not in _PASSING | {SCOPE_TYPE}
        and not (step.done and step.node in kept.whole)
        and _all_entered(kept, step.path)
    ]


def copied(step: Step, source: Run, run: Run) -> Step:
    """Return an entry of `source` as one of `run`, in which nothing is at work."""
    origin = {
        "run": run.id,
        "revision": 0,
        "execution": run.generation,
        "lease": None,
        "child": None,
        "token": None,
        "recorded_from": step.recorded_from or source.id,
    }
    return step.model_copy(update=origin)


def _keep_level(
    old: Graph,
    new: Graph,
    again: NodeKey | None,
    parent: NodeKey | None,
    whole: set[NodeKey],
    entered: set[NodeKey],
) -> None:
    nodes = [node.key for node in new.children.get(parent, ())]
    sources = {key: [edge.source for edge in new.incoming[key]] for key in nodes}
    for key in TopologicalSorter(sources).static_order():
        if key == again or not _unchanged(old, new, key) or not whole.issuperset(sources[key]):
            continue
        if key in new.children:
            entered.add(key)
            _keep_level(old, new, again, key, whole, entered)
            if not _body_kept(old, new, key, whole):
                continue
        whole.add(key)


def _unchanged(old: Graph, new: Graph, key: NodeKey) -> bool:
    before, now = old.by_key.get(key), new.by_key[key]
    if before is None or _ends(old, key) != _ends(new, key):
        return False
    fields = ("type", "parameters", "parent", "disabled")
    return all(getattr(before, name) == getattr(now, name) for name in fields)


def _ends(graph: Graph, key: NodeKey) -> set[tuple[NodeKey, str]]:
    return {(edge.source, edge.port) for edge in graph.incoming[key]}


def _body_kept(old: Graph, new: Graph, loop: NodeKey, whole: set[NodeKey]) -> bool:
    before = {node.key for node in old.children.get(loop, ())}
    now = {node.key for node in new.children[loop]}
    return before == now and whole.issuperset(now)


def _stays(kept: Kept, step: Step) -> bool:
    if step.type in _PASSING or not _all_entered(kept, step.path):
        return False
    if step.type == SCOPE_TYPE:
        return True
    return step.done and step.node in kept.whole


def _all_entered(kept: Kept, path: Path) -> bool:
    return all(loop in kept.entered for loop, _, _ in enclosing(path))


def _cut_passes(
    kept: Kept,
    graph: Graph,
    steps: Sequence[Step],
    loop: StepKey,
    found: dict[StepKey, Step],
) -> None:
    """Drop from `found` all passes of a while loop behind its first one that is not complete."""
    body = {node.key for node in graph.children.get(loop.node, ())}
    incomplete = [
        index
        for step in steps
        if (index := _index(step.path, loop)) is not None and _lacks(step, found)
    ]
    last = min(incomplete, default=None) if kept.whole.issuperset(body) else 0
    if last is None:
        return
    for key in [key for key in found if _behind(key.path, loop, last)]:
        del found[key]


def _lacks(step: Step, found: dict[StepKey, Step]) -> bool:
    ignored = step.type in _PASSING or step.status is StepStatus.SKIPPED
    return not ignored and step.key not in found


def _behind(path: Path, loop: StepKey, last: int) -> bool:
    index = _index(path, loop)
    return index is not None and index > last


def _index(path: Path, loop: StepKey) -> int | None:
    """Return in which pass of `loop` the place `path` is; None if in none."""
    for key, index, place in enclosing(path):
        if key == loop.node and place == inside(loop.path, loop.node, index):
            return index
    return None
