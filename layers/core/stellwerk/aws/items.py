"""The one way to a DynamoDB table: items in, items out.

Unfinished batches and contended writes are repeated a bounded number of times, with pauses that
spread out writers who met.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from stellwerk.aws import expressions
from stellwerk.aws.errors import Contended, translated
from stellwerk.aws.expressions import Attribute, Item, Put, Update, Write, decoded, encoded, raw_key
from stellwerk.aws.keys import Key
from stellwerk.aws.sessions import mandate_of
from stellwerk.aws.tables import Index
from stellwerk.kernel.errors import RateLimited, ServiceUnavailable
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.scope import SYSTEM

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        QueryInputTypeDef,
        WriteRequestUnionTypeDef,
    )

READ_BATCH = 100
WRITE_BATCH = 25
_JITTER = random.Random()
TRIES = 14
"""Of a contended write: about 4 s in all, enough for 40 writers of one item."""

R = TypeVar("R")


@dataclass(frozen=True)
class Range:
    """Part of a partition, of the table or of an index, in the order of the sort key.

    `prefix`, or `since` and `until`, bound the sort key; `after` is the key of the last item of the
    page before, which need not exist any more.
    """

    partition: str
    index: Index | None = None
    prefix: str | None = None
    since: str | None = None
    until: str | None = None
    newest_first: bool = False
    after: Mapping[str, Attribute] | None = None

    @property
    def condition(self) -> str:
        """The condition on the sort key, if any, with its placeholders."""
        if self.prefix is not None:
            return " AND begins_with(#s, :s)"
        if self.since is not None:
            return " AND #s >= :s" if self.until is None else " AND #s BETWEEN :s AND :t"
        return "" if self.until is None else " AND #s <= :t"

    @property
    def bounds(self) -> dict[str, str]:
        """The values of the condition's placeholders."""
        if self.prefix is not None:
            return {":s": self.prefix}
        given = {":s": self.since, ":t": self.until}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def keys(self) -> tuple[str, str]:
        """The names of the partition and the sort key."""
        return (self.index.partition, self.index.sort) if self.index else ("pk", "sk")


