"""What two graphs have otherwise: nodes with their parameters, and edges. The order is no change.

Positions, titles and notes are told as well: they are work of people, though without meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue, canonical
from stellwerk.workflows.graph import Edge, Graph, Node, graph_hash

_PARAMETERS = "parameters"


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(_Told):
    """A field or parameter whose value changed; what is absent on one side is missing there."""

    name: str
    in_before: bool
    in_after: bool
    before: JsonValue = None
    after: JsonValue = None


class NodeChange(_Told):
    """A node that both graphs have, with all that it has otherwise."""

    key: NodeKey
    title: str
    fields: tuple[Change, ...]
    parameters: tuple[Change, ...]


class Diff(_Told):
    """What graph `after` has otherwise than graph `before`, all of it sorted."""

    before: int
    after: int
    same_meaning: bool
    """Whether runs of the two cannot differ: nothing but order, positions, titles or notes did."""
    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    changed: tuple[NodeChange, ...]
    edges_added: tuple[Edge, ...]
    edges_removed: tuple[Edge, ...]


def diff(old: Graph, new: Graph, *, before: int, after: int) -> Diff:
    """Return the difference of two graphs, which are called by their numbers."""
    keys = sorted({*old.by_key, *new.by_key})
    changes = (
        _changed(old.by_key[key], new.by_key[key])
        for key in keys
        if key in old.by_key and key in new.by_key
    )
    return Diff(
        before=before,
        after=after,
        same_meaning=graph_hash(old) == graph_hash(new),
        added=tuple(new.by_key[key] for key in keys if key not in old.by_key),
        removed=tuple(old.by_key[key] for key in keys if key not in new.by_key),
        changed=tuple(change for change in changes if change.fields or change.parameters),
        edges_added=_without(new, old),
        edges_removed=_without(old, new),
    )


def _changed(old: Node, new: Node) -> NodeChange:
    return NodeChange(
        key=new.key,
        title=new.title,
        fields=tuple(_changes(_fields(old), _fields(new))),
        parameters=tuple(_changes(old.parameters, new.parameters)),
    )


def _fields(node: Node) -> JsonObject:
    return node.model_dump(mode="json", exclude={"key", _PARAMETERS})


def _changes(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        here, there = name in before, name in after
        if here and there and _equal(before[name], after[name]):
            continue
        yield Change(
            name=name,
            in_before=here,
            in_after=there,
            before=before.get(name),
            after=after.get(name),
        )


def _equal(one: JsonValue, other: JsonValue) -> bool:
    """Compare as JSON does: 1 is not true, at any depth."""
    return canonical(one) == canonical(other)


def _without(these: Graph, those: Graph) -> tuple[Edge, ...]:
    rest = set(these.edges) - set(those.edges)
    return tuple(sorted(rest, key=lambda edge: (edge.source, edge.port, edge.target)))
