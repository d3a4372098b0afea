"""Which variables a state can have: those that some way to it assigns.

A variable that no way assigns is certainly unassigned: AWS fails there, so the machine is refused.
One that only some ways assign is found at run time.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.stepfunctions.jsonata import STATES, EvaluationFailed, built_in, checked
from localcloud.stepfunctions.shape import Scope, State


def variable_faults(machine: Scope) -> Iterator[str]:
    """Yield what is wrong with the variables and expressions of a machine."""
    yield from _scope(machine, frozenset(), frozenset())


def _scope(scope: Scope, outer: frozenset[str], given: frozenset[str]) -> Iterator[str]:
    own = scope.assigned()
    for name in sorted(own & outer):
        yield f"OUTER_VARIABLE: '{name}' is assigned outside and inside of {scope.place}"
    if STATES in own:
        yield f"RESERVED_VARIABLE: '{STATES}' is assigned in {scope.place}"
    known = _flow(scope, given)
    for name, state in scope.states.items():
        at = known.get(name, given)
        yield from _reads(state, at)
        for inner in state.scopes:
            yield from _scope(inner, outer | own, at)


def _flow(scope: Scope, given: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return for each state the variables that some way from the start has assigned."""
    known = {scope.start: given}
    due = [scope.start]
    while due:
        name = due.pop()
        state = scope.states.get(name)
        for way in state.ways if state is not None else ():
            before = known.get(way.target)
            after = known[name] | way.assigns | (before or frozenset())
            if after != before:
                known[way.target] = after
                due.append(way.target)
    return known


def _reads(state: State, known: frozenset[str]) -> Iterator[str]:
    for source in state.expressions():
        try:
            reads = checked(source)
        except EvaluationFailed as error:
            yield f"INVALID_JSONATA_EXPRESSION: '{source}' in '{state.name}': {error}"
            continue
        for name in sorted(reads - known - {STATES}):
            if not built_in(name):
                yield f"UNASSIGNED_VARIABLE: '${name}' in '{state.name}' is assigned on no way"
