"""DynamoDB's operations on items: one at a time, stored before they return."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Protocol

from localcloud.dynamodb.errors import Cancelled, Invalid, Refusal
from localcloud.dynamodb.reading import query, scan
from localcloud.dynamodb.requests import Answer, Request, placeholders, projection_of
from localcloud.dynamodb.table import Place, Tables
from localcloud.dynamodb.values import ITEM_BYTES, Item, item_size
from localcloud.dynamodb.writes import (
    PLANS,
    Write,
    planned_delete,
    planned_put,
    planned_update,
)

BATCH_READS = 100
BATCH_WRITES = 25
TRANSACTION = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
BATCH_BYTES = 16 * 1024 * 1024


class Store(Protocol):
    """Keeps items beyond the process."""

    def commit(self, writes: Sequence[Write]) -> None:
        """Keep all of these changes, or none; returns when they are safe."""


class Forgetful:
    """Keeps nothing: for clouds without a data folder."""

    def commit(self, writes: Sequence[Write]) -> None:
        """Do nothing."""


class Engine:
    """Answers requests. Every operation raises Refusal for what DynamoDB refuses."""

    def __init__(self, tables: Tables, store: Store) -> None:
        self.tables = tables
        self.on_write: Callable[[Sequence[Write]], None] = _unseen
        """Gets all writes, after they are done, in their order."""
        self._store = store
        self._lock = threading.RLock()
        self.operations: dict[str, Callable[[Request], Answer]] = {
            "BatchGetItem": self.batch_get_item,
            "BatchWriteItem": self.batch_write_item,
            "DeleteItem": self.delete_item,
            "GetItem": self.get_item,
            "PutItem": self.put_item,
            "Query": self.query,
            "Scan": self.scan,
            "TransactGetItems": self.transact_get_items,
            "TransactWriteItems": self.transact_write_items,
            "UpdateItem": self.update_item,
        }

    def get_item(self, request: Request) -> Answer:
        """Answer GetItem."""
        with self._lock:
            item = self._read(request["TableName"], request["Key"], request)
        answer: Answer = {} if item is None else {"Item": item}
        return _with_capacity(answer, request, lambda: _read_units([item], request))

    def batch_get_item(self, request: Request) -> Answer:
        """Answer BatchGetItem; what is beyond 16 MB stays unprocessed."""
        asked = request["RequestItems"]
        size = sum(len(part["Keys"]) for part in asked.values())
        if not 1 <= size <= BATCH_READS:
            raise Invalid("Too many items requested for the BatchGetItem call")
        large = size * ITEM_BYTES > BATCH_BYTES
        answer: Answer = {"Responses": {}, "UnprocessedKeys": {}}
        left = BATCH_BYTES
        with self._lock:
            for table, part in asked.items():
                places = self._places(table, part["Keys"])
                found = answer["Responses"].setdefault(table, [])
                for key, place in places:
                    item = self._shown(table, place, part)
                    left -= item_size(item) if item and large else 0
                    if left < 0:
                        rest = answer["UnprocessedKeys"].setdefault(table, {**part, "Keys": []})
                        rest["Keys"].append(key)
                    elif item is not None:
                        found.append(item)
        return answer

    def transact_get_items(self, request: Request) -> Answer:
        """Answer TransactGetItems."""
        parts = [part["Get"] for part in request["TransactItems"]]
        if not 1 <= len(parts) <= TRANSACTION:
            raise Invalid(f"a transaction has 1 to {TRANSACTION} items")
        with self._lock:
            items = [self._read(part["TableName"], part["Key"], part) for part in parts]
        return {"Responses": [{} if item is None else {"Item": item} for item in items]}

    def put_item(self, request: Request) -> Answer:
        """Answer PutItem."""
        _one_of(request, ("NONE", "ALL_OLD"))
        return self._write(planned_put, request)

    def delete_item(self, request: Request) -> Answer:
        """Answer DeleteItem."""
        _one_of(request, ("NONE", "ALL_OLD"))
        return self._write(planned_delete, request)

    def update_item(self, request: Request) -> Answer:
        """Answer UpdateItem."""
        _one_of(request, ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"))
        return self._write(planned_update, request)

    def batch_write_item(self, request: Request) -> Answer:
        """Answer BatchWriteItem."""
        parts = [
            (table, *next(iter(one.items())))
            for table, ones in request["RequestItems"].items()
            for one in ones
        ]
        if not 1 <= len(parts) <= BATCH_WRITES:
            raise Invalid(
                "1 validation error detected: Value at 'requestItems' failed to satisfy "
                f"constraint: a batch has 1 to {BATCH_WRITES} writes"
            )
        with self._lock:
            writes = [self._planned_batch(*part) for part in parts]
            _distinct(writes, "Provided list of item keys contains duplicates")
            self._apply(writes)
        return {"UnprocessedItems": {}}

    def transact_write_items(self, request: Request) -> Answer:
        """Answer TransactWriteItems: all conditions are looked at before anything is changed."""
        parts = request["TransactItems"]
        if not 1 <= len(parts) <= TRANSACTION:
            raise Invalid(
                "1 validation error detected: Value at 'transactItems' failed to satisfy "
                f"constraint: Member must have length less than or equal to {TRANSACTION}"
            )
        with self._lock:
            writes = self._planned(parts)
            _distinct(writes, "Transaction request cannot include multiple operations on one item")
            if sum(item_size(write.after or {}) for write in writes) > TRANSACTION_BYTES:
                raise Invalid("Collection size of a transaction has exceeded 4 MB")
            self._apply(writes)
        return {}

    def expire(self, name: str, attribute: str, now: float) -> int:
        """Remove the items of a table whose time to live is over; return how many."""
        with self._lock:
            table = self.tables.get(name)
            over = [
                Write(table, place, item, None)
                for place, item in table.items.items()
                if float(item.get(attribute, {}).get("N", now)) < now
            ]
            for start in range(0, len(over), BATCH_WRITES):
                self._apply(over[start : start + BATCH_WRITES])
        return len(over)

    def query(self, request: Request) -> Answer:
        """Answer Query."""
        with self._lock:
            answer = query(self.tables, request)
        return _with_capacity(
            answer, request, lambda: _read_units(answer.get("Items", ()), request)
        )

    def scan(self, request: Request) -> Answer:
        """Answer Scan."""
        with self._lock:
            answer = scan(self.tables, request)
        return _with_capacity(
            answer, request, lambda: _read_units(answer.get("Items", ()), request)
        )

    def _places(
        self, table: str, keys: Sequence[Mapping[str, Any]]
    ) -> list[tuple[Mapping[str, Any], Place]]:
        exact = self.tables.get(table).keys.exact
        places = [(key, exact(key)) for key in keys]
        if len({place for _, place in places}) < len(keys):
            raise Invalid("Provided list of item keys contains duplicates")
        return places

    def _read(self, table: str, key: Mapping[str, Any], request: Request) -> Item | None:
        return self._shown(table, self.tables.get(table).keys.exact(key), request)

    def _shown(self, table: str, place: Place, request: Request) -> Item | None:
        item = self.tables.get(table).items.get(place)
        part = projection_of(request)
        given = placeholders(request)
        given.check(part.names if part else (), ())
        return item if part is None or item is None else part.of(item, given)

    def _write(self, plan: Callable[[Tables, Request], Write], request: Request) -> Answer:
        with self._lock:
            write = plan(self.tables, request)
            self._apply([write])
        answer = _attributes(write, request.get("ReturnValues", "NONE"))
        return _with_capacity(answer, request, lambda: _write_units(write))

    def _planned(self, parts: Sequence[Mapping[str, Request]]) -> list[Write]:
        writes: list[Write] = []
        reasons: list[Refusal | None] = []
        for part in parts:
            if len(part) != 1:
                raise Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
            (kind, request), *_ = part.items()
            self.tables.get(request["TableName"])
            try:
                writes.append(PLANS[kind](self.tables, request))
                reasons.append(None)
            except Refusal as refusal:
                reasons.append(refusal)
        if any(reason is not None for reason in reasons):
            raise Cancelled(reasons)
        return writes

    def _planned_batch(self, table: str, kind: str, request: Request) -> Write:
        plan = planned_put if kind == "PutRequest" else planned_delete
        return plan(self.tables, {"TableName": table, **request})

    def _apply(self, writes: Sequence[Write]) -> None:
        changes = [write for write in writes if write.after is not write.before]
        if changes:
            self._store.commit(changes)
        for write in changes:
            write.apply()
        self.on_write(changes)


def _unseen(writes: Sequence[Write]) -> None:
    """What writes are told to where nobody reads them."""


def _distinct(writes: Iterable[Write], message: str) -> None:
    places = [(write.table.name, write.place) for write in writes]
    if len(set(places)) < len(places):
        raise Invalid(message)


def _one_of(request: Request, allowed: Sequence[str]) -> None:
    if request.get("ReturnValues", "NONE") not in allowed:
        raise Invalid("Return values set to invalid value")


def _attributes(write: Write, wanted: str) -> Answer:
    item = write.before if wanted.endswith("OLD") else write.after
    if wanted == "NONE" or item is None:
        return {}
    if wanted.startswith("UPDATED"):
        item = {name: value for name, value in item.items() if name in write.touched}
    return {"Attributes": item} if item else {}


def _with_capacity(answer: Answer, request: Request, units: Callable[[], float]) -> Answer:
    if request.get("ReturnConsumedCapacity", "NONE") != "NONE":
        answer["ConsumedCapacity"] = {
            "TableName": request["TableName"],
            "CapacityUnits": units(),
        }
    return answer


def _read_units(items: Iterable[Item | None], request: Request) -> float:
    units = max(1, sum(_units(item, 4096) for item in items))
    return units if request.get("ConsistentRead") else units / 2


def _write_units(write: Write) -> float:
    return max(_units(write.before, 1024), _units(write.after, 1024))


def _units(item: Item | None, unit: int) -> int:
    return max(1, ceil(item_size(item) / unit)) if item else 1
