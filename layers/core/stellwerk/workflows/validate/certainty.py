"""Which nodes have certainly run when a node runs, by the meaning of tokens and dead paths.

A node runs if one of its incoming edges is live. So a node `u` has certainly run when `v` runs if,
for every edge by which `v` can have been reached, `u` is on all ways to that edge or follows from
it for certain. `after` holds what follows from a node whatever port it fires; what follows from a
port is what follows from all its targets, because all of them run. Sets of nodes are the bits of
integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import Edge
from stellwerk.workflows.validate.subject import Subject


@dataclass
class Certainty:
    """For each node that can run: what comes before it, and what has certainly run when it runs."""

    subject: Subject
    before: dict[NodeKey, int] = field(default_factory=dict)
    sure: dict[NodeKey, int] = field(default_factory=dict)
    _after: dict[NodeKey, int] = field(default_factory=dict)
    _post: dict[tuple[NodeKey, str], int] = field(default_factory=dict)
    _bits: dict[NodeKey, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        order = self.subject.order.nodes
        self._bits = {key: 1 << position for position, key in enumerate(order)}
        self._fires = {key: self.subject.fires(key) for key in order}
        for key in reversed(order):
            self._look_forward(key)
        levels = self._levels(order)
        waiting: list[NodeKey | None] = [None]
        while waiting:
            level = levels.pop(waiting.pop(), ())
            for key in level:
                self._look_back(key)
            waiting += [key for key in level if self.subject.is_loop(key) and key in self.sure]

    def comes_before(self, earlier: NodeKey, later: NodeKey) -> bool:
        """Say whether `earlier` is decided before `later` can run."""
        return bool(self.before[later] & self._bits.get(earlier, 0))

    def has_run(self, earlier: NodeKey, later: NodeKey) -> bool:
        """Say whether `earlier` has certainly run whenever `later` runs."""
        return bool(self.sure[later] & self._bits[earlier])

    def example(self, missing: NodeKey, later: NodeKey) -> tuple[str, ...]:
        """Return decisions, as `key:port`, on a way to `later` on which `missing` need not run."""
        taken: list[str] = []
        key: NodeKey | None = later
        while key is not None:
            edge = self._edge_without(missing, key)
            if edge and (len(self._fires[edge.source]) > 1 or self.subject.is_trigger(edge.source)):
                taken.append(f"{edge.source}:{edge.port}")
            key = edge.source if edge else self.subject.graph.by_key[key].parent
        return tuple(reversed(taken))

    def _edge_without(self, missing: NodeKey, key: NodeKey) -> Edge | None:
        bit = self._bits[missing]
        return next((e for e in self._live_edges(key) if not self._known_by(e) & bit), None)

    def _levels(self, order: Iterable[NodeKey]) -> dict[NodeKey | None, list[NodeKey]]:
        levels: dict[NodeKey | None, list[NodeKey]] = {}
        for key in order:
            levels.setdefault(self.subject.graph.by_key[key].parent, []).append(key)
        return levels

    def _look_forward(self, key: NodeKey) -> None:
        """Note what follows from `key`, after all that comes behind it."""
        posts = dict.fromkeys(self._fires[key], 0)
        for edge in self.subject.outgoing[key]:
            if edge.port in posts and edge.target in self._after:
                posts[edge.port] |= self._bits[edge.target] | self._after[edge.target]
        self._post.update({(key, port): bits for port, bits in posts.items()})
        self._after[key] = _intersection(posts.values())

    def _look_back(self, key: NodeKey) -> None:
        """Note what comes before `key`, and, if it can run, what has run then."""
        parent = self.subject.graph.by_key[key].parent
        self.before[key] = self.before[parent] if parent is not None else 0
        for edge in self.subject.incoming[key]:
            self.before[key] |= self.before[edge.source] | self._bits[edge.source]
        live = self._live_edges(key)
        if live:
            self.sure[key] = _intersection(self._known_by(edge) for edge in live)
        elif parent is not None and not self.subject.incoming[key]:
            self.sure[key] = self.sure[parent] | self._entries(parent)
        elif self.subject.is_trigger(key):
            self.sure[key] = 0

    def _live_edges(self, key: NodeKey) -> list[Edge]:
        incoming = self.subject.incoming[key]
        return [e for e in incoming if e.source in self.sure and e.port in self._fires[e.source]]

    def _known_by(self, edge: Edge) -> int:
        """Return what has certainly run, or will, if the edge is live."""
        source = edge.source
        return self.sure[source] | self._bits[source] | self._post[source, edge.port]

    def _entries(self, loop: NodeKey) -> int:
        """Return what runs in every pass of a loop: its entries and what follows from them."""
        bits = 0
        for node in self.subject.graph.children.get(loop, ()):
            if node.key in self._bits and not self.subject.incoming[node.key]:
                bits |= self._bits[node.key] | self._after[node.key]
        return bits


def _intersection(sets: Iterable[int]) -> int:
    bits = -1
    for each in sets:
        bits &= each
    return max(bits, 0)
