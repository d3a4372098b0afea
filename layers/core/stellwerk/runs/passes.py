"""The entries of one scope and of loops inside it, by batch reads of the keys they can have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.runs.model import Step, StepKey
from stellwerk.runs.names import chunk_key, gate_key
from stellwerk.runs.ports import Journal
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph, enclosing, inside

_BATCH = 100


def entries_below(
    journal: Journal, scope: Scope, run: RunId, graph: Graph, path: Path
) -> Iterator[Step]:
    """Yield the entries at `path`, a loop's pass, and in all passes of the loops inside it."""
    *_, (loop, _, _) = enclosing(path)
    yield from _level(journal, scope, run, graph, [path], loop)


def _level(
    journal: Journal,
    scope: Scope,
    run: RunId,
    graph: Graph,
    paths: Sequence[Path],
    loop: NodeKey,
) -> Iterator[Step]:
    nodes = [node.key for node in graph.children.get(loop, ())]
    keys = [StepKey(path=path, node=node) for path in paths for node in nodes]
    found = journal.read(scope, run, [*keys, *map(gate_key, keys)])
    yield from found.values()
    for key in [key for key in found if key.node in graph.children]:
        passes = _passes(journal, scope, run, key)
        yield from passes
        below = [step.path for step in passes if step.node == key.node]
        yield from _level(journal, scope, run, graph, below, key.node)


def _passes(journal: Journal, scope: Scope, run: RunId, loop: StepKey) -> list[Step]:
    """Return the scope entries of a loop, and the entries of its chunks, as many as there are."""
    passes: list[Step] = []
    start = 0
    while True:
        span = range(start, start + _BATCH)
        scopes = [
            StepKey(path=inside(loop.path, loop.node, index), node=loop.node) for index in span
        ]
        chunks = [chunk_key(loop, index) for index in span]
        found = journal.read(scope, run, [*scopes, *chunks])
        passes.extend(found.values())
        if any(key not in found for key in scopes):
            return passes
        start += _BATCH
