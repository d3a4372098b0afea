"""The tables as data: what the local cloud creates, and what template.yaml is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeDefinitionTypeDef,
        CreateTableInputTypeDef,
        GlobalSecondaryIndexUnionTypeDef,
        KeySchemaElementTypeDef,
    )

TTL_ATTRIBUTE = "expires"
"""Seconds since 1970 after which DynamoDB may remove an item."""


@dataclass(frozen=True)
class Index:
    """A global secondary index, by the attributes of its keys; items without them are not in it.

    Projects keys only: a page reads its items from the table, so a write of a large item is not
    repeated in every index, and a reader sees what is true now.
    """

    name: str
    partition: str
    sort: str


@dataclass(frozen=True)
class Table:
    """A table without its deployment's prefix; every table has the keys `pk` and `sk`."""

    name: str
    indexes: tuple[Index, ...] = ()
    ttl: str | None = TTL_ATTRIBUTE
    """The attribute by which items expire; None: none ever does, whatever it carries."""
    partition: str = "pk"
    sort: str = "sk"

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that keys use, all of them strings, sorted."""
        used = {self.partition, self.sort}
        for index in self.indexes:
            used |= {index.partition, index.sort}
        return tuple(sorted(used))


BY_INSTANCE = Index("by_instance", "in_instance", "listed_at")
BY_WORKFLOW = Index("by_workflow", "in_workflow", "listed_at")
BY_STATUS = Index("by_status", "in_status", "listed_at")
BY_WORKFLOW_STATUS = Index("by_workflow_status", "in_workflow_status", "listed_at")
BY_USER = Index("by_user", "in_user", "listed_at")
SWEEP = Index("sweep", "in_sweep", "sweep_at")
"""What is not finished: open runs, pending tasks by due moment, decided tasks without an answer."""

AUDIT_BY_MANDATE = Index("by_mandate", "in_mandate", "listed_at")
AUDIT_BY_USER = Index("by_user", "in_user", "listed_at")
AUDIT_BY_OBJECT = Index("by_object", "in_object", "listed_at")

PLATFORM = Table("platform")
RUNS = Table("runs", (BY_INSTANCE, BY_WORKFLOW, BY_STATUS, BY_WORKFLOW_STATUS, BY_USER, SWEEP))
AUDIT = Table("audit", (AUDIT_BY_MANDATE, AUDIT_BY_USER, AUDIT_BY_OBJECT), ttl=None)
"""Evidence: nothing in it is changed, and nothing expires."""
TABLES = (PLATFORM, RUNS, AUDIT)


def creation(table: Table, name: str) -> CreateTableInputTypeDef:
    """Return the CreateTable request for `table` under its full name; TTL is set afterwards."""
    request: CreateTableInputTypeDef = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(table.partition, table.sort),
        "AttributeDefinitions": [_string(attribute) for attribute in table.attributes],
    }
    if table.indexes:
        request["GlobalSecondaryIndexes"] = [_index(index) for index in table.indexes]
    return request


def _index(index: Index) -> GlobalSecondaryIndexUnionTypeDef:
    return {
        "IndexName": index.name,
        "KeySchema": _schema(index.partition, index.sort),
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }


def _schema(partition: str, sort: str) -> list[KeySchemaElementTypeDef]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def _string(attribute: str) -> AttributeDefinitionTypeDef:
    return {"AttributeName": attribute, "AttributeType": "S"}
