"""A table: items by key, in the order of their sort keys, and its secondary indexes."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from localcloud.dynamodb.errors import Invalid, Missing
from localcloud.dynamodb.values import Item, Value, content, kind, order

Place: TypeAlias = tuple[Any, Any]
"""An item's primary key as it orders: partition and sort; None where there is no sort key."""

_LONGEST = (2048, 1024)
_KEY_TYPES = {"S": str, "N": str, "B": bytes}


@dataclass(frozen=True)
class Keys:
    """The attributes of a key and their types: one, or two with a sort key."""

    names: tuple[str, ...]
    types: Mapping[str, str]

    def place(self, item: Mapping[str, Value]) -> Place:
        """Return where an item with these attributes stands. Raises Invalid."""
        partition = self._part(self.names[0], item, 0)
        return (partition, self._part(self.names[1], item, 1) if len(self.names) > 1 else None)

    def exact(self, key: Mapping[str, Value]) -> Place:
        """Return the place of a key that has just the key's attributes. Raises Invalid."""
        if len(key) != len(self.names) or not all(name in key for name in self.names):
            raise Invalid("The provided key element does not match the schema")
        return self.place(key)

    def covers(self, item: Mapping[str, Value]) -> bool:
        """Whether an item has all attributes of the key, and so is in the index."""
        return all(name in item for name in self.names)

    def of(self, item: Mapping[str, Value]) -> Item:
        """Return the attributes of the key."""
        return {name: item[name] for name in self.names}

    def _part(self, name: str, item: Mapping[str, Value], number: int) -> Any:
        value = item.get(name)
        if value is None:
            raise Invalid(
                f"One or more parameter values were invalid: Missing the key {name} in the item"
            )
        said = value.get(self.types[name])
        if said is None:
            raise Invalid(
                f"One or more parameter values were invalid: Type mismatch for key {name} "
                f"expected: {self.types[name]} actual: {kind(value)}"
            )
        if said in ("", b""):
            raise Invalid(
                "One or more parameter values are not valid. The AttributeValue for a key "
                f"attribute cannot contain an empty string value. Key: {name}"
            )
        plain = isinstance(said, bytes) or said.isascii()
        if len(said if plain else said.encode()) > _LONGEST[number]:
            raise Invalid(
                "One or more parameter values were invalid: Size of "
                f"{('hashkey', 'rangekey')[number]} has exceeded the maximum size limit of "
                f"{_LONGEST[number]} bytes"
            )
        return said if plain and self.types[name] == "S" else order(value)


@dataclass
class Order:
    """Keys in order within each partition."""

    partitions: dict[Any, list[tuple[Any, ...]]] = field(default_factory=dict)

    def add(self, partition: Any, entry: tuple[Any, ...]) -> None:
        """Put an entry into its partition."""
        insort(self.partitions.setdefault(partition, []), entry)

    def drop(self, partition: Any, entry: tuple[Any, ...]) -> None:
        """Take an entry out of its partition."""
        entries = self.partitions[partition]
        del entries[bisect_left(entries, entry)]
        if not entries:
            del self.partitions[partition]


@dataclass
class Index:
    """A secondary index: entries `(sort, place...)` by partition; the items stay in the table."""

    name: str
    keys: Keys
    projection: tuple[str, ...] | None
    """Attributes beside the keys that it holds; None for all."""
    entries: Order = field(default_factory=Order)

    def add(self, place: Place, item: Item) -> None:
        """Take an item in, if it has the index's key."""
        if self.keys.covers(item):
            partition, sort = self.keys.place(item)
            self.entries.add(partition, (sort, *place))

    def drop(self, place: Place, item: Item) -> None:
        """Take an item out."""
        if self.keys.covers(item):
            partition, sort = self.keys.place(item)
            self.entries.drop(partition, (sort, *place))


