"""Audit logs under one contract, and hands that reach into what they have stored."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from stellwerk.aws import keys, tables
from stellwerk.aws.audit import DynamoAuditLog
from stellwerk.aws.expressions import Put
from stellwerk.aws.items import Items
from stellwerk.tenancy.evidence import AuditRecord, place_of
from stellwerk.tenancy.ports import AuditLog
from stellwerk.tenancy.scope import Scope
from tests.contracts.stores import Moto, OneAtATime
from tests.fakes.audit import FakeAuditLog

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NUMBERS = itertools.count()


class Hands(Protocol):
    """What someone can do who gets at the table itself."""

    def put(self, scope: Scope, day: str, place: str, text: str) -> None:
        """Put a text at a place."""

    def remove(self, scope: Scope, day: str, place: str) -> None:
        """Remove what is at a place."""

    def remove_day(self, scope: Scope, day: str) -> None:
        """Remove a day, as if there had been nothing on it."""


@dataclass(frozen=True)
class Evidence:
    """An audit log and hands at it."""

    log: AuditLog
    hands: Hands

    def edit(self, scope: Scope, record: AuditRecord, **changes: object) -> None:
        """Put a record with changes in its own place, its hash left as it was."""
        edited = record.model_copy(update=changes)
        self.hands.put(scope, record.day, place_of(record.number), edited.model_dump_json())


class _FakeHands:
    def __init__(self, log: FakeAuditLog) -> None:
        self._stored = log.stored

    def put(self, scope: Scope, day: str, place: str, text: str) -> None:
        self._stored[scope.mandate, day][place] = text

    def remove(self, scope: Scope, day: str, place: str) -> None:
        del self._stored[scope.mandate, day][place]

    def remove_day(self, scope: Scope, day: str) -> None:
        del self._stored[scope.mandate, day]


class _DynamoHands:
    def __init__(self, moto: Moto, table: str) -> None:
        self._client = moto.dynamodb
        self._table = table
        self._items = Items(moto.dynamodb, table)

    def put(self, scope: Scope, day: str, place: str, text: str) -> None:
        self._items.put(Put(keys.audit_record(scope, day, place), {"record": text}))

    def remove(self, scope: Scope, day: str, place: str) -> None:
        self._delete(keys.audit_record(scope, day, place))

    def remove_day(self, scope: Scope, day: str) -> None:
        self._delete(keys.audit_day(scope, day))

    def _delete(self, key: keys.Key) -> None:
        raw = {"pk": {"S": key.pk}, "sk": {"S": key.sk}}
        self._client.delete_item(TableName=self._table, Key=raw)


def in_memory() -> Evidence:
    """Return an empty log in memory."""
    log = FakeAuditLog()
    return Evidence(log, _FakeHands(log))


def on_moto(moto: Moto) -> tuple[Evidence, OneAtATime]:
    """Return an empty log on a table of its own, and the client that counts its requests."""
    table = f"audit-{next(_NUMBERS)}"
    moto.dynamodb.create_table(**tables.creation(tables.AUDIT, table))
    counted = OneAtATime(moto.dynamodb)
    log = DynamoAuditLog(Items(cast("DynamoDBClient", counted), table))
    return Evidence(log, _DynamoHands(moto, table)), counted
