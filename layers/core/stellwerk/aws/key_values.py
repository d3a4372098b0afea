"""The small key-value store of each workflow (`data.store`)."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import replace
from typing import TypeAlias

from pydantic import TypeAdapter

from stellwerk.aws import keys
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Update, absent, equals, present
from stellwerk.aws.items import TRIES, Items
from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored, ValueRef
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Values
from stellwerk.workflows.values import Texts, exact_json

REMEMBERED = 100
"""Increments of a key that are known again when they come a second time."""

Number: TypeAlias = int | float
_SUMS = TypeAdapter(list[tuple[str, Number]])


class DynamoKeyValues:
    """Values on the table `platform`. Requests: get, put, delete 1; increment 2."""

    def __init__(self, items: Items, values: Values) -> None:
        self._items = items
        self._texts = Texts(values)

    def get(self, scope: Scope, workflow: WorkflowId, key: str) -> JsonValue:
        """Return the value of `key`; None if there is none."""
        return self._value(scope, self._items.get(keys.datum(scope, workflow, key)) or {})

    def put(self, scope: Scope, workflow: WorkflowId, key: str, value: JsonValue) -> None:
        """Write the value of `key`."""
        self._items.update(self._change(scope, workflow, key, value))

    def delete(self, scope: Scope, workflow: WorkflowId, key: str) -> None:
        """Remove the value of `key`; its increments stay known, so none is counted again late."""
        update = Update(
            keys.datum(scope, workflow, key),
            set={"write": secrets.token_hex(8)},
            remove=("value", "value_ref"),
            when=(present(),),
        )
        try:
            self._items.update(update)
        except Refused:
            return

    def increment(
        self, scope: Scope, workflow: WorkflowId, key: str, by: Number, *, once: str
    ) -> JsonValue:
        """Add `by` to the number at `key` and return the sum; the same `once` counts once."""
        mark = hashlib.sha256(once.encode()).hexdigest()[:16]
        for _ in range(TRIES):
            item = self._items.get(keys.datum(scope, workflow, key)) or {}
            sums = _SUMS.validate_json(str(item.get("sums", "[]")))
            known = [total for counted, total in sums if counted == mark]
            if known:
                return known[0]
            total = _number(key, self._value(scope, item)) + by
            sums = [*sums, (mark, total)][-REMEMBERED:]
            change = self._change(scope, workflow, key, total)
            if self._counted(change, item, json.dumps(sums)):
                return total
        raise ServiceUnavailable(f"'{key}' of workflow {workflow} is counted by too many at once")

    def _counted(self, change: Update, read: Item, sums: str) -> bool:
        unchanged = equals("write", read["write"]) if read else absent()
        counted = replace(change, set={**change.set, "sums": sums}, when=(unchanged,))
        try:
            self._items.update(counted)
        except Refused:
            return False
        return True

    def _change(self, scope: Scope, workflow: WorkflowId, key: str, value: JsonValue) -> Update:
        place = keys.datum(scope, workflow, key)
        stored = self._texts.keep(scope, f"workflows/{workflow}/data", exact_json(value))
        item: Item = {"write": secrets.token_hex(8)}
        if stored.ref is not None:
            ref = {"value_ref": stored.ref.model_dump_json()}
            return Update(place, set=item | ref, remove=("value",))
        return Update(place, set=item | {"value": stored.text or ""}, remove=("value_ref",))

    def _value(self, scope: Scope, item: Item) -> JsonValue:
        if "value_ref" in item:
            ref = ValueRef.model_validate_json(str(item["value_ref"]))
            return _parsed(self._texts.load(scope, Stored(ref=ref)))
        return _parsed(str(item.get("value", "null")))


def _parsed(text: str) -> JsonValue:
    value: JsonValue = json.loads(text)
    return value


def _number(key: str, value: JsonValue) -> Number:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Conflict(
            f"'{key}' holds no number and cannot be incremented",
            remedy="Choose another key, or put a number there first.",
        )
    return value
