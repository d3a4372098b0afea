"""Rules for expressions: that they can be read, and that what they name has a value by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.catalogue.model import Kind, NodeType
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.engine import FUNCTIONS
from stellwerk.workflows.expressions.names import LOOP_VARIABLES, VARIABLES
from stellwerk.workflows.expressions.parameters import Source, raw_parameters, sources
from stellwerk.workflows.expressions.references import Reference, Uses, uses
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Node
from stellwerk.workflows.validate.certainty import Certainty
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import did_you_mean

_SHOWN = 6
_NAMES = {f"${name}" for name in (*VARIABLES, *FUNCTIONS)}


def check_references(subject: Subject) -> Iterator[Fault]:
    """Yield expressions that cannot be read, and names that have no value where they are used."""
    certainty = Certainty(subject)
    for node, found in subject.typed:
        around = _loop_variables(subject, node)
        for source in sources(node.parameters, raw=raw_parameters(found.parameters)):
            there = around | _given(found) if source.raw else around
            yield from _Expressions(subject, certainty, node, source, there).faults()


def _loop_variables(subject: Subject, node: Node) -> frozenset[str]:
    """Return which of `$item` and `$index` the loops around a node give."""
    around = subject.graph.loops_around(node.key)
    item = any(map(subject.is_for_each, around))
    return frozenset({"index"} if around else ()) | frozenset({"item"} if item else ())


def _given(found: NodeType) -> frozenset[str]:
    """Return which of them a handler gives to raw expressions: per pass, or per item."""
    properties = found.parameters.get("properties")
    per_item = isinstance(properties, dict) and "items" in properties
    return LOOP_VARIABLES if per_item else frozenset({"index"} if found.kind is Kind.WHILE else ())


@dataclass(frozen=True)
class _Expressions:
    """The expressions in one text of a node's parameters."""

    subject: Subject
    certainty: Certainty
    node: Node
    source: Source
    loop_variables: frozenset[str]

    def faults(self) -> Iterator[Fault]:
        try:
            found = [uses(expression) for expression in self.source.expressions()]
        except Malformed as error:
            message = f"the expression {error.message}"
            yield self._fault(Code.EXPRESSION_MALFORMED, message, error.remedy)
            return
        for each in found:
            yield from self._names(each)
            for reference in sorted(each.references, key=str):
                yield from self._reference(reference)

    def _names(self, found: Uses) -> Iterator[Fault]:
        for name in sorted(found.unknown):
            meant = name if name.startswith("$") else f"${name}"
            remedy = did_you_mean(meant, _NAMES)
            message = f"{name} stands for nothing"
            yield self._fault(Code.EXPRESSION_NAME_UNKNOWN, message, remedy)
        if found.dynamic:
            yield self._fault(Code.REFERENCE_DYNAMIC, "$nodes is used without naming a node")

    def _reference(self, reference: Reference) -> Iterator[Fault]:
        if reference.name in LOOP_VARIABLES - self.loop_variables:
            loop = "loop over items" if reference.name == "item" else "loop"
            message = f"there is ${reference.name} only inside a {loop}"
            yield self._fault(Code.ITEM_OUTSIDE_LOOP, message)
        if reference.node is not None:
            code = self._code(reference.node, optional=reference.optional)
            if code is not None:
                yield self._node_fault(code, reference.node)

    def _code(self, key: NodeKey, *, optional: bool) -> Code | None:
        """Return what is wrong with a reference to node `key`, if anything."""
        here = self.node.key
        if key not in self.subject.graph.by_key:
            return Code.REFERENCE_UNKNOWN
        around, its = (self.subject.graph.loops_around(each) for each in (here, key))
        if key in around:
            return Code.REFERENCE_OWN_LOOP
        if its != around[: len(its)]:
            return Code.REFERENCE_INSIDE_LOOP
        if here not in self.certainty.sure:
            return None
        if not self.certainty.comes_before(key, here):
            return Code.REFERENCE_NOT_UPSTREAM
        absent = not optional and not self.certainty.has_run(key, here)
        return Code.REFERENCE_MAY_BE_ABSENT if absent else None

    def _node_fault(self, code: Code, key: NodeKey) -> Fault:
        loop = (
            next(iter(reversed(self.subject.graph.loops_around(key))), "")
            if (code is Code.REFERENCE_INSIDE_LOOP)
            else ""
        )
        message, remedy = {
            Code.REFERENCE_UNKNOWN: (
                f"there is no node {key}",
                did_you_mean(key, self.subject.graph.by_key),
            ),
            Code.REFERENCE_OWN_LOOP: (f"loop {key} is not finished inside itself", ""),
            Code.REFERENCE_INSIDE_LOOP: (
                f"node {key} is inside loop {loop} and has a value for each pass",
                f"Refer to the loop: $nodes.{loop}",
            ),
            Code.REFERENCE_NOT_UPSTREAM: (f"node {key} does not come before this one", ""),
            Code.REFERENCE_MAY_BE_ABSENT: (
                f"node {key} may not have run by then",
                f"Say what holds otherwise: $default($nodes.{key}, value).",
            ),
        }[code]
        absent = code is Code.REFERENCE_MAY_BE_ABSENT
        example = self.certainty.example(key, self.node.key) if absent else ()
        return self._fault(code, message, remedy, example)

    def _fault(
        self, code: Code, message: str, remedy: str = "", example: tuple[str, ...] = ()
    ) -> Fault:
        way = f" (for instance on the way {', '.join(example[-_SHOWN:])})" if example else ""
        return Fault(
            code,
            f"Node {self.node.key}, parameter {self.source.parameter}: {message}{way}.",
            remedy,
            node=self.node.key,
            parameter=self.source.parameter,
            example=example,
        )
