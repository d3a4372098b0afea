"""What runs leave: items in several partitions of the table `runs`, and objects that these name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from stellwerk.aws import keys, watching_keys
from stellwerk.aws.errors import translated
from stellwerk.aws.expressions import Item
from stellwerk.aws.items import WRITE_BATCH, Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.ids import MandateId, RunId, TaskId
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_OBJECT = re.compile(r'"key":"(runs/[^"/]+/[0-9a-f]{64})"')
"""A reference to a value in the body of a record."""


class DynamoRemains:
    """The remains of runs on the table `runs` and in the bucket.

    Requests: replayed 2; remove a query for each of 11 partitions, one for 25 items and one for
    each object.
    """

    def __init__(self, items: Items, client: Callable[[MandateId], S3Client], bucket: str) -> None:
        self._items = items
        self._client = client
        self._bucket = bucket

    def replayed(self, scope: Scope, run: Run) -> bool:
        """Return whether a later run of the family is there: ids sort by time."""
        first = keys.run(scope, run.origin or run.id).pk
        noted = self._items.query(Range(first, prefix=watching_keys.REPLAY))
        names = (RunId(str(item["sk"]).removeprefix(watching_keys.REPLAY)) for item in noted)
        places = [keys.run(scope, name) for name in names if name > run.id]
        return bool(self._items.batch(places)) if places else False

    def remove(self, scope: Scope, run: RunId) -> int:
        """Remove objects, then items, and last the run with the mark by which it is found."""
        removed = 0
        for partition in self._partitions(scope, run):
            removed += self._emptied(scope, run, partition)
        own = [*self._items.query(Range(keys.run(scope, run).pk))]
        for task in (item for item in own if str(item["sk"]).startswith(keys.TASK_OF_RUN)):
            place = keys.task(scope, TaskId(str(task["task"])))
            removed += self._emptied(scope, run, place.pk)
        self._remove_objects(scope, run, own)
        last = (keys.RUN, watching_keys.run_over(scope, run).sk)
        first = [_key(item) for item in own if item["sk"] not in last]
        self._items.remove(first)
        self._items.remove([_key(item) for item in own if item["sk"] in last])
        return removed + len(own)

    def _partitions(self, scope: Scope, run: RunId) -> Iterator[str]:
        yield from keys.loop_partitions(scope, run)
        yield watching_keys.events_head(scope, run).pk

    def _emptied(self, scope: Scope, run: RunId, partition: str) -> int:
        removed = 0
        waiting: list[Item] = []
        for item in self._items.query(Range(partition)):
            waiting.append(item)
            if len(waiting) == WRITE_BATCH:
                removed += self._gone(scope, run, waiting)
                waiting = []
        return removed + self._gone(scope, run, waiting)

    def _gone(self, scope: Scope, run: RunId, items: list[Item]) -> int:
        self._remove_objects(scope, run, items)
        self._items.remove([_key(item) for item in items])
        return len(items)

    def _remove_objects(self, scope: Scope, run: RunId, items: list[Item]) -> None:
        """Remove the run's own objects: those of others that it names belong to these."""
        texts = (str(item.get(name, "")) for item in items for name in ("body", "body_ref"))
        named = {found for text in texts for found in _OBJECT.findall(text)}
        for key in sorted(name for name in named if name.startswith(f"runs/{run}/")):
            with translated():
                client = self._client(scope.mandate)
                client.delete_object(Bucket=self._bucket, Key=keys.value(scope, key))


def _key(item: Item) -> Key:
    return Key(str(item["pk"]), str(item["sk"]))
