"""Whether a node will run: decided from the journal by the meaning of tokens.

An edge is live once its source has fired its port, dead once the source fired another port or is
skipped, and undecided before. A node is decided when all its incoming edges are.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from graphlib import TopologicalSorter
from types import MappingProxyType

from stellwerk.kernel.ids import NodeKey
from stellwerk.runs.model import Step, StepStatus
from stellwerk.workflows.graph import Edge, Graph


class Verdict(StrEnum):
    """What is certain about a node that has not run."""

    LIVE = "live"
    DEAD = "dead"


def ancestors(graph: Graph, node: NodeKey) -> tuple[NodeKey, ...]:
    """Return the nodes of the same level from which edges lead, directly or not, to `node`."""
    found: set[NodeKey] = set()
    ahead = [node]
    while ahead:
        sources = {edge.source for edge in graph.incoming[ahead.pop()]} - found
        found |= sources
        ahead.extend(sources)
    return tuple(sorted(found))


def decided(
    graph: Graph,
    entries: Mapping[NodeKey, Step],
    node: NodeKey,
    *,
    trigger: NodeKey,
    passes: Mapping[NodeKey, str] = MappingProxyType({}),
) -> Verdict | None:
    """Return whether `node` will run, or None while one of its incoming edges is undecided.

    `entries` are those of the node's ancestors in the same scope; `trigger` is the run's own, every
    other trigger is dead. A node without incoming edges inside a loop's body always runs. `passes`
    names the one port that a disabled node can fire: edges from its others are dead from the start,
    and nobody looks at a gate behind them when the node has fired.
    """
    before = (*ancestors(graph, node), node)
    sources = {key: [edge.source for edge in graph.incoming[key]] for key in before}
    verdicts: dict[NodeKey, Verdict | None] = {}
    for key in TopologicalSorter(sources).static_order():
        edges = graph.incoming[key]
        if edges:
            verdicts[key] = _joined([_edge(entries, verdicts, edge, passes) for edge in edges])
        else:
            alive = graph.by_key[key].parent is not None or key == trigger
            verdicts[key] = Verdict.LIVE if alive else Verdict.DEAD
    return verdicts[node]


def _edge(
    entries: Mapping[NodeKey, Step],
    verdicts: Mapping[NodeKey, Verdict | None],
    edge: Edge,
    passes: Mapping[NodeKey, str],
) -> Verdict | None:
    if passes.get(edge.source, edge.port) != edge.port:
        return Verdict.DEAD
    entry = entries.get(edge.source)
    if entry is not None and entry.done:
        return Verdict.LIVE if entry.port == edge.port else Verdict.DEAD
    skipped = entry is not None and entry.status is StepStatus.SKIPPED
    return Verdict.DEAD if skipped or verdicts[edge.source] is Verdict.DEAD else None


def _joined(edges: list[Verdict | None]) -> Verdict | None:
    if None in edges:
        return None
    return Verdict.LIVE if Verdict.LIVE in edges else Verdict.DEAD
