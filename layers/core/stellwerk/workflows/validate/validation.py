"""All rules over one graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeAlias

from stellwerk.catalogue.model import Catalogue
from stellwerk.workflows.faults import Code, Fault, ordered
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.validate import (
    edges,
    fitting,
    keys,
    loops,
    parameters,
    references,
    stops,
    things,
    triggers,
)
from stellwerk.workflows.validate.subject import Subject

Rule: TypeAlias = Callable[[Subject], Iterator[Fault]]
RULES: tuple[Rule, ...] = (
    edges.check_ends,
    edges.check_repetitions,
    edges.check_ports,
    edges.check_error_ports,
    edges.check_cycles,
    triggers.check_triggers,
    triggers.check_reach,
    loops.check_parents,
    loops.check_bodies,
    loops.check_borders,
    parameters.check_parameters,
    references.check_references,
    fitting.check_fitting,
    stops.check_stops,
    things.check_assignees,
    things.check_retries,
)


def validate(graph: Graph, catalogue: Catalogue, resources: Resources) -> list[Fault]:
    """Return all that is wrong with `graph`, errors first, always in the same order.

    `resources` answers under the scope of whoever asks: what is foreign is missing.
    """
    subject = Subject(graph, catalogue)
    found = chain(
        keys.check_keys({position: node.key for position, node in enumerate(graph.nodes)}),
        *(rule(subject) for rule in RULES),
        keys.check_types(subject, catalogue),
        things.check_resources(subject, resources),
    )
    return list(ordered(_without_echoes(list(found))))


def _without_echoes(faults: list[Fault]) -> Iterator[Fault]:
    """Leave out what another fault says better: a lack of assignees is no other fault as well."""
    unasked = {fault.node for fault in faults if fault.code is Code.ASSIGNEES_MISSING}
    for fault in faults:
        echo = fault.parameter == things.ASSIGNEES and fault.node in unasked
        if not echo or fault.code is Code.ASSIGNEES_MISSING:
            yield fault
