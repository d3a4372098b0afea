"""The expressions in a node's parameters: found at any depth, resolved all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from stellwerk.kernel.errors import ExpressionFailed, PermanentError, ReferenceNotAvailable
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.expressions.braces import (
    Expression,
    Malformed,
    bare,
    present,
    split,
)
from stellwerk.workflows.expressions.evaluation import evaluate, failure
from stellwerk.workflows.expressions.names import Names
from stellwerk.workflows.expressions.references import Reference, uses
from stellwerk.workflows.expressions.text import render

RAW = "x-raw"
"""Marks a parameter's schema: its JSONata is evaluated by the handler, for each item or pass."""


@dataclass(frozen=True)
class Source:
    """A text with expressions and where it stands: `lines[0].amount`."""

    parameter: str
    text: str
    raw: bool = False

    def expressions(self) -> tuple[str, ...]:
        """Return the JSONata in it; raise Malformed."""
        if self.raw:
            return (bare(self.text),)
        return tuple(part.source for part in split(self.text) if isinstance(part, Expression))


def raw_parameters(schema: JsonObject) -> frozenset[str]:
    """Return the names of the parameters that `schema` marks as raw."""
    properties = schema.get("properties")
    entries = properties.items() if isinstance(properties, dict) else ()
    return frozenset(
        name for name, entry in entries if isinstance(entry, dict) and entry.get(RAW) is True
    )


def sources(parameters: JsonObject, *, raw: Collection[str] = ()) -> Iterator[Source]:
    """Yield all texts of `parameters` that hold expressions, in order."""
    for name, value in parameters.items():
        for place, text in _texts(value, name):
            if name in raw or present(text):
                yield Source(place, text, raw=name in raw)


def references(parameters: JsonObject, *, raw: Collection[str] = ()) -> frozenset[Reference]:
    """Return all that the expressions of `parameters` refer to; skip what cannot be read."""
    found: set[Reference] = set()
    for source in sources(parameters, raw=raw):
        try:
            for expression in source.expressions():
                found |= uses(expression).references
        except Malformed:
            continue
    return frozenset(found)


def resolve(
    parameters: JsonObject, names: Names, *, node: str, raw: Collection[str] = ()
) -> JsonObject:
    """Return `parameters` with every expression replaced by its value, except the `raw` ones.

    Raises ReferenceNotAvailable or ExpressionFailed, once for all parameters that fail.
    """
    work = _Resolution(names, node)
    resolved: JsonObject = {
        name: value if name in raw else work.value(value, name)
        for name, value in parameters.items()
    }
    if work.errors:
        raise _joined(work.errors)
    return resolved


@dataclass
class _Resolution:
    names: Names
    node: str
    errors: list[PermanentError] = field(default_factory=list)

    def value(self, value: JsonValue, place: str) -> JsonValue:
        if isinstance(value, str):
            return self._text(value, place) if present(value) else value
        if isinstance(value, list):
            return [self.value(item, f"{place}[{index}]") for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self.value(item, field_of(place, key)) for key, item in value.items()}
        return value

    def _text(self, text: str, place: str) -> JsonValue:
        try:
            parts = split(text)
        except Malformed as error:
            self.errors.append(
                failure(error.message, error.remedy, node=self.node, parameter=place)
            )
            return None
        values = [self._part(part, place) for part in parts]
        if len(parts) == 1 and isinstance(parts[0], Expression):
            return values[0]
        return "".join(map(render, values))

    def _part(self, part: str | Expression, place: str) -> JsonValue:
        if isinstance(part, str):
            return part
        try:
            return evaluate(part.source, self.names, node=self.node, parameter=place)
        except (ReferenceNotAvailable, ExpressionFailed) as error:
            self.errors.append(error)
            return None


def field_of(place: str, key: str) -> str:
    """Return the place of field `key` below `place`, as people write it."""
    return f"{place}.{key}" if key.isidentifier() else f'{place}["{key}"]'


def _texts(value: JsonValue, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, field_of(place, key))


def _joined(errors: list[PermanentError]) -> PermanentError:
    if len(errors) == 1:
        return errors[0]
    absent = all(isinstance(error, ReferenceNotAvailable) for error in errors)
    kind = ReferenceNotAvailable if absent else ExpressionFailed
    return kind(
        f"{len(errors)} expressions fail. " + " ".join(error.message for error in errors),
        remedy=" ".join(dict.fromkeys(error.remedy for error in errors if error.remedy)),
    )
