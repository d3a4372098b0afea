"""The parts that requests share: conditions with their placeholders, projections, answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from localcloud.dynamodb.conditions import Condition, condition
from localcloud.dynamodb.errors import ConditionFailed, Invalid
from localcloud.dynamodb.syntax import Bound, Path, Reader, list_of, look
from localcloud.dynamodb.updates import put
from localcloud.dynamodb.values import (
    ITEM_BYTES,
    BadValue,
    Item,
    Value,
    checked,
    fits,
)

Request: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]

_LEGACY = frozenset(
    {
        "AttributesToGet",
        "AttributeUpdates",
        "ConditionalOperator",
        "Expected",
        "KeyConditions",
        "QueryFilter",
        "ScanFilter",
    }
)


@dataclass(frozen=True)
class Placeholders:
    """The names and values that a request defines for its expressions."""

    names: Mapping[str, str]
    values: Mapping[str, Value]

    def bound(self, item: Item) -> Bound:
        """Return what an expression is evaluated with."""
        return Bound(item, self.names, self.values)

    def check(self, names: Iterable[str], values: Iterable[str]) -> None:
        """Refuse placeholders that no expression uses, and those that are not defined."""
        _same("ExpressionAttributeNames", self.names, names)
        _same("ExpressionAttributeValues", self.values, values)


def _same(field: str, defined: Mapping[str, object], names: Iterable[str]) -> None:
    used = set(names)
    if defined.keys() == used:
        return
    for name in sorted(defined.keys() - used):
        raise Invalid(f"Value provided in {field} unused in expressions: keys: {{{name}}}")
    for name in sorted(used - defined.keys()):
        raise Invalid(f"{field}: an expression uses {name}, which is not defined")


def placeholders(request: Request) -> Placeholders:
    """Read a request's placeholders; refuse the parameters of before expressions."""
    if not _LEGACY.isdisjoint(request):
        legacy = ", ".join(sorted(_LEGACY.intersection(request)))
        raise Invalid(f"the local cloud does not know the legacy parameter {legacy}")
    names = request.get("ExpressionAttributeNames") or {}
    values = request.get("ExpressionAttributeValues") or {}
    return Placeholders(names, {name: value_of(value) for name, value in values.items()})


def value_of(value: Value) -> Value:
    """Return a value as it is kept. Raises Invalid."""
    try:
        return checked(value)
    except BadValue as error:
        raise Invalid(f"One or more parameter values were invalid: {error}") from error


def item_of(raw: Mapping[str, Value]) -> Item:
    """Return an item as it is kept. Raises Invalid."""
    item = {name: value_of(value) for name, value in raw.items()}
    check_size(item, "Item size has exceeded the maximum allowed size")
    return item


def check_size(item: Item, message: str) -> None:
    """Refuse an item of more than 400 KB."""
    if not fits(item, ITEM_BYTES):
        raise Invalid(message)


def condition_of(request: Request, field: str = "ConditionExpression") -> Condition | None:
    """Read a request's condition or filter."""
    text = request.get(field)
    return None if text is None else condition(text)


def hold(
    test: Condition | None, given: Placeholders, current: Item | None, request: Request
) -> None:
    """Raise ConditionFailed unless the request's condition holds for what stands there."""
    if test is None or test.holds(given.bound(current or {})):
        return
    wanted = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    raise ConditionFailed(current if wanted else None)


@dataclass(frozen=True)
class Projection:
    """Which attributes an answer holds."""

    paths: tuple[Path, ...]
    names: frozenset[str]

    def of(self, item: Item, given: Placeholders) -> Item:
        """Return the part of an item that was asked for."""
        part: Item = {}
        bound = given.bound(item)
        for path in self.paths:
            found = look(item, bound.path(path))
            if found is not None:
                _place(part, bound.path(path), found)
        return part


def _place(part: Item, path: Path, value: Value) -> None:
    for length in range(1, len(path)):
        if look(part, path[:length]) is None:
            put(part, path[:length], {"L": []} if isinstance(path[length], int) else {"M": {}})
    put(part, path, value)


@lru_cache(256)
def projection(text: str) -> Projection:
    """Read a projection. Raises Invalid."""
    reader = Reader(text)
    paths: list[Path] = []
    list_of(reader, lambda inner: paths.append(inner.path()))
    reader.end()
    return Projection(tuple(paths), frozenset(reader.names))


def projection_of(request: Request) -> Projection | None:
    """Read a request's projection."""
    text = request.get("ProjectionExpression")
    return None if text is None else projection(text)
