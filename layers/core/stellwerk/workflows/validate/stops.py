"""Rules for successful stops: at most one may set the output of a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.validate.subject import Subject, setting

Event: TypeAlias = tuple[NodeKey, str | None]
"""A node runs (None), or fires that port."""
Pair: TypeAlias = tuple[Event, Event]


def check_stops(subject: Subject) -> Iterator[Fault]:
    """Yield successful stops in loops, and pairs of which both can be live in one run."""
    stops = [
        node
        for node, found in subject.typed
        if found.kind is Kind.STOP and setting(node, found, "outcome") != "error"
    ]
    for node in stops:
        if node.parent is not None:
            message = f"Stop {node.key} ends the run successfully, but is in loop {node.parent}."
            yield Fault(Code.STOP_SUCCESS_IN_LOOP, message, node=node.key)
    together = _Together(subject)
    accused: set[NodeKey] = set()
    for first, second in combinations(sorted(node.key for node in stops if not node.parent), 2):
        if second not in accused and together.possible(first, second):
            accused.add(second)
            message = f"Stops {first} and {second} can both be live in one run."
            yield Fault(Code.STOP_SUCCESS_TWICE, message, node=second, example=(first, second))


class _Together:
    """Tells whether two nodes of the top level can both run, whatever ports are fired.

    It walks back from both at once, always from the later one, until both come from the same port
    of the same node. At one node two different ports exclude each other.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._place = {key: place for place, key in enumerate(subject.order.nodes)}
        self._impossible: set[Pair] = set()

    def possible(self, first: NodeKey, second: NodeKey) -> bool:
        """Say whether both can run in one run."""
        if first not in self._place or second not in self._place:
            return False
        seen: set[Pair] = set()
        waiting = [self._sorted((first, None), (second, None))]
        while waiting:
            pair = waiting.pop()
            if pair in seen or pair in self._impossible:
                continue
            seen.add(pair)
            for before in self._before(pair):
                if before[0][0] != before[1][0]:
                    waiting.append(before)
                elif before[0] == before[1]:
                    return True
        self._impossible |= seen
        return False

    def _before(self, pair: Pair) -> Iterator[Pair]:
        earlier, (later, _) = pair
        for edge in self._subject.incoming[later]:
            if edge.port in self._subject.fires(edge.source):
                yield self._sorted(earlier, (edge.source, edge.port))

    def _sorted(self, one: Event, other: Event) -> Pair:
        in_order = self._place[one[0]] <= self._place[other[0]]
        return (one, other) if in_order else (other, one)
