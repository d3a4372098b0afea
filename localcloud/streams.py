"""DynamoDB Streams: what is written to a table goes to functions, in batches and in order.

A function gets the writes that one of its patterns fits. A batch that fails comes again, from the
first record that was named; after some tries it is given up. What is in a stream when the process
dies is lost: whoever reads streams can look at the table itself.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from localcloud.dynamodb.values import Item, item_size
from localcloud.dynamodb.writes import Write
from localcloud.lambdas import Lambdas

LOG = logging.getLogger(__name__)

Pattern: TypeAlias = Mapping[str, Any]
"""A filter of an event source mapping: lists of what is allowed, at the places of a record."""
WINDOW = 0.05
"""Seconds for which writes are gathered, so that a busy run does not pay for each of its steps."""
BATCH = 100
BATCH_BYTES = 3 * 1024 * 1024
PAUSES = (0.05, 0.2, 1.0, 2.0, 5.0)
"""Seconds before each further try of a batch."""


@dataclass(frozen=True)
class _Entry:
    sequence: int
    name: str
    item: Item

    @property
    def record(self) -> dict[str, Any]:
        keys = {name: self.item[name] for name in ("pk", "sk")}
        return {
            "eventID": str(self.sequence),
            "eventName": self.name,
            "eventSource": "aws:dynamodb",
            "dynamodb": {
                "Keys": keys,
                "NewImage": self.item,
                "SequenceNumber": str(self.sequence),
                "ApproximateCreationDateTime": self.sequence / 1e9,
                "StreamViewType": "NEW_IMAGE",
            },
        }


class Streams:
    """The stream of one table, with a thread for each function that reads it."""

    def __init__(self, lambdas: Lambdas, table: str, readers: Mapping[str, Sequence[Pattern]]):
        self._table = table
        self._readers = [_Reader(lambdas, name, patterns) for name, patterns in readers.items()]
        self._last = 0

    def start(self) -> None:
        """Begin to read."""
        for reader in self._readers:
            reader.start()

    def stop(self) -> None:
        """Hand over what has been written so far, and end."""
        for reader in self._readers:
            reader.stop()

    def written(self, writes: Sequence[Write]) -> None:
        """Take in writes that are done; called by one thread at a time, in their order."""
        for write in writes:
            if write.after is None or write.table.name != self._table:
                continue
            self._last = max(self._last + 1, time.time_ns())
            name = "INSERT" if write.before is None else "MODIFY"
            entry = _Entry(self._last, name, write.after)
            for reader in self._readers:
                reader.put(entry)


class _Reader:
    """What one function has still to read."""

    def __init__(self, lambdas: Lambdas, function: str, patterns: Sequence[Pattern]) -> None:
        self._lambdas = lambdas
        self._function = function
        self._patterns = patterns
        self._entries: SimpleQueue[_Entry | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._read, name=f"localcloud-stream-{function}", daemon=True
        )

    def put(self, entry: _Entry) -> None:
        self._entries.put(entry)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._entries.put(None)
        self._thread.join()

    def _read(self) -> None:
        while True:
            first = self._entries.get()
            self._stopped.wait(WINDOW)
            waiting = [first, *self._drained()]
            found = [entry for entry in waiting if entry is not None and self._wants(entry)]
            for batch in _batches(found):
                self._deliver(batch)
            if None in waiting:
                return

    def _drained(self) -> Iterator[_Entry | None]:
        try:
            while True:
                yield self._entries.get_nowait()
        except Empty:
            return

    def _wants(self, entry: _Entry) -> bool:
        return any(fits(pattern, entry.record) for pattern in self._patterns)

    def _deliver(self, batch: Sequence[_Entry]) -> None:
        left = list(batch)
        for pause in (0.0, *PAUSES):
            if pause and self._stopped.wait(pause):
                break
            left = self._sent(left)
            if not left:
                return
        LOG.error("%s did not take %d changes of a table", self._function, len(left))

    def _sent(self, batch: Sequence[_Entry]) -> list[_Entry]:
        """Call the function; return what is to be sent again."""
        event = {"Records": [entry.record for entry in batch]}
        result = self._lambdas.invoke(self._function, json.dumps(event))
        if result.failed:
            LOG.warning("%s failed on a table's changes: %s", self._function, result.payload)
            return list(batch)
        failures = (json.loads(result.payload) or {}).get("batchItemFailures", ())
        first = min((int(one["itemIdentifier"]) for one in failures), default=None)
        return [] if first is None else [one for one in batch if one.sequence >= first]


def fits(pattern: Pattern, record: Mapping[str, Any]) -> bool:
    """Whether a record has, at every place of the pattern, one of what is allowed there."""
    for name, wanted in pattern.items():
        found = record.get(name)
        if isinstance(wanted, Mapping):
            if not isinstance(found, Mapping) or not fits(wanted, found):
                return False
        elif not any(_is(one, found) for one in wanted):
            return False
    return True


def _is(wanted: object, found: object) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, str) and found.startswith(str(wanted["prefix"]))
    return wanted == found


def _batches(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    batch: list[_Entry] = []
    size = 0
    for entry in entries:
        more = item_size(entry.item)
        if batch and (len(batch) == BATCH or size + more > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += more
    if batch:
        yield batch
