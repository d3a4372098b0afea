"""Conditions on keys: one partition, and maybe a part of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.requests import Placeholders
from localcloud.dynamodb.syntax import Reader
from localcloud.dynamodb.table import Keys
from localcloud.dynamodb.values import Value, kind, order

Entries: TypeAlias = "Sequence[tuple[Any, ...]]"
Bounds: TypeAlias = "Callable[[Entries], tuple[int, int]]"
"""Of a partition in order, which part a condition takes."""


@dataclass(frozen=True)
class Part:
    """`name sign :values`."""

    name: str
    sign: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class KeyCondition:
    """One or two parts, not yet told apart."""

    parts: tuple[Part, ...]
    names: frozenset[str]
    values: frozenset[str]


@lru_cache(256)
def key_condition(text: str) -> KeyCondition:
    """Read a key condition. Raises Invalid."""
    reader = Reader(text)
    parts = [_part(reader)]
    while reader.skip("AND"):
        parts.append(_part(reader))
    reader.end()
    if len(parts) > 2 or any(part.sign not in _BOUNDS for part in parts):
        raise Invalid("Query key condition not supported")
    return KeyCondition(tuple(parts), frozenset(reader.names), frozenset(reader.values))


def _part(reader: Reader) -> Part:
    if reader.skip("("):
        part = _part(reader)
        reader.expect(")")
        return part
    if reader.next == "begins_with":
        reader.take()
        reader.expect("(")
        name = str(reader.path()[0])
        reader.expect(",")
        part = Part(name, "begins_with", (reader.placeholder(),))
        reader.expect(")")
        return part
    name, sign, first = str(reader.path()[0]), reader.take().upper(), reader.placeholder()
    if sign != "BETWEEN":
        return Part(name, sign, (first,))
    reader.expect("AND")
    return Part(name, sign, (first, reader.placeholder()))


def bounds_of(condition: KeyCondition, keys: Keys, given: Placeholders) -> tuple[Any, Bounds]:
    """Return the partition, and which part of it is asked for. Raises Invalid."""
    named = {given.names.get(part.name, part.name): part for part in condition.parts}
    partition = named.pop(keys.names[0], None)
    if partition is None or partition.sign != "=":
        raise Invalid(f"Query condition missed key schema element: {keys.names[0]}")
    whole = _value(given, partition.values[0], keys, keys.names[0])
    if not named:
        return whole, lambda entries: (0, len(entries))
    name, part = named.popitem()
    if name not in keys.names[1:]:
        raise Invalid(f"Query condition missed key schema element: {keys.names[-1]}")
    values = [_value(given, value, keys, name) for value in part.values]
    return whole, _BOUNDS[part.sign](*values)


def _value(given: Placeholders, placeholder: str, keys: Keys, name: str) -> Any:
    value: Value = given.values[placeholder]
    if kind(value) != keys.types[name]:
        raise Invalid(
            "One or more parameter values were invalid: Condition parameter type does not match "
            f"schema type for {name}"
        )
    return order(value)


def _sort(entry: tuple[Any, ...]) -> Any:
    return entry[0]


def _between(low: Any, high: Any) -> Bounds:
    return lambda entries: (
        bisect_left(entries, low, key=_sort),
        bisect_right(entries, high, key=_sort),
    )


def _beginning(start: Any) -> Bounds:
    def beyond(entry: tuple[Any, ...]) -> bool:
        return not entry[0].startswith(start)

    def bounds(entries: Entries) -> tuple[int, int]:
        first = bisect_left(entries, start, key=_sort)
        return first, bisect_left(entries, True, lo=first, key=beyond)

    return bounds


_BOUNDS: dict[str, Callable[..., Bounds]] = {
    "=": lambda value: _between(value, value),
    "<": lambda value: lambda entries: (0, bisect_left(entries, value, key=_sort)),
    "<=": lambda value: lambda entries: (0, bisect_right(entries, value, key=_sort)),
    ">": lambda value: lambda entries: (bisect_right(entries, value, key=_sort), len(entries)),
    ">=": lambda value: lambda entries: (bisect_left(entries, value, key=_sort), len(entries)),
    "BETWEEN": _between,
    "begins_with": _beginning,
}
