"""One write: what stands there, whether its condition holds, and what stands there afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.requests import (
    Placeholders,
    Request,
    check_size,
    condition_of,
    hold,
    item_of,
    placeholders,
)
from localcloud.dynamodb.syntax import Bound
from localcloud.dynamodb.table import Place, Table, Tables
from localcloud.dynamodb.updates import Update, update
from localcloud.dynamodb.values import BadValue, Item, equal


@dataclass(frozen=True)
class Write:
    """A change of one item that has been found to be allowed."""

    table: Table
    place: Place
    before: Item | None
    after: Item | None
    touched: frozenset[str] = frozenset()
    """Attributes that an update names."""

    def apply(self) -> None:
        """Make the change."""
        if self.after is None:
            self.table.remove(self.place)
        elif self.after is not self.before:
            self.table.put(self.place, self.after)


def planned_put(tables: Tables, request: Request) -> Write:
    """Check a put. Raises Refusal."""
    table = tables.get(request["TableName"])
    given, test = placeholders(request), condition_of(request)
    item = item_of(request["Item"])
    place = table.check(item)
    given.check(test.names if test else (), test.values if test else ())
    before = table.items.get(place)
    hold(test, given, before, request)
    return Write(table, place, before, item)


def planned_delete(tables: Tables, request: Request) -> Write:
    """Check a delete. Raises Refusal."""
    table, place, before, given = _keyed(tables, request)
    test = condition_of(request)
    given.check(test.names if test else (), test.values if test else ())
    hold(test, given, before, request)
    return Write(table, place, before, None)


def planned_check(tables: Tables, request: Request) -> Write:
    """Check a condition and change nothing. Raises Refusal."""
    return _unchanged(planned_delete(tables, request))


def _unchanged(write: Write) -> Write:
    return Write(write.table, write.place, write.before, write.before)


def planned_update(tables: Tables, request: Request) -> Write:
    """Check an update. Raises Refusal."""
    table, place, before, given = _keyed(tables, request)
    test = condition_of(request)
    change = update(request.get("UpdateExpression") or "") if _has_update(request) else None
    names = (test.names if test else frozenset()) | (change.names if change else frozenset())
    values = (test.values if test else frozenset()) | (change.values if change else frozenset())
    given.check(names, values)
    hold(test, given, before, request)
    base = before if before is not None else item_of(request["Key"])
    if change is None:
        return Write(table, place, before, base)
    return _updated(table, place, before, change, given.bound(base))


def _has_update(request: Request) -> bool:
    return request.get("UpdateExpression") is not None


def _updated(
    table: Table, place: Place, before: Item | None, change: Update, bound: Bound
) -> Write:
    try:
        after = change.apply(bound)
    except BadValue as error:
        raise Invalid(f"One or more parameter values were invalid: {error}") from error
    touched = change.touched(bound)
    for name in table.keys.names:
        if name in touched and (name not in after or not equal(after[name], bound.item[name])):
            raise Invalid(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )
    table.check(after)
    check_size(after, "Item size to update has exceeded the maximum allowed size")
    return Write(table, place, before, after, frozenset(touched))


def _keyed(tables: Tables, request: Request) -> tuple[Table, Place, Item | None, Placeholders]:
    table = tables.get(request["TableName"])
    place = table.keys.exact(request["Key"])
    return table, place, table.items.get(place), placeholders(request)


PLANS: dict[str, Callable[[Tables, Request], Write]] = {
    "Put": planned_put,
    "Delete": planned_delete,
    "ConditionCheck": planned_check,
    "Update": planned_update,
}
"""The parts of a transaction."""
