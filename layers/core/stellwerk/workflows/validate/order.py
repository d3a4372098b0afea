"""Which nodes can come before which: an order of the nodes outside of cycles, and the cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import NodeKey

Following = Mapping[NodeKey, Sequence[NodeKey]]


@dataclass(frozen=True)
class Order:
    """`nodes` come after all that lead to them; nodes in a cycle, or behind one, are left out.

    Each cycle begins with its smallest key and is the shortest through it.
    """

    nodes: tuple[NodeKey, ...]
    cycles: tuple[tuple[NodeKey, ...], ...]


def order_of(following: Following) -> Order:
    """Return the order of the nodes, given which nodes follow each."""
    cycles = (_shortest(min(knot), knot, following) for knot in _knots(following))
    return Order(tuple(_sorted(following)), tuple(sorted(cycle for cycle in cycles if cycle)))


def _sorted(following: Following) -> Iterator[NodeKey]:
    """Yield the nodes that no cycle leads to, in order."""
    waiting_for = dict.fromkeys(following, 0)
    for targets in following.values():
        for target in targets:
            waiting_for[target] += 1
    ready = deque(key for key, count in waiting_for.items() if count == 0)
    while ready:
        key = ready.popleft()
        yield key
        for target in following[key]:
            waiting_for[target] -= 1
            if waiting_for[target] == 0:
                ready.append(target)


def _knots(following: Following) -> Iterator[set[NodeKey]]:
    """Yield the sets of nodes that all lead to one another (Kosaraju), single nodes included."""
    backwards: dict[NodeKey, list[NodeKey]] = {key: [] for key in following}
    for key, targets in following.items():
        for target in targets:
            backwards[target].append(key)
    seen: set[NodeKey] = set()
    for key in reversed(_finished(following)):
        if key not in seen:
            knot = _reached(key, backwards, seen)
            seen |= knot
            yield knot


def _finished(following: Following) -> list[NodeKey]:
    """Return the nodes in the order in which a search in depth leaves them."""
    left: list[NodeKey] = []
    seen: set[NodeKey] = set()
    for root in following:
        stack = [(root, iter(following[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            key, targets = stack[-1]
            target = next((target for target in targets if target not in seen), None)
            if target is None:
                left.append(key)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(following[target])))
    return left


def _reached(first: NodeKey, following: Following, without: set[NodeKey]) -> set[NodeKey]:
    found, waiting = {first}, [first]
    while waiting:
        for target in following[waiting.pop()]:
            if target not in found and target not in without:
                found.add(target)
                waiting.append(target)
    return found


def _shortest(first: NodeKey, knot: set[NodeKey], following: Following) -> tuple[NodeKey, ...]:
    """Return the shortest way from `first` back to it inside `knot`; empty if there is none."""
    came_from: dict[NodeKey, NodeKey] = {}
    waiting = deque([first])
    while waiting:
        key = waiting.popleft()
        for target in following[key]:
            if target == first:
                return _way(key, first, came_from)
            if target in knot and target not in came_from:
                came_from[target] = key
                waiting.append(target)
    return ()


def _way(
    last: NodeKey, first: NodeKey, came_from: Mapping[NodeKey, NodeKey]
) -> tuple[NodeKey, ...]:
    way = [last]
    while way[-1] != first:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))
