"""Rules for where runs begin, and for what they can reach."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import OnError
from stellwerk.workflows.validate.subject import Subject


def check_triggers(subject: Subject) -> Iterator[Fault]:
    """Yield a lack of triggers, and triggers that are not at a beginning."""
    triggers = [node for node in subject.graph.by_key.values() if subject.is_trigger(node.key)]
    if not triggers and len(subject.types) == len(subject.graph.by_key):
        yield Fault(Code.TRIGGER_MISSING, "The workflow has no trigger.")
    for node in triggers:
        if node.parent is not None:
            message = f"Trigger {node.key} is part of loop {node.parent}."
            yield Fault(Code.TRIGGER_IN_LOOP, message, node=node.key)
        if node.on_error is OnError.BRANCH:
            message = f"Trigger {node.key} has on_error: branch, but triggers have no error port."
            yield Fault(Code.TRIGGER_HAS_ERROR_PORT, message, node=node.key)
        for edge in subject.graph.incoming[node.key]:
            message = f"An edge leads from {edge.source} to trigger {node.key}."
            yield Fault(Code.TRIGGER_HAS_INPUT, message, edge=edge)


def check_reach(subject: Subject) -> Iterator[Fault]:
    """Yield nodes of the top level to which no path leads from a trigger."""
    reached = _reached(subject)
    circular = {key for cycle in subject.order.cycles for key in cycle}
    runs = reached | circular
    for node in subject.graph.by_key.values() if reached else ():
        if node.parent is None and node.key not in runs:
            message = f"Node {node.key} can never run: no path from a trigger leads to it."
            yield Fault(Code.UNREACHABLE, message, node=node.key)


def _reached(subject: Subject) -> set[NodeKey]:
    """Return what triggers reach; a node of unknown type might be a trigger."""
    begin = [
        key
        for key in subject.graph.by_key
        if subject.is_trigger(key) or (key not in subject.types and not subject.graph.incoming[key])
    ]
    reached, waiting = set(begin), list(begin)
    while waiting:
        for edge in subject.outgoing[waiting.pop()]:
            if edge.target not in reached:
                reached.add(edge.target)
                waiting.append(edge.target)
    return reached
