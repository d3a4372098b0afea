"""Attribute values as DynamoDB writes them: `{"S": "text"}`; their order, equality and size."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, InvalidOperation
from typing import Any, TypeAlias

Value: TypeAlias = Mapping[str, Any]
"""One typed value: a single letter or two, and what it says."""
Item: TypeAlias = dict[str, Value]

ITEM_BYTES = 400 * 1024
_TYPES = frozenset({"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"})
_ORDERED = frozenset({"S", "N", "B"})
_DIGITS = 38
EXACT = Context(prec=300)
"""Python's own rounds to 28 digits."""


class BadValue(ValueError):
    """A value that no item can hold."""


def kind(value: Value) -> str:
    """Return the type's letters."""
    for letters in value:
        return letters
    raise BadValue("an attribute value without a type")


def content(value: Value) -> Any:
    """Return what a value says."""
    for said in value.values():
        return said
    raise BadValue("an attribute value without a type")


def order(value: Value) -> Any:
    """Return something that compares as DynamoDB orders: numbers by size, texts by UTF-8."""
    said = content(value)
    match kind(value):
        case "N":
            return Decimal(said)
        case "S":
            return said if said.isascii() else said.encode().decode("latin-1")
        case "B":
            return bytes(said)
        case other:
            raise BadValue(f"values of type {other} have no order")


def ordered(value: Value) -> bool:
    """Whether a value's type can be compared by size."""
    return kind(value) in _ORDERED


def equal(one: Value, other: Value) -> bool:
    """Whether two values are the same; sets have no order, 1 is 1.0."""
    if kind(one) != kind(other):
        return False
    match kind(one):
        case "N":
            return Decimal(content(one)) == Decimal(content(other))
        case "SS" | "BS":
            return set(content(one)) == set(content(other))
        case "NS":
            return {Decimal(n) for n in content(one)} == {Decimal(n) for n in content(other)}
        case "L":
            pairs = zip(content(one), content(other), strict=False)
            return len(content(one)) == len(content(other)) and all(equal(*p) for p in pairs)
        case "M":
            mine, theirs = content(one), content(other)
            return mine.keys() == theirs.keys() and all(equal(mine[k], theirs[k]) for k in mine)
        case _:
            return bool(content(one) == content(other))


def checked(value: Value) -> Value:
    """Return the value as DynamoDB keeps it, a copy. Raises BadValue."""
    text = value.get("S")
    if text is not None and len(value) == 1:
        return {"S": text}
    if len(value) != 1 or kind(value) not in _TYPES:
        raise BadValue("Supplied AttributeValue has more than one datatype set, or none that is")
    said = content(value)
    match kind(value):
        case "N":
            return {"N": number(said)}
        case "M":
            return {"M": {name: checked(item) for name, item in said.items()}}
        case "L":
            return {"L": [checked(item) for item in said]}
        case "SS" | "NS" | "BS":
            return _set(kind(value), said)
        case other:
            return {other: said}


def _set(letters: str, members: Any) -> Value:
    if not members:
        raise BadValue("An number set  may not be empty" if letters == "NS" else "An set is empty")
    kept = [number(member) for member in members] if letters == "NS" else list(members)
    if len(set(kept)) != len(kept):
        raise BadValue("Input collection contains duplicates.")
    return {letters: kept}


def number(text: object) -> str:
    """Return a number in the one form that DynamoDB keeps. Raises BadValue."""
    if isinstance(text, str) and text.isdigit() and len(text) < _DIGITS and text[0] != "0":
        return text
    try:
        parsed = Decimal(str(text))
    except InvalidOperation as error:
        raise BadValue(f"The parameter cannot be converted to a numeric value: {text}") from error
    if not parsed.is_finite():
        raise BadValue(f"The parameter cannot be converted to a numeric value: {text}")
    kept = EXACT.normalize(parsed)
    if len(kept.as_tuple().digits) > _DIGITS or abs(kept.adjusted()) > 125:
        raise BadValue("Attempting to store more than 38 significant digits in a Number")
    return format(kept, "f") if kept else "0"


def size(value: Value) -> int:
    """Return how many bytes DynamoDB counts for a value."""
    said = content(value)
    match kind(value):
        case "S":
            return _text_size(said)
        case "N":
            return len(said.strip("-0.")) // 2 + 2
        case "B":
            return len(said)
        case "M":
            return 3 + sum(len(k.encode()) + size(v) + 1 for k, v in said.items())
        case "L":
            return 3 + sum(size(item) + 1 for item in said)
        case "SS" | "BS":
            return sum(len(m.encode() if isinstance(m, str) else m) for m in said)
        case "NS":
            return sum(len(member) // 2 + 2 for member in said)
        case _:
            return 1


def fits(item: Mapping[str, Value], limit: int) -> bool:
    """Whether an item has at most `limit` bytes; counts exactly only where it is close."""
    at_most = 0
    for name, value in item.items():
        said = value.get("S") or value.get("N")
        if said is None:
            return item_size(item) <= limit
        at_most += 4 * (len(name) + len(said)) + 2
    return at_most <= limit or item_size(item) <= limit


def item_size(item: Mapping[str, Value]) -> int:
    """Return how many bytes DynamoDB counts for an item, names included."""
    counted = 0
    for name, value in item.items():
        text = value.get("S")
        counted += size(value) if text is None else _text_size(text)
        counted += _text_size(name)
    return counted


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
