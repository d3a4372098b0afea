"""Graphs in bodies, read by the product's own reader: it names all faults, where, and remedies."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request

from api.document import Node
from stellwerk.workflows.graph import Graph


class Reading(Protocol):
    """The module `reading`, as seen from here."""

    def read_graph(self, text: str) -> Graph:
        """Return the graph that `text` holds; raises InvalidGraph."""


def reading() -> Reading:
    """Return the module that reads graphs: its imports cost, and few requests bring a graph."""
    return cast("Reading", import_module("stellwerk.workflows.reading"))


class GraphText:
    """A body that is a graph, not yet read."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def read(self) -> Graph:
        """Return the graph; raises InvalidGraph with all that is wrong with the text."""
        return reading().read_graph(self._body.decode("utf-8", errors="surrogateescape"))


async def graph_text(request: Request) -> GraphText:
    """Return the request's body."""
    return GraphText(await request.body())


InBody = Annotated[GraphText, Depends(graph_text)]
"""A graph as the body, as a parameter of an operation."""
BODY: Node = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Graph"}}},
    }
}
"""What the document says of such a body."""
