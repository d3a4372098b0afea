"""What is wrong with the parameters of triggers, beyond what their schemas can say."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.triggers.schedules.part import TYPE as SCHEDULE
from stellwerk.triggers.schedules.timing import BadSchedule, read_schedule
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Graph, Node


def faults_of(graph: Graph) -> Iterator[Fault]:
    """Yield schedules that cannot be read, are never due, or that the Scheduler cannot say."""
    for node in graph.nodes:
        if node.type == SCHEDULE:
            yield from _of_schedule(node)


def _of_schedule(node: Node) -> Iterator[Fault]:
    try:
        read_schedule(node.parameters)
    except BadSchedule as bad:
        for fault in bad.faults:
            yield Fault(
                Code.PARAMETER_INVALID,
                f"Node {node.key}: {fault.message}",
                fault.remedy,
                node=node.key,
                parameter=fault.parameter,
            )
