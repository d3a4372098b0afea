"""Update expressions: an item before becomes an item after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from localcloud.dynamodb.conditions import operand
from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.syntax import Bound, Operand, Path, Reader, list_of, look
from localcloud.dynamodb.values import EXACT, Item, Value, content, kind, number

Change: TypeAlias = Callable[[Bound, Item], None]
"""Changes the item after; reads the item before."""


@dataclass(frozen=True)
class Update:
    """An update, read once."""

    changes: tuple[Change, ...]
    paths: tuple[Path, ...]
    names: frozenset[str]
    values: frozenset[str]

    def apply(self, bound: Bound) -> Item:
        """Return the item as it is after the update. Raises Invalid."""
        after = dict(bound.item)
        for change in self.changes:
            change(bound, after)
        return after

    def touched(self, bound: Bound) -> set[str]:
        """Return the top-level attributes that the update names."""
        return {str(bound.path(path)[0]) for path in self.paths}


@dataclass
class _Clauses:
    changes: list[Change] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    removals: list[Path] = field(default_factory=list)

    def set(self, reader: Reader) -> None:
        path = self._path(reader)
        reader.expect("=")
        value = _sum(reader)
        self.changes.append(lambda bound, after: put(after, bound.path(path), _there(value(bound))))

    def remove(self, reader: Reader) -> None:
        self.removals.append(self._path(reader))

    def add(self, reader: Reader) -> None:
        path, name = self._path(reader), reader.placeholder()

        def change(bound: Bound, after: Item) -> None:
            put(after, bound.path(path), _added(bound.at(path), bound.value(name)))

        self.changes.append(change)

    def delete(self, reader: Reader) -> None:
        path, name = self._path(reader), reader.placeholder()

        def change(bound: Bound, after: Item) -> None:
            left = _without(bound.at(path), bound.value(name))
            if left is None:
                cut(after, bound.path(path))
            else:
                put(after, bound.path(path), left)

        self.changes.append(change)

    def all(self) -> list[Change]:
        """All changes, removals last and from the back, so that positions hold."""
        removals = sorted(self.removals, key=_position, reverse=True)
        return self.changes + [_removal(path) for path in removals]

    def _path(self, reader: Reader) -> Path:
        path = reader.path()
        for other in self.paths:
            shorter = min(len(path), len(other))
            if path[:shorter] == other[:shorter]:
                raise Invalid(
                    "Invalid UpdateExpression: Two document paths overlap with each other; "
                    "must remove or rewrite one of these paths"
                )
        self.paths.append(path)
        return path


@lru_cache(1024)
def update(text: str) -> Update:
    """Read an update expression. Raises Invalid."""
    reader, clauses = Reader(text), _Clauses()
    sections = {
        "SET": clauses.set,
        "REMOVE": clauses.remove,
        "ADD": clauses.add,
        "DELETE": clauses.delete,
    }
    while reader.next:
        section = sections.pop(reader.take().upper(), None)
        if section is None:
            raise Invalid(f'Invalid UpdateExpression: Syntax error; token: "{text.split()[0]}"')
        list_of(reader, section)
    return Update(
        tuple(clauses.all()),
        tuple(clauses.paths),
        frozenset(reader.names),
        frozenset(reader.values),
    )


def _sum(reader: Reader) -> Operand:
    left = _term(reader)
    for sign in ("+", "-"):
        if reader.skip(sign):
            right = _term(reader)
            return lambda bound: _arithmetic(_there(left(bound)), sign, _there(right(bound)))
    return left


def _term(reader: Reader) -> Operand:
    if reader.next not in {"if_not_exists", "list_append"}:
        return operand(reader)
    function = reader.take()
    reader.expect("(")
    first = _term(reader)
    reader.expect(",")
    second = _term(reader)
    reader.expect(")")
    if function == "if_not_exists":
        return lambda bound: kept if (kept := first(bound)) is not None else second(bound)
    return lambda bound: {
        "L": [*_list(_there(first(bound))), *_list(_there(second(bound)))],
    }


def _there(value: Value | None) -> Value:
    if value is None:
        raise Invalid(
            "The provided expression refers to an attribute that does not exist in the item"
        )
    return value


def _list(value: Value) -> list[Value]:
    if kind(value) != "L":
        raise Invalid(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; "
            f"operator or function: list_append, operand type: {kind(value)}"
        )
    members: list[Value] = content(value)
    return members


def _arithmetic(left: Value, sign: str, right: Value) -> Value:
    if kind(left) != "N" or kind(right) != "N":
        raise Invalid("An operand in the update expression has an incorrect data type")
    one, other = Decimal(content(left)), Decimal(content(right))
    result = EXACT.add(one, other) if sign == "+" else EXACT.subtract(one, other)
    return {"N": number(str(result))}


def _added(old: Value | None, more: Value) -> Value:
    if kind(more) == "N":
        return _arithmetic(old if old is not None else {"N": "0"}, "+", more)
    if kind(more) not in {"SS", "NS", "BS"}:
        raise Invalid("Invalid UpdateExpression: Incorrect operand type for operator: ADD")
    if old is None:
        return more
    if kind(old) != kind(more):
        raise Invalid("An operand in the update expression has an incorrect data type")
    return {kind(more): list(dict.fromkeys([*content(old), *content(more)]))}


def _without(old: Value | None, less: Value) -> Value | None:
    if kind(less) not in {"SS", "NS", "BS"}:
        raise Invalid("Invalid UpdateExpression: Incorrect operand type for operator: DELETE")
    if old is None:
        return None
    if kind(old) != kind(less):
        raise Invalid("An operand in the update expression has an incorrect data type")
    left = [member for member in content(old) if member not in content(less)]
    return {kind(old): left} if left else None


def _position(path: Path) -> int:
    return path[-1] if isinstance(path[-1], int) else -1


def _removal(path: Path) -> Change:
    return lambda bound, after: cut(after, bound.path(path))


def put(item: Item, path: Path, value: Value) -> None:
    """Set what an item has at `path`; nothing that is shared with another item is changed."""
    if len(path) == 1:
        item[str(path[0])] = value
        return
    holder = _holder(item, path)
    last = path[-1]
    if isinstance(last, int):
        members = holder["L"]
        members[last:] = [value, *members[last + 1 :]]
    else:
        holder["M"][last] = value


def cut(item: Item, path: Path) -> None:
    """Remove what an item has at `path`, if anything."""
    if len(path) == 1:
        item.pop(str(path[0]), None)
    elif look(item, path) is not None:
        holder = _holder(item, path)
        last = path[-1]
        if isinstance(last, int):
            del holder["L"][last]
        else:
            del holder["M"][last]


def _holder(item: Item, path: Path) -> dict[str, Any]:
    """Return a fresh copy, put into the item, of what holds the end of `path`."""
    wanted = "L" if isinstance(path[-1], int) else "M"
    held = look(item, path[:-1])
    if held is None or wanted not in held:
        raise Invalid("The document path provided in the update expression is invalid for update")
    copy: dict[str, Any] = {wanted: held[wanted].copy()}
    put(item, path[:-1], copy)
    return copy
