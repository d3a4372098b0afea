"""Rules for loops and their bodies."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Node
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import did_you_mean, shown

DEEPEST = 5


def check_parents(subject: Subject) -> Iterator[Fault]:
    """Yield nodes that belong to what is no loop, or to themselves."""
    by_key = subject.graph.by_key
    loops = [key for key in by_key if subject.is_loop(key)]
    for node in by_key.values():
        parent = node.parent
        if parent is None:
            continue
        if parent not in by_key:
            message = f"Node {node.key} belongs to {shown(parent)}, which does not exist."
            remedy = did_you_mean(parent, loops)
            yield Fault(Code.PARENT_UNKNOWN, message, remedy, node=node.key)
        elif parent in subject.types and not subject.is_loop(parent):
            message = f"Node {node.key} belongs to {parent}, which is no loop."
            yield Fault(Code.PARENT_NOT_A_LOOP, message, node=node.key)
        elif node.key in _circle(subject, node):
            message = f"Loop {node.key} belongs, over others, to itself."
            yield Fault(Code.PARENT_CIRCULAR, message, node=node.key)


def check_bodies(subject: Subject) -> Iterator[Fault]:
    """Yield loops without a body, and loops that are too deep in others."""
    for key in subject.graph.by_key:
        if not subject.is_loop(key):
            continue
        if not subject.graph.children.get(key):
            yield Fault(Code.LOOP_EMPTY, f"Loop {key} has no nodes in its body.", node=key)
        around = subject.graph.loops_around(key)
        if len(around) == DEEPEST:
            way = " > ".join((*around, key))
            message = f"Loop {key} is the {DEEPEST + 1}th one inside another: {way}."
            yield Fault(Code.LOOP_TOO_DEEP, message, node=key, example=around)


def check_borders(subject: Subject) -> Iterator[Fault]:
    """Yield edges that cross the border of a loop; wrong parents are a fault of their own."""
    known = subject.graph.by_key
    for edge in dict.fromkeys(subject.graph.edges):
        if edge.source not in known or edge.target not in known:
            continue
        here, there = known[edge.source].parent, known[edge.target].parent
        if here != there and {here, there} <= {None, *known}:
            message = (
                f"The edge from {edge.source} ({_level(here)}) to {edge.target} ({_level(there)})"
                " crosses the border of a loop."
            )
            yield Fault(Code.EDGE_CROSSES_LOOP, message, edge=edge)


def _level(parent: NodeKey | None) -> str:
    return f"in loop {parent}" if parent is not None else "outside of loops"


def _circle(subject: Subject, node: Node) -> set[NodeKey]:
    """Return the loops around a node, itself included if they lead back to it."""
    seen: set[NodeKey] = set()
    parent = node.parent
    while parent is not None and parent in subject.graph.by_key and parent not in seen:
        seen.add(parent)
        parent = subject.graph.by_key[parent].parent
    return seen
