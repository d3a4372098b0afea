"""The graph of a workflow, `stellwerk/graph@1`: nodes, and edges from ports, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.kernel.json import (
    NUMERIC,
    Flag,
    JsonObject,
    JsonValue,
    Number,
    Whole,
    digest,
)

SCHEMA = "stellwerk/graph@1"
KEY_PATTERN = r"^[a-z][a-z0-9_]{0,39}$"
ERROR_PORT = "error"
OUT_PORT = "out"


class OnError(StrEnum):
    """What happens when a node has failed for good."""

    FAIL = "fail"  # the run fails
    BRANCH = "branch"  # port `error` fires
    CONTINUE = "continue"  # the first port fires with the error as value


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Retry(_Model):
    """How often and how far apart a node that failed with a transient error is tried again."""

    attempts: Whole = Field(default=3, ge=1, le=20, description="Tries in all, the first included")
    interval: Number = Field(default=2, ge=1, le=3600, description="Seconds before the second try")
    backoff: Number = Field(default=2, ge=1, le=10, description="Factor for each further pause")


class Position(_Model):
    """Where the editor draws the node; without meaning."""

    x: Number = 0
    y: Number = 0


class Node(_Model):
    """A step of a workflow.

    `key` is what expressions call it, `parent` the loop whose body it belongs to.
    """

    key: NodeKey
    type: str
    title: str = ""
    parameters: JsonObject = Field(default_factory=dict)
    parent: NodeKey | None = None
    retry: Retry | None = None
    on_error: OnError = OnError.FAIL
    timeout: Annotated[int, Field(ge=1, le=840), NUMERIC] | None = Field(
        default=None, description="Seconds"
    )
    disabled: Flag = False
    notes: str = ""
    position: Position = Position()


class Edge(_Model):
    """What follows when `source` fires `port`."""

    source: NodeKey = Field(alias="from")
    port: str = OUT_PORT
    target: NodeKey = Field(alias="to")


class Graph(_Model):
    """A whole workflow as drawn. May be faulty: `validate` says how."""

    schema_: Literal["stellwerk/graph@1"] = Field(default="stellwerk/graph@1", alias="schema")
    title: str = ""
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    @cached_property
    def by_key(self) -> dict[NodeKey, Node]:
        """Nodes by key; of nodes that share a key the first."""
        found: dict[NodeKey, Node] = {}
        for node in self.nodes:
            found.setdefault(node.key, node)
        return found

    @cached_property
    def incoming(self) -> dict[NodeKey, tuple[Edge, ...]]:
        """Edges by target, in a fixed order; every node has an entry."""
        return self._edges_by("target")

    @cached_property
    def outgoing(self) -> dict[NodeKey, tuple[Edge, ...]]:
        """Edges by source, in a fixed order; every node has an entry."""
        return self._edges_by("source")

    @cached_property
    def children(self) -> dict[NodeKey | None, tuple[Node, ...]]:
        """Nodes by the loop whose body they belong to, sorted by key; None is the top level."""
        found: dict[NodeKey | None, list[Node]] = {None: []}
        for node in sorted(self.nodes, key=lambda node: node.key):
            found.setdefault(node.parent, []).append(node)
        return {parent: tuple(nodes) for parent, nodes in found.items()}

    def loops_around(self, key: NodeKey) -> tuple[NodeKey, ...]:
        """Return the loops that hold node `key`, the outermost first.

        Ends at unknown or circular parents.
        """
        found: list[NodeKey] = []
        parent = self.by_key[key].parent
        while parent is not None and parent not in found and parent in self.by_key:
            found.append(parent)
            parent = self.by_key[parent].parent
        return tuple(reversed(found))

    def _edges_by(self, end: str) -> dict[NodeKey, tuple[Edge, ...]]:
        found: dict[NodeKey, list[Edge]] = {node.key: [] for node in self.nodes}
        for edge in sorted(self.edges, key=lambda edge: (edge.source, edge.port, edge.target)):
            found.setdefault(getattr(edge, end), []).append(edge)
        return {key: tuple(edges) for key, edges in found.items()}


def graph_hash(graph: Graph) -> str:
    """Return the SHA-256 of what the graph means: without order, positions, titles and notes."""
    unseen = {"title", "position", "notes"}
    nodes: list[JsonValue] = [
        node.model_dump(mode="json", exclude=unseen)
        for node in sorted(graph.nodes, key=lambda n: n.key)
    ]
    ends = sorted({(edge.source, edge.port, edge.target) for edge in graph.edges})
    edges: list[JsonValue] = [list(end) for end in ends]
    return digest({"schema": SCHEMA, "nodes": nodes, "edges": edges})


def enclosing(path: Path) -> Iterator[tuple[NodeKey, int, Path]]:
    """Yield the loops of `path`, outermost first: loop key, index, and the path down to it."""
    parts = path.split(".") if path else []
    for depth, part in enumerate(parts, 1):
        key, _, index = part.rstrip("]").partition("[")
        yield NodeKey(key), int(index), Path(".".join(parts[:depth]))


def inside(path: Path, loop: NodeKey, index: int) -> Path:
    """Return the path of the `index`-th pass of `loop`, which itself runs at `path`."""
    return Path(f"{path}.{loop}[{index}]" if path else f"{loop}[{index}]")
