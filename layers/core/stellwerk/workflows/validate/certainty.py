"""Which nodes have certainly run when a node runs, by the meaning of tokens and dead paths.

A node runs if one of its incoming edges is live. So a node `u` has certainly run when `v` runs if,
for every edge by which `v` can have been reached, `u` is on all ways to that edge or follows from
it for certain. `after` holds what follows from a node whatever port it fires; what follows from a
port is what follows from all its targets, because all of them run. `over` holds what is on all ways
to a node. Sets of nodes are the bits of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import Edge
from stellwerk.workflows.validate.subject import Subject

_LONGEST_WAY = 50


@dataclass
class Certainty:
    """For each node that can run: what comes before it, and what has certainly run when it runs."""

    subject: Subject
    before: dict[NodeKey, int] = field(default_factory=dict)
    sure: dict[NodeKey, int] = field(default_factory=dict)
    _over: dict[NodeKey, int] = field(default_factory=dict)
    _after: dict[NodeKey, int] = field(default_factory=dict)
    _post: dict[tuple[NodeKey, str], int] = field(default_factory=dict)
    _bits: dict[NodeKey, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        order = self.subject.order.nodes
        self._bits = {key: 1 << position for position, key in enumerate(order)}
        self._triggers = {key for key in order if self.subject.is_trigger(key)}
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
        """Return decisions, as `key:port`, after which `later` runs and `missing` does not.

        Empty where the way is too long to help anyone.
        """
        taken = self._way(missing, later)
        beside = self._entries_beside(taken, missing)
        taken |= {key: self._port_without(missing, key) for key in beside}
        waiting = list(taken)
        while waiting and len(taken) < _LONGEST_WAY:
            key = waiting.pop()
            for edge in self.subject.outgoing[key]:
                target = edge.target
                leads = self._bits.get(target, 0) & self.before[missing]
                if edge.port == taken[key] and leads and target not in taken:
                    taken[target] = self._port_without(missing, target)
                    waiting.append(target)
        if len(taken) >= _LONGEST_WAY:
            return ()
        return tuple(f"{key}:{port}" for key, port in taken.items() if self._decides(key))

    def _entries_beside(self, taken: Mapping[NodeKey, str], missing: NodeKey) -> list[NodeKey]:
        """Return the entries of a body that lead to `missing`, if the way begins at another one."""
        parent = self.subject.graph.by_key[missing].parent
        entries = list(self._entry_keys(parent)) if parent is not None else []
        begun = any(key in taken for key in entries)
        leading = (key for key in entries if begun and key not in taken)
        return [key for key in leading if self.comes_before(key, missing)]

    def _way(self, missing: NodeKey, later: NodeKey) -> dict[NodeKey, str]:
        """Return ports on a way to `later`, from the last node over which all to `missing` lead."""
        over = self._over.get(missing, -1)
        ports: dict[NodeKey, str] = {}
        key: NodeKey | None = later
        while key is not None and len(ports) < _LONGEST_WAY:
            edge = self._edge_without(missing, key)
            key = edge.source if edge else self.subject.graph.by_key[key].parent
            if edge is not None:
                ports[edge.source] = edge.port
            if key is not None and over & self._bits[key]:
                break
        return dict(reversed(ports.items()))

    def _edge_without(self, missing: NodeKey, key: NodeKey) -> Edge | None:
        bit = self._bits[missing]
        return next((e for e in self._live_edges(key) if not self._known_by(e) & bit), None)

    def _port_without(self, missing: NodeKey, key: NodeKey) -> str:
        """Return a port of `key` after which `missing` need not run."""
        ports = sorted(self._fires[key])
        return next(port for port in ports if not self._post[key, port] & self._bits[missing])

    def _decides(self, key: NodeKey) -> bool:
        """Say whether a run could have gone another way at this node."""
        is_one_of_many = len(self._triggers) > 1 and key in self._triggers
        return is_one_of_many or len(self._fires[key]) > 1

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
            ways = (self._over[edge.source] | self._bits[edge.source] for edge in live)
            self._over[key] = _intersection(ways)
            self.sure[key] = _intersection(self._known_by(edge) for edge in live)
        elif parent is not None and not self.subject.incoming[key]:
            self._over[key] = self._over[parent] | self._bits[parent]
            self.sure[key] = self.sure[parent] | self._entries(parent)
        elif self.subject.is_trigger(key):
            self._over[key] = self.sure[key] = 0

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
        for key in self._entry_keys(loop):
            bits |= self._bits[key] | self._after[key]
        return bits

    def _entry_keys(self, loop: NodeKey) -> Iterator[NodeKey]:
        for node in self.subject.graph.children.get(loop, ()):
            if node.key in self._bits and not self.subject.incoming[node.key]:
                yield node.key


def _intersection(sets: Iterable[int]) -> int:
    bits = -1
    for each in sets:
        bits &= each
    return max(bits, 0)
