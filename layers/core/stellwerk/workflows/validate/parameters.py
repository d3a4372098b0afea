"""Rules for parameters against their type's schema, apart from what only a run can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.expressions.braces import Malformed, present, whole
from stellwerk.workflows.expressions.parameters import field_of
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Node
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import did_you_mean, listed, shown, type_words

Path: TypeAlias = tuple[str | int, ...]
_LIMITS: dict[str, str] = {
    "minimum": "must be at least {0}",
    "maximum": "must be at most {0}",
    "exclusiveMinimum": "must be more than {0}",
    "exclusiveMaximum": "must be less than {0}",
    "minLength": "must have at least {0} characters",
    "maxLength": "must have at most {0} characters",
    "minItems": "must have at least {0} entries",
    "maxItems": "must have at most {0} entries",
    "minProperties": "must have at least {0} fields",
    "maxProperties": "must have at most {0} fields",
    "pattern": "must match the pattern {0}",
    "format": "must be a {0}",
    "const": "must be {0}",
    "uniqueItems": "must not have equal entries",
}
_WHOLE_VALUE = {"anyOf", "oneOf", "not", "contains", "uniqueItems", "enum", "const"}
"""What cannot be judged while a part of the value is unknown."""


def check_parameters(subject: Subject) -> Iterator[Fault]:
    """Yield parameters that are missing, unknown, or do not fit."""
    validators: dict[str, Draft202012Validator] = {}
    for node, found in subject.typed:
        if found.type not in validators:
            validators[found.type] = Draft202012Validator(found.parameters)
        dynamic = dict(_dynamic(node.parameters, ()))
        for error in validators[found.type].iter_errors(node.parameters):
            if _certain(error, dynamic):
                yield from _faults(error, node)


def _dynamic(value: JsonValue, path: Path) -> Iterator[tuple[Path, bool]]:
    """Yield where expressions stand; True where one is the whole value."""
    if isinstance(value, str):
        if present(value):
            yield path, _is_whole(value)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _dynamic(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _dynamic(item, (*path, name))


def _is_whole(text: str) -> bool:
    try:
        return whole(text) is not None
    except Malformed:
        return True


def _certain(error: ValidationError, dynamic: dict[Path, bool]) -> bool:
    """Say whether the error remains whatever the expressions give."""
    path = tuple(error.absolute_path)
    if path in dynamic:
        return not dynamic[path] and error.validator == "type"
    if error.validator in {"anyOf", "oneOf"} and error.context:
        branches: dict[str | int, bool] = {}
        for inner in error.context:
            branch = inner.relative_schema_path[0]
            branches[branch] = branches.get(branch, False) or _certain(inner, dynamic)
        return all(branches.values())
    touched = any(place[: len(path)] == path for place in dynamic)
    return not (touched and error.validator in _WHOLE_VALUE)


def _faults(error: ValidationError, node: Node) -> Iterator[Fault]:
    special = _SPECIAL.get(str(error.validator))
    place = _place(tuple(error.absolute_path))
    if special is not None:
        yield from special(error, node, place)
        return
    value = shown(cast(JsonValue, error.instance))
    yield Fault(
        Code.PARAMETER_INVALID,
        f"Node {node.key}: parameter {place or 'set'} {_reason(error)}, not {value}.",
        node=node.key,
        parameter=place,
    )


def _reason(error: ValidationError) -> str:
    value = cast(JsonValue, error.validator_value)
    if error.validator == "type":
        return f"must be {type_words(map(str, value if isinstance(value, list) else [value]))}"
    if error.validator == "enum" and isinstance(value, list):
        return f"must be one of {listed(map(shown, value))}"
    known = _LIMITS.get(str(error.validator))
    return known.format(shown(value)) if known else "fits none of the forms that it may have"


def _missing(error: ValidationError, node: Node, place: str) -> Iterator[Fault]:
    names = cast(list[str], error.validator_value)
    for name in (name for name in names if name not in cast(JsonObject, error.instance)):
        yield Fault(
            Code.PARAMETER_MISSING,
            f"Node {node.key} needs parameter {_under(place, name)}.",
            node=node.key,
            parameter=_under(place, name),
        )


def _unknown(error: ValidationError, node: Node, place: str) -> Iterator[Fault]:
    schema = cast(JsonObject, error.schema)
    properties = schema.get("properties")
    known = list(properties) if isinstance(properties, dict) else []
    for name in (name for name in cast(JsonObject, error.instance) if name not in known):
        yield Fault(
            Code.PARAMETER_UNKNOWN,
            f"Node {node.key} has no parameter {_under(place, name)}.",
            did_you_mean(name, known) or f"It takes {listed(known) or 'none'}.",
            node=node.key,
            parameter=_under(place, name),
        )


_SPECIAL: dict[str, Callable[[ValidationError, Node, str], Iterator[Fault]]] = {
    "required": _missing,
    "additionalProperties": _unknown,
}


def _place(path: Path) -> str:
    place = ""
    for word in path:
        place = f"{place}[{word}]" if isinstance(word, int) else _under(place, word)
    return place


def _under(place: str, name: str) -> str:
    return field_of(place, name) if place else name