class Table:
    """Items of one table."""

    def __init__(self, name: str, keys: Keys, indexes: Sequence[Index], ttl: str = "") -> None:
        self.name = name
        self.keys = keys
        self.ttl = ttl
        self.items: dict[Place, Item] = {}
        self._indexes = {index.name: index for index in indexes}
        self._indexed = frozenset(name for index in indexes for name in index.keys.names)
        self._order = Order()

    def index(self, name: str) -> Index:
        """Return an index. Raises Invalid."""
        if name not in self._indexes:
            raise Invalid(f"The table does not have the specified index: {name}")
        return self._indexes[name]

    def check(self, item: Item) -> Place:
        """Return where an item would stand. Raises Invalid, for the keys of indexes too."""
        if not self._indexed.isdisjoint(item):
            self._check_indexed(item)
        return self.keys.place(item)

    def _check_indexed(self, item: Item) -> None:
        for index in self._indexes.values():
            for name in index.keys.names:
                if name in item:
                    _check_index_key(index, name, item[name])

    def put(self, place: Place, item: Item) -> None:
        """Write an item."""
        old = self.items.get(place)
        self.items[place] = item
        if old is None:
            self._order.add(place[0], (place[1],))
        if self._indexed.isdisjoint(item) and self._indexed.isdisjoint(old or ()):
            return
        for index in self._indexes.values():
            if old is not None and _unmoved(index, old, item):
                continue
            if old is not None:
                index.drop(place, old)
            index.add(place, item)

    def remove(self, place: Place) -> None:
        """Remove an item, if it is there."""
        old = self.items.pop(place, None)
        if old is None:
            return
        self._order.drop(place[0], (place[1],))
        for index in self._indexes.values():
            index.drop(place, old)

    def entries(self, index: str | None, partition: Any) -> Sequence[tuple[Any, ...]]:
        """Return a partition in order: `(sort,)` of the table, `(sort, place...)` of an index."""
        order = self.index(index).entries if index else self._order
        return order.partitions.get(partition, [])

    def item_of(self, index: str | None, partition: Any, entry: tuple[Any, ...]) -> Item:
        """Return the item of an entry."""
        return self.items[entry[1:] if index else (partition, entry[0])]

    def all(self, index: str | None) -> Iterator[Item]:
        """All items of the table, or of an index, partition by partition."""
        order = self.index(index).entries if index else self._order
        for partition, entries in order.partitions.items():
            for entry in entries:
                yield self.item_of(index, partition, entry)


def _unmoved(index: Index, old: Item, new: Item) -> bool:
    return all(old.get(name) == new.get(name) for name in index.keys.names)


def _check_index_key(index: Index, name: str, value: Value) -> None:
    if kind(value) != index.keys.types[name] or content(value) in ("", b""):
        raise Invalid(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{name} Expected: {index.keys.types[name]} Actual: {kind(value)} IndexName: "
            f"{index.name}, or it is empty"
        )


def table_of(description: Mapping[str, Any]) -> Table:
    """Make an empty table from what DescribeTable says of it."""
    types = {
        one["AttributeName"]: one["AttributeType"] for one in description["AttributeDefinitions"]
    }
    described = [
        *(description.get("GlobalSecondaryIndexes") or ()),
        *(description.get("LocalSecondaryIndexes") or ()),
    ]
    indexes = [
        Index(one["IndexName"], _keys(one["KeySchema"], types), _projection(one["Projection"]))
        for one in described
    ]
    return Table(description["TableName"], _keys(description["KeySchema"], types), indexes)


def _keys(schema: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> Keys:
    by_role = {part["KeyType"]: part["AttributeName"] for part in schema}
    names = tuple(by_role[role] for role in ("HASH", "RANGE") if role in by_role)
    return Keys(names, {name: types[name] for name in names})


def _projection(said: Mapping[str, Any]) -> tuple[str, ...] | None:
    if said.get("ProjectionType") == "ALL":
        return None
    return tuple(said.get("NonKeyAttributes") or ())


class Tables:
    """The tables by name or ARN."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}

    def add(self, table: Table) -> None:
        """Take a new table in."""
        self._tables[table.name] = table

    def drop(self, name: str) -> None:
        """Forget a table and its items."""
        self._tables.pop(name, None)

    def get(self, name: str) -> Table:
        """Return a table. Raises Missing."""
        table = self._tables.get(name.rpartition("/")[2])
        if table is None:
            raise Missing(f"Requested resource not found: Table: {name} not found")
        return table
