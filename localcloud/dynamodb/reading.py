"""Queries and scans: pages of items in order."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from localcloud.dynamodb.conditions import Condition
from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.keyconditions import bounds_of, key_condition
from localcloud.dynamodb.requests import (
    Answer,
    Placeholders,
    Projection,
    Request,
    condition_of,
    placeholders,
    projection_of,
)
from localcloud.dynamodb.table import Index, Table, Tables
from localcloud.dynamodb.values import Item, item_size

PAGE_BYTES = 1024 * 1024
"""How many bytes of items one answer looks at."""

Entry: TypeAlias = "tuple[Any, ...]"


@dataclass(frozen=True)
class _Reading:
    """What a query and a scan have in common."""

    table: Table
    index: Index | None
    request: Request
    given: Placeholders
    filter: Condition | None
    projection: Projection | None

    @classmethod
    def of(cls, tables: Tables, request: Request) -> _Reading:
        table = tables.get(request["TableName"])
        name = request.get("IndexName")
        index = table.index(name) if name else None
        if index is not None and request.get("ConsistentRead"):
            raise Invalid("Consistent reads are not supported on global secondary indexes")
        return cls(
            table,
            index,
            request,
            placeholders(request),
            condition_of(request, "FilterExpression"),
            projection_of(request),
        )

    def check(self, names: Iterable[str] = (), values: Iterable[str] = ()) -> None:
        """Refuse placeholders that are not used, beside those of the key condition."""
        used_names, used_values = set(names), set(values)
        for part in (self.filter, self.projection):
            used_names |= part.names if part else set()
        used_values |= self.filter.values if self.filter else set()
        self.given.check(used_names, used_values)

    def page(self, items: Iterator[Item]) -> Answer:
        """Look at items up to the limits and answer with those that pass the filter."""
        limit = self.request.get("Limit")
        if limit is not None and limit < 1:
            raise Invalid("Limit must be greater than or equal to 1")
        found: list[Item] = []
        looked, held, last = 0, 0, None
        for item in items:
            seen = self._seen(item)
            looked, held = looked + 1, held + item_size(seen)
            if self.filter is None or self.filter.holds(self.given.bound(seen)):
                found.append(seen)
            if looked == limit or held >= PAGE_BYTES:
                last = item
                break
        return self._answer(found, looked, last)

    def _answer(self, found: list[Item], looked: int, last: Item | None) -> Answer:
        answer: Answer = {"Count": len(found), "ScannedCount": looked}
        if self.request.get("Select") != "COUNT":
            part = self.projection
            answer["Items"] = [part.of(one, self.given) for one in found] if part else found
        if last is not None:
            keys = self.index.keys.of(last) if self.index else {}
            answer["LastEvaluatedKey"] = {**keys, **self.table.keys.of(last)}
        return answer

    def _seen(self, item: Item) -> Item:
        """Return what the index holds of an item."""
        if self.index is None or self.index.projection is None:
            return item
        names = {*self.index.keys.names, *self.table.keys.names, *self.index.projection}
        return {name: value for name, value in item.items() if name in names}


def query(tables: Tables, request: Request) -> Answer:
    """Answer Query. Raises Refusal."""
    reading = _Reading.of(tables, request)
    read = key_condition(request.get("KeyConditionExpression") or "")
    reading.check(read.names, read.values)
    keys = reading.index.keys if reading.index else reading.table.keys
    partition, bounds = bounds_of(read, keys, reading.given)
    name = request.get("IndexName")
    entries = reading.table.entries(name, partition)
    first, last = bounds(entries)
    forward = request.get("ScanIndexForward", True)
    start = request.get("ExclusiveStartKey")
    if start:
        first, last = _after(_entry(reading, start), entries, (first, last), forward)
    # by number: a copy of the part would cost the more, the longer the partition is
    chosen = range(first, last) if forward else range(last - 1, first - 1, -1)
    return reading.page(reading.table.item_of(name, partition, entries[at]) for at in chosen)


def _entry(reading: _Reading, start: Mapping[str, Any]) -> Entry:
    place = reading.table.keys.place(start)
    if reading.index is None:
        return (place[1],)
    return (reading.index.keys.place(start)[1], *place)


def _after(
    entry: Entry, entries: Sequence[Entry], part: tuple[int, int], forward: bool
) -> tuple[int, int]:
    if forward:
        return max(part[0], bisect_right(entries, entry)), part[1]
    return part[0], min(part[1], bisect_left(entries, entry))


def scan(tables: Tables, request: Request) -> Answer:
    """Answer Scan: partitions in an order that only their keys decide. Raises Refusal."""
    reading = _Reading.of(tables, request)
    reading.check()
    segments, segment = request.get("TotalSegments", 1), request.get("Segment", 0)
    start = request.get("ExclusiveStartKey")
    after = _spread(reading.table, start) if start else (-1,)
    spread = (
        (_spread(reading.table, item), item) for item in reading.table.all(request.get("IndexName"))
    )
    chosen = sorted(
        (pair for pair in spread if pair[0] > after and pair[0][0] % segments == segment),
        key=lambda pair: pair[0],
    )
    return reading.page(item for _, item in chosen)


def _spread(table: Table, item: Mapping[str, Any]) -> Entry:
    place = table.keys.place(item)
    return (zlib.crc32(repr(place[0]).encode()), repr(place[0]), place[1])
