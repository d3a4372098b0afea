"""Conditions and filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.syntax import Bound, Operand, Path, Reader
from localcloud.dynamodb.values import Value, content, equal, kind, order, ordered, size

Test: TypeAlias = Callable[[Bound], bool]


@dataclass(frozen=True)
class Condition:
    """A condition, read once, and the placeholders that it uses."""

    holds: Test
    names: frozenset[str]
    values: frozenset[str]


@lru_cache(1024)
def condition(text: str) -> Condition:
    """Read a condition. Raises Invalid."""
    reader = Reader(text)
    test = _any(reader)
    reader.end()
    return Condition(test, frozenset(reader.names), frozenset(reader.values))


def _any(reader: Reader) -> Test:
    tests = [_all(reader)]
    while reader.skip("OR"):
        tests.append(_all(reader))
    return tests[0] if len(tests) == 1 else lambda bound: any(test(bound) for test in tests)


def _all(reader: Reader) -> Test:
    tests = [_not(reader)]
    while reader.skip("AND"):
        tests.append(_not(reader))
    return tests[0] if len(tests) == 1 else lambda bound: all(test(bound) for test in tests)


def _not(reader: Reader) -> Test:
    if reader.skip("NOT"):
        test = _not(reader)
        return lambda bound: not test(bound)
    if reader.skip("("):
        inner = _any(reader)
        reader.expect(")")
        return inner
    return _FUNCTIONS[reader.next](reader) if reader.next in _FUNCTIONS else _comparison(reader)


def _comparison(reader: Reader) -> Test:
    left = operand(reader)
    if reader.skip("BETWEEN"):
        low = operand(reader)
        reader.expect("AND")
        high = operand(reader)
        return lambda bound: (
            _compare(left(bound), low(bound), ">=") and _compare(left(bound), high(bound), "<=")
        )
    if reader.skip("IN"):
        return _among(reader, left)
    sign = reader.take()
    if sign not in _SIGNS:
        raise Invalid(f'Syntax error; token: "{sign}"')
    right = operand(reader)
    return lambda bound: _compare(left(bound), right(bound), sign)


def _among(reader: Reader, left: Operand) -> Test:
    reader.expect("(")
    members = [operand(reader)]
    while reader.skip(","):
        members.append(operand(reader))
    reader.expect(")")
    return lambda bound: any(_compare(left(bound), one(bound), "=") for one in members)


def operand(reader: Reader) -> Operand:
    """Read a value, a path or `size(path)`."""
    if reader.next.startswith(":"):
        name = reader.placeholder()
        return lambda bound: bound.value(name)
    if reader.next == "size" and reader.tokens[reader.place + 1 : reader.place + 2] == ["("]:
        path = _argument(reader)
        reader.expect(")")
        return lambda bound: _size(bound.at(path))
    path = reader.path()
    return lambda bound: bound.at(path)


def _argument(reader: Reader) -> Path:
    reader.take()
    reader.expect("(")
    return reader.path()


def _size(value: Value | None) -> Value | None:
    if value is None:
        return None
    if kind(value) in {"N", "BOOL", "NULL"}:
        return None
    counted = size(value) if kind(value) in {"S", "B"} else len(content(value))
    return {"N": str(counted)}


_SIGNS: dict[str, Callable[[Value, Value], bool]] = {
    "=": equal,
    "<>": lambda one, other: not equal(one, other),
    "<": lambda one, other: order(one) < order(other),
    "<=": lambda one, other: order(one) <= order(other),
    ">": lambda one, other: order(one) > order(other),
    ">=": lambda one, other: order(one) >= order(other),
}


def _compare(left: Value | None, right: Value | None, sign: str) -> bool:
    """A missing value equals nothing, and has no order."""
    if left is None or right is None:
        return sign == "<>"
    if sign not in {"=", "<>"} and (kind(left) != kind(right) or not ordered(left)):
        return False
    return _SIGNS[sign](left, right)


def _exists(reader: Reader) -> Test:
    path = _argument(reader)
    reader.expect(")")
    return lambda bound: bound.at(path) is not None


def _lacks(reader: Reader) -> Test:
    exists = _exists(reader)
    return lambda bound: not exists(bound)


def _with_operand(test: Callable[[Value, Value], bool]) -> Callable[[Reader], Test]:
    def read(reader: Reader) -> Test:
        reader.take()
        reader.expect("(")
        subject = operand(reader)
        reader.expect(",")
        other = operand(reader)
        reader.expect(")")

        def holds(bound: Bound) -> bool:
            mine, theirs = subject(bound), other(bound)
            return mine is not None and theirs is not None and test(mine, theirs)

        return holds

    return read


def begins(value: Value, start: Value) -> bool:
    """Whether a text or bytes begin so."""
    return (
        kind(value) == kind(start)
        and kind(value) in {"S", "B"}
        and content(value).startswith(content(start))
    )


def _contains(value: Value, part: Value) -> bool:
    match kind(value):
        case "S":
            return kind(part) == "S" and content(part) in content(value)
        case "SS" | "NS" | "BS":
            return kind(part) == kind(value)[0] and content(part) in content(value)
        case "L":
            return any(equal(member, part) for member in content(value))
        case _:
            return False


_FUNCTIONS: dict[str, Callable[[Reader], Test]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _lacks,
    "attribute_type": _with_operand(lambda value, named: kind(value) == content(named)),
    "begins_with": _with_operand(begins),
    "contains": _with_operand(_contains),
}
