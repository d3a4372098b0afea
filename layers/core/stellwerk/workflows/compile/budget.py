"""What a machine may cost at most: history events, transitions and bytes, and who spends them.

Amazon ends an execution at 25,000 history events and refuses a definition over 1 MB (quotas of
Standard workflows). The reserve below the former is for retries after faults of the platform
itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.compile.ir import Choice, Map, Parallel, State, Task, Wait
from stellwerk.workflows.compile.scopes import Cycle, Scope

EVENTS = 20_000
BYTES = 900_000
_CALL, _TOKEN_CALL, _TRY = 5, 6, 3
_FORK, _ITERATION, _OTHER = 4, 2, 2


@dataclass(frozen=True)
class Spending:
    """Upper bounds for one execution of a machine, or of a part of it."""

    events: int = 0
    transitions: int = 0

    def __add__(self, other: Spending) -> Spending:
        """Return both together."""
        return Spending(self.events + other.events, self.transitions + other.transitions)

    def times(self, count: int) -> Spending:
        """Return this `count` times."""
        return Spending(self.events * count, self.transitions * count)


@dataclass(frozen=True)
class LoopSpending:
    """What one pass of a loop spends, and how many passes it may have in one go."""

    loop: NodeKey
    each: Spending
    most: int

    @property
    def events(self) -> int:
        """Events of all passes."""
        return self.each.events * self.most


def spending(scope: Scope) -> Spending:
    """Return what one run through a scope spends at most."""
    total = Spending(_OTHER, 1)
    for number, state in enumerate(scope.states):
        total += _state(state).times(_repeats(scope.cycles, number))
    return total


def loops(scope: Scope) -> Iterator[LoopSpending]:
    """Yield the loops whose passes run inside this machine, at any depth."""
    for cycle in scope.cycles:
        within = [c for c in scope.cycles if c is not cycle and _holds(cycle, c)]
        each = Spending()
        for number in range(cycle.first, cycle.last + 1):
            each += _state(scope.states[number]).times(_repeats(within, number))
        yield LoopSpending(cycle.loop, each, cycle.most)
    for state in scope.states:
        match state:
            case Map():
                yield LoopSpending(state.loop, _iteration(state), state.most)
                yield from loops(state.body)
            case Parallel():
                for branch in state.branches:
                    yield from loops(branch)
            case _:
                pass


def _holds(outer: Cycle, inner: Cycle) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last


def _repeats(cycles: Sequence[Cycle], number: int) -> int:
    """How often a state runs, by the cycles that it is in."""
    return math.prod(cycle.most for cycle in cycles if cycle.first <= number <= cycle.last)


def _iteration(state: Map) -> Spending:
    return spending(state.body) + Spending(_ITERATION, 0)


def _state(state: State) -> Spending:
    match state:
        case Task():
            declared = sum(again.attempts for again in state.again[1:])
            call = _TOKEN_CALL if state.token else _CALL
            return Spending(call + declared * _TRY, 1 + declared).times(state.uses)
        case Parallel():
            total = Spending(_FORK, 1)
            for branch in state.branches:
                total += spending(branch)
            return total
        case Map():
            return _iteration(state).times(state.most) + Spending(_FORK, 1)
        case Choice():
            return Spending(_OTHER, 1).times(state.uses)
        case Wait():
            return Spending(_OTHER, 1)
        case _:
            return Spending(1, 1)