class Items:
    """One table.

    What is kept under a mandate is reached through its client of `tenants`, if given: keys are made
    from a scope alone, so a request's keys say whose it is. What is kept for no mandate, and
    everything where there is one client for all, is reached through `client`.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        *,
        tenants: Callable[[MandateId], DynamoDBClient] | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._table = table
        self._tenants = tenants
        self._pause = pause

    def get(self, key: Key) -> Item | None:
        """Return the item as it is now."""
        with translated():
            answer = self._reaching(key.pk).get_item(
                TableName=self._table, Key=raw_key(key), ConsistentRead=True
            )
        return decoded(answer["Item"]) if "Item" in answer else None

    def batch(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Return those items that exist, as they are now: one request per 100 keys."""
        found: dict[Key, Item] = {}
        unique = list(dict.fromkeys(keys))
        for together in self._reached_together(unique):
            for start in range(0, len(together), READ_BATCH):
                for item in self._batch(together[start : start + READ_BATCH]):
                    found[Key(str(item["pk"]), str(item["sk"]))] = item
        return found

    def query(self, wanted: Range, *, limit: int | None = None) -> Iterator[Item]:
        """Yield items page by page, at most `limit`; consistent except on an index."""
        request = self._query(wanted, limit)
        left = limit
        while True:
            with translated():
                answer = self._reaching(wanted.partition).query(**request)
            yield from (decoded(item) for item in answer["Items"])
            left = None if left is None else left - len(answer["Items"])
            if "LastEvaluatedKey" not in answer or left == 0:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def count(self, wanted: Range) -> int:
        """Return how many items the range holds, without reading their bodies."""
        request = self._query(wanted, None)
        request["Select"] = "COUNT"
        total = 0
        while True:
            with translated():
                answer = self._reaching(wanted.partition).query(**request)
            total += answer["Count"]
            if "LastEvaluatedKey" not in answer:
                return total
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def put(self, put: Put) -> None:
        """Write an item; raises `Refused` where its condition does not hold."""
        request = expressions.put_request(self._table, put)
        self._contended(lambda: self._reaching(put.key.pk).put_item(**request))

    def update(self, update: Update) -> Item:
        """Change an item and return it as it stands then; raises `Refused` as `put` does."""
        request = expressions.update_request(self._table, update)
        answer = self._contended(
            lambda: self._reaching(update.key.pk).update_item(**request, ReturnValues="ALL_NEW")
        )
        return decoded(answer["Attributes"])

    def transact(self, writes: Sequence[Write]) -> None:
        """Write all or nothing; raises `Refused` with one reason per write, in order."""
        entries = [expressions.transact_request(self._table, write) for write in writes]
        partitions = [write.key.pk for write in writes]
        self._contended(
            lambda: self._reaching(*partitions).transact_write_items(TransactItems=entries)
        )

    def fill(self, puts: Sequence[Put]) -> None:
        """Write many items without condition, 25 at a time, in order of batches."""
        partitions = [put.key.pk for put in puts]
        for start in range(0, len(puts), WRITE_BATCH):
            requests: list[WriteRequestUnionTypeDef] = [
                {"PutRequest": {"Item": expressions.put_request(self._table, put)["Item"]}}
                for put in puts[start : start + WRITE_BATCH]
            ]
            self._fill(requests, partitions)

    def remove(self, keys: Sequence[Key]) -> None:
        """Remove many items without condition, 25 at a time, in order of batches."""
        partitions = [key.pk for key in keys]
        for start in range(0, len(keys), WRITE_BATCH):
            requests: list[WriteRequestUnionTypeDef] = [
                {"DeleteRequest": {"Key": raw_key(key)}}
                for key in keys[start : start + WRITE_BATCH]
            ]
            self._fill(requests, partitions)

    def _reaching(self, *partitions: str) -> DynamoDBClient:
        """Return the client for one request; its keys may be of one mandate, and of none beside."""
        mandates = {mandate_of(partition) for partition in partitions} - {SYSTEM}
        if len(mandates) > 1:
            named = " and ".join(sorted(mandates))
            raise ValueError(f"table {self._table}: one request may not reach {named}")
        if self._tenants is None or not mandates:
            return self._client
        return self._tenants(mandates.pop())

    def _reached_together(self, unique: Sequence[Key]) -> Iterator[Sequence[Key]]:
        """Yield the keys that one request may name; all of them where there is one client."""
        if self._tenants is None:
            yield unique
            return
        owned: dict[MandateId, list[Key]] = {}
        for key in unique:
            owned.setdefault(mandate_of(key.pk), []).append(key)
        yield from owned.values()

    def _contended(self, call: Callable[[], R]) -> R:
        for attempt in range(1, TRIES + 1):
            try:
                with translated():
                    return call()
            except Contended:
                self._wait(attempt)
        raise ServiceUnavailable(f"table {self._table}: too many write the same item at once")

    def _batch(self, keys: Sequence[Key]) -> Iterator[Item]:
        wanted: list[dict[str, AttributeValueTypeDef]] = [raw_key(key) for key in keys]
        for attempt in range(1, TRIES):
            with translated():
                answer = self._reaching(keys[0].pk).batch_get_item(
                    RequestItems={self._table: {"Keys": wanted, "ConsistentRead": True}}
                )
            yield from (decoded(item) for item in answer["Responses"].get(self._table, []))
            left = answer["UnprocessedKeys"].get(self._table)
            if left is None:
                return
            wanted = [dict(key) for key in left["Keys"]]
            self._wait(attempt)
        raise RateLimited(f"table {self._table} did not answer {len(wanted)} keys of a batch")

    def _fill(
        self, requests: Sequence[WriteRequestUnionTypeDef], partitions: Sequence[str]
    ) -> None:
        for attempt in range(1, TRIES):
            with translated():
                client = self._reaching(*partitions)
                answer = client.batch_write_item(RequestItems={self._table: requests})
            left = answer["UnprocessedItems"].get(self._table)
            if not left:
                return
            requests = left
            self._wait(attempt)
        raise RateLimited(f"table {self._table} did not take {len(requests)} items of a batch")

    def _wait(self, attempt: int) -> None:
        self._pause(_JITTER.uniform(0, min(0.5, 0.01 * 2**attempt)))

    def _query(self, wanted: Range, limit: int | None) -> QueryInputTypeDef:
        partition, sort = wanted.keys
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "#p = :p" + wanted.condition,
            "ExpressionAttributeNames": {"#p": partition},
            "ExpressionAttributeValues": {":p": {"S": wanted.partition}},
            "ScanIndexForward": not wanted.newest_first,
            "ConsistentRead": wanted.index is None,
        }
        if wanted.condition:
            bounds: dict[str, AttributeValueTypeDef] = {
                name: {"S": value} for name, value in wanted.bounds.items()
            }
            request["ExpressionAttributeNames"] = {"#p": partition, "#s": sort}
            request["ExpressionAttributeValues"] = {":p": {"S": wanted.partition}, **bounds}
        if wanted.index:
            request["IndexName"] = wanted.index.name
        if wanted.after is not None:
            request["ExclusiveStartKey"] = {
                name: encoded(value) for name, value in wanted.after.items()
            }
        if limit is not None:
            request["Limit"] = limit
        return request
