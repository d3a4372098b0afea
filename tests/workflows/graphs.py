"""Short ways to write graphs in tests."""

from __future__ import annotations

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Edge, Graph, Node
from stellwerk.workflows.validate.validation import validate
from tests.workflows.catalogue import FakeCatalogue, FakeResources


def node(
    key: str, kind: str = "data.set", parameters: JsonObject | None = None, **more: JsonValue
) -> Node:
    entries: JsonObject = {"key": key, "type": kind, "parameters": parameters or {}, **more}
    return Node.model_validate(entries)


def start(key: str = "start") -> Node:
    return node(key, "trigger.manual")


def edge(text: str) -> Edge:
    """Return the edge of `a -> b` or `a:port -> b`."""
    source, _, target = text.partition(" -> ")
    key, _, port = source.partition(":")
    return Edge(source=NodeKey(key), port=port or "out", target=NodeKey(target))


def graph(nodes: list[Node], *edges: str) -> Graph:
    return Graph(nodes=tuple(nodes), edges=tuple(map(edge, edges)))


def faults(built: Graph, *, resources: FakeResources | None = None) -> list[Fault]:
    return validate(built, FakeCatalogue(), resources or FakeResources(ok="workflow"))


def codes(built: Graph) -> list[str]:
    return [str(fault.code) for fault in faults(built)]
