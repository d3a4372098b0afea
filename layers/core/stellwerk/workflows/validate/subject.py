"""The graph under examination, with what its node types say about it. All rules read this."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from stellwerk.catalogue.model import Kind, NodeType
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.graph import ERROR_PORT, Edge, Graph, Node, OnError
from stellwerk.workflows.validate.order import Order, order_of

LOOPS = frozenset({Kind.FOR_EACH, Kind.WHILE})
EXPIRED = "expired"


class Types(Protocol):
    """Where node types come from: the part of a catalogue that most rules need."""

    def find(self, name: str) -> NodeType | None:
        """Return the type called `name`; None if there is none."""


@dataclass(frozen=True)
class Subject:
    """A graph and where its types come from."""

    graph: Graph
    catalogue: Types

    @cached_property
    def types(self) -> dict[NodeKey, NodeType]:
        """Types by node; nodes of unknown type are missing."""
        found = {key: self.catalogue.find(node.type) for key, node in self.graph.by_key.items()}
        return {key: found_type for key, found_type in found.items() if found_type is not None}

    @cached_property
    def typed(self) -> tuple[tuple[Node, NodeType], ...]:
        """The enabled nodes whose type is known, with it."""
        nodes = self.graph.by_key.values()
        return tuple(
            (node, self.types[node.key])
            for node in nodes
            if node.key in self.types and not node.disabled
        )

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that mean something: between nodes that exist, inside one level, each once."""
        known = self.graph.by_key
        return tuple(
            edge
            for edge in dict.fromkeys(self.graph.edges)
            if edge.source in known
            and edge.target in known
            and known[edge.source].parent == known[edge.target].parent
        )

    @cached_property
    def incoming(self) -> dict[NodeKey, list[Edge]]:
        """Meaningful edges by target, sorted; every node has an entry."""
        found: dict[NodeKey, list[Edge]] = {key: [] for key in self.graph.by_key}
        for edge in sorted(self.edges, key=lambda edge: (edge.source, edge.port)):
            found[edge.target].append(edge)
        return found

    @cached_property
    def outgoing(self) -> dict[NodeKey, list[Edge]]:
        """Meaningful edges by source; every node has an entry."""
        found: dict[NodeKey, list[Edge]] = {key: [] for key in self.graph.by_key}
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def order(self) -> Order:
        """The nodes in the order in which they can run, and the cycles."""
        keys = sorted(self.graph.by_key)
        return order_of({key: [edge.target for edge in self.outgoing[key]] for key in keys})

    def ports(self, key: NodeKey) -> tuple[str, ...]:
        """Return the ports of a node of known type, `error` included where it has one."""
        node, found = self.graph.by_key[key], self.types[key]
        extra = (ERROR_PORT,) if node.on_error is OnError.BRANCH else ()
        return (*found.ports_for(node.parameters), *extra)

    def fires(self, key: NodeKey) -> frozenset[str]:
        """Return the ports that can fire; all that its edges name if the type is unknown."""
        node, found = self.graph.by_key[key], self.types.get(key)
        if found is None:
            return frozenset(edge.port for edge in self.graph.outgoing[key])
        ports = self.ports(key)
        if node.disabled:
            return frozenset(ports[:1])
        cancels = EXPIRED in ports and setting(node, found, "on_expire") in {None, "cancel"}
        return frozenset(ports) - ({EXPIRED} if cancels else set())

    def is_loop(self, key: NodeKey) -> bool:
        """Say whether the node is a loop."""
        return key in self.types and self.types[key].kind in LOOPS

    def is_for_each(self, key: NodeKey) -> bool:
        """Say whether the node is a loop over items."""
        return key in self.types and self.types[key].kind is Kind.FOR_EACH

    def is_trigger(self, key: NodeKey) -> bool:
        """Say whether runs start at the node."""
        return key in self.types and self.types[key].kind is Kind.TRIGGER


def setting(node: Node, found: NodeType, name: str) -> JsonValue:
    """Return a parameter of the node, else the default that its type's schema gives, else None."""
    if name in node.parameters:
        return node.parameters[name]
    properties = found.parameters.get("properties")
    entry = properties.get(name) if isinstance(properties, dict) else None
    return entry.get("default") if isinstance(entry, dict) else None
