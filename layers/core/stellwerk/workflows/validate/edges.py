"""Rules for edges: ends, ports, repetitions, and circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import ERROR_PORT, Edge, OnError
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import did_you_mean, listed, shown


def check_ends(subject: Subject) -> Iterator[Fault]:
    """Yield edges of nodes that do not exist."""
    known = subject.graph.by_key
    for edge in subject.graph.edges:
        for end, key in (("begins", edge.source), ("ends", edge.target)):
            if key not in known:
                yield Fault(
                    Code.EDGE_NODE_UNKNOWN,
                    f"An edge {end} at {shown(key)}, which does not exist ({_words(edge)}).",
                    did_you_mean(key, known),
                    edge=edge,
                )


def check_repetitions(subject: Subject) -> Iterator[Fault]:
    """Yield edges that are there more than once."""
    for edge, count in Counter(subject.graph.edges).items():
        if count > 1:
            message = f"The edge {_words(edge)} is there {count} times."
            yield Fault(Code.EDGE_DUPLICATE, message, edge=edge)


def check_ports(subject: Subject) -> Iterator[Fault]:
    """Yield edges at ports that their node does not have, or that cannot fire."""
    for edge in dict.fromkeys(subject.graph.edges):
        if edge.source not in subject.types:
            continue
        ports = subject.ports(edge.source)
        if edge.port not in ports:
            message = f"Node {edge.source} has no port {shown(edge.port)} ({_words(edge)})."
            yield Fault(Code.EDGE_PORT_UNKNOWN, message, _port_remedy(edge, ports), edge=edge)
        elif edge.port not in subject.fires(edge.source):
            message = f"Port {edge.port} of node {edge.source} never fires ({_words(edge)})."
            yield Fault(Code.PORT_NEVER_FIRES, message, edge=edge)


def check_error_ports(subject: Subject) -> Iterator[Fault]:
    """Yield nodes whose errors take a port where nothing follows."""
    for node, _ in subject.typed:
        ports = {edge.port for edge in subject.graph.outgoing[node.key]}
        branches = node.on_error is OnError.BRANCH and not subject.is_trigger(node.key)
        if branches and ERROR_PORT not in ports:
            message = f"Errors of node {node.key} take port error, and nothing follows there."
            yield Fault(Code.ERROR_PORT_OPEN, message, node=node.key)


def check_cycles(subject: Subject) -> Iterator[Fault]:
    """Yield the circles in which nodes wait for one another."""
    for cycle in subject.order.cycles:
        keys: tuple[NodeKey, ...] = (*cycle, cycle[0])
        way = " -> ".join(keys)
        yield Fault(Code.CYCLE, f"Nodes wait for one another: {way}.", node=cycle[0], example=keys)


def _port_remedy(edge: Edge, ports: tuple[str, ...]) -> str:
    if edge.port == ERROR_PORT:
        return "Set on_error to branch at that node, or remove the edge."
    if not ports:
        return "Nothing can follow this node: remove the edge."
    return f"Its ports are {listed(ports)}."


def _words(edge: Edge) -> str:
    return f"{shown(edge.source)}, port {shown(edge.port)}, to {shown(edge.target)}"
