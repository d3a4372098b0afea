"""First pass.

the drawn graph becomes levels of steps in one fixed order, with nothing left to look up.

A level is the top of the workflow or the body of one loop. Steps are numbered in topological
order, ties broken by key, so the same graph gives the same bytes. Disabled nodes become plain
steps that fire one port only; what only their other ports lead to is left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stellwerk.catalogue.model import Catalogue, Kind, NodeType
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.graph import ERROR_PORT, Graph, Node, OnError, Retry

_BODIES = {Kind.FOR_EACH, Kind.WHILE}
_WAITING = {Kind.WAIT, Kind.DELAY}
_ANSWERS = frozenset({"TransientError", "RateLimited", "ServiceUnavailable", "StillRunning"})


@dataclass(frozen=True)
class Step:
    """A node as the compiler sees it.

    `timeout` is in seconds; `waits` says that it can wait for long.
    """

    key: NodeKey
    kind: Kind
    title: str
    function: str
    ports: tuple[str, ...]
    parameters: JsonObject
    on_error: OnError
    timeout: int
    retry: Retry
    retried: tuple[str, ...]
    waits: bool
    disabled: bool

    @property
    def fires(self) -> tuple[str, ...]:
        """The ports that it can fire: of a disabled one the first, though edges leave by others."""
        return self.ports[:1] if self.disabled else self.ports

    @property
    def failure_port(self) -> str | None:
        """The port that fires when the step has failed for good; None where the run fails."""
        if self.on_error is OnError.FAIL:
            return None
        return ERROR_PORT if self.on_error is OnError.BRANCH else self.ports[0]


@dataclass(frozen=True)
class Level:
    """The steps of one level in topological order; edges by position in `steps`."""

    loop: NodeKey | None
    steps: tuple[Step, ...]
    targets: tuple[Mapping[str, tuple[int, ...]], ...]
    incoming: tuple[tuple[tuple[int, str], ...], ...]

    def successors(self, step: int) -> Iterable[int]:
        """Yield the steps that edges from `step` lead to."""
        for targets in self.targets[step].values():
            yield from targets


Levels = Mapping[NodeKey | None, Level]


def normalise(
    graph: Graph, catalogue: Catalogue, *, patient: bool = False
) -> dict[NodeKey | None, Level]:
    """Return the levels of a valid graph, the top under None. `patient` lets every step wait.

    Raises BadInput where the graph was not validated: an unknown type, a cycle.
    """
    types = {node.key: _type(node, catalogue) for node in graph.nodes}
    bodies = {
        node.key for node in graph.nodes if types[node.key].kind in _BODIES and not node.disabled
    }
    waiting = _waiting(graph, types) if not patient else {node.key for node in graph.nodes}
    levels: dict[NodeKey | None, Level] = {}
    for loop in (None, *sorted(bodies)):
        nodes = graph.children.get(loop, ())
        steps = {node.key: _step(node, types[node.key], node.key in waiting) for node in nodes}
        levels[loop] = _level(loop, _living(steps, graph), graph)
    return levels


def _living(steps: Mapping[NodeKey, Step], graph: Graph) -> dict[NodeKey, Step]:
    """The steps that can run: all but those behind ports that disabled nodes never fire."""
    ahead = [key for key in steps if not graph.incoming[key]]
    found = set(ahead)
    while ahead:
        key = ahead.pop()
        for edge in graph.outgoing[key]:
            fires = edge.target in steps and edge.port in steps[key].fires
            if fires and edge.target not in found:
                found.add(edge.target)
                ahead.append(edge.target)
    return {key: step for key, step in steps.items() if key in found}


def _type(node: Node, catalogue: Catalogue) -> NodeType:
    found = catalogue.find(node.type)
    if found is None:
        raise BadInput(
            f"Node {node.key} has the unknown type {node.type}.",
            remedy="Validate the graph before it is compiled.",
        )
    return found


def _waiting(graph: Graph, types: Mapping[NodeKey, NodeType]) -> set[NodeKey]:
    """The nodes that can wait for long: by kind, or because something in their body does."""
    found: set[NodeKey] = set()
    for node in graph.nodes:
        if types[node.key].kind in _WAITING and not node.disabled:
            found.update((node.key, *graph.loops_around(node.key)))
    return found


def _step(node: Node, type_: NodeType, waits: bool) -> Step:
    kind = Kind.STEP if node.disabled else type_.kind
    ports = type_.ports_for(node.parameters)
    if node.on_error is OnError.BRANCH and ERROR_PORT not in ports:
        ports = (*ports, ERROR_PORT)
    on_error = OnError.FAIL if node.disabled or kind in {Kind.STOP, Kind.TRIGGER} else node.on_error
    retry = node.retry or Retry(attempts=type_.attempts)
    return Step(
        key=node.key,
        kind=kind,
        title=node.title or type_.title,
        function=type_.function,
        ports=ports,
        parameters=node.parameters,
        on_error=on_error,
        timeout=node.timeout or type_.timeout,
        retry=retry,
        retried=tuple(name for name in sorted(type_.retry) if name in _ANSWERS),
        waits=waits,
        disabled=node.disabled,
    )


def _level(loop: NodeKey | None, steps: Mapping[NodeKey, Step], graph: Graph) -> Level:
    edges = sorted(
        {
            (edge.source, edge.port, edge.target)
            for key in steps
            for edge in graph.outgoing[key]
            if edge.target in steps and edge.port in steps[key].ports
        }
    )
    order = _topological(steps, edges)
    index = {key: number for number, key in enumerate(order)}
    targets: list[dict[str, tuple[int, ...]]] = [{} for _ in order]
    incoming: list[tuple[tuple[int, str], ...]] = [() for _ in order]
    for source, port, target in edges:
        number = index[source]
        targets[number][port] = (*targets[number].get(port, ()), index[target])
        incoming[index[target]] += ((number, port),)
    return Level(loop, tuple(steps[key] for key in order), tuple(targets), tuple(incoming))


def _topological(
    steps: Mapping[NodeKey, Step], edges: Iterable[tuple[NodeKey, str, NodeKey]]
) -> list[NodeKey]:
    after: dict[NodeKey, list[NodeKey]] = {key: [] for key in steps}
    missing = dict.fromkeys(steps, 0)
    for source, _, target in edges:
        after[source].append(target)
        missing[target] += 1
    ready = [key for key, count in missing.items() if not count]
    heapq.heapify(ready)
    order: list[NodeKey] = []
    while ready:
        key = heapq.heappop(ready)
        order.append(key)
        for target in after[key]:
            missing[target] -= 1
            if not missing[target]:
                heapq.heappush(ready, target)
    if len(order) < len(steps):
        raise BadInput(
            f"The graph has a cycle among {', '.join(sorted(set(steps) - set(order)))}.",
            remedy="Validate the graph before it is compiled; repeat work with a loop node.",
        )
    return order
