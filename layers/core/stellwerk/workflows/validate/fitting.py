"""Rule for values that flow between nodes: an expression whose type the parameter never accepts."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.expressions.braces import Malformed, present, whole
from stellwerk.workflows.expressions.parameters import raw_parameters
from stellwerk.workflows.expressions.references import uses
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Node, OnError
from stellwerk.workflows.validate.schemas import ALL_TYPES, Part, Schema
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import listed, type_words


def check_fitting(subject: Subject) -> Iterator[Fault]:
    """Yield plain references to values that can never fit; doubtful ones pass."""
    for node, found in subject.typed:
        raw, schema = raw_parameters(found.parameters), Schema(found.parameters)
        for part in schema.parts(node.parameters):
            path = _path(part) if part.place not in raw else None
            if path is not None:
                yield from _Flow(subject, node, part, path).faults(schema)


def _path(part: Part) -> tuple[str, ...] | None:
    """Return the names of the plain path that is the whole value of `part`."""
    if not isinstance(part.value, str) or not present(part.value):
        return None
    try:
        only = whole(part.value)
        return uses(only.source).path if only else None
    except Malformed:
        return None


class _Flow:
    """One plain reference, from what its source gives to what the parameter takes."""

    def __init__(self, subject: Subject, node: Node, part: Part, path: tuple[str, ...]) -> None:
        self._subject = subject
        self._node = node
        self._part = part
        self._path = path

    def faults(self, takes: Schema) -> Iterator[Fault]:
        source, steps = self._source()
        if source is None:
            return
        gives, found = Schema(source.result), source.result
        for step in steps:
            inner = gives.fields((found,), step)
            if not inner and gives.closed(found):
                yield self._no_field(step, found)
                return
            if len(inner) != 1 or gives.types(found) != {"object"}:
                return
            found = inner[0]
        given = gives.types(found)
        taken = frozenset().union(*(takes.types(schema) for schema in self._part.schemas))
        if not given & (taken or ALL_TYPES):
            yield self._no_fit(given, taken)

    def _source(self) -> tuple[NodeType | None, tuple[str, ...]]:
        """Return the type of the node whose value is meant, and the fields below it."""
        head, *steps = self._path
        if head == "nodes" and steps:
            return self._type(NodeKey(steps[0])), tuple(steps[1:])
        incoming = self._subject.incoming[self._node.key]
        if head == "input" and len(incoming) == 1:
            return self._type(incoming[0].source), tuple(steps)
        return None, ()

    def _type(self, key: NodeKey) -> NodeType | None:
        """Return the type of a node whose value is always what its type says."""
        node = self._subject.graph.by_key.get(key)
        if node is None or node.disabled or node.on_error is not OnError.FAIL:
            return None
        return self._subject.types.get(key)

    def _no_field(self, step: str, found: JsonObject) -> Fault:
        properties = found.get("properties")
        known = listed(properties) if isinstance(properties, dict) else ""
        return self._fault(f"has no field {step}", f"Its fields are {known or 'none'}.")

    def _no_fit(self, given: frozenset[str], taken: frozenset[str]) -> Fault:
        message = f"is {type_words(sorted(given))}, but {type_words(sorted(taken))} is needed"
        return self._fault(message, "")

    def _fault(self, message: str, remedy: str) -> Fault:
        path = "$" + ".".join(self._path)
        return Fault(
            Code.VALUE_CANNOT_FIT,
            f"Node {self._node.key}, parameter {self._part.place}: {path} {message}.",
            remedy,
            node=self._node.key,
            parameter=self._part.place,
        )
