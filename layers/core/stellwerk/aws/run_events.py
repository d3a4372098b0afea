"""The event logs of runs: the head, what was told, and the events, several to an item.

An item of events is named by its last one, so that what follows a number is one query. Whoever
appends changes the head at the revision that it has read, in the same transaction: there is one
appender at a time, and numbers have no gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from pydantic import TypeAdapter

from stellwerk.aws import watching_keys
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Put, Write, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import RunId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.memory import Head, Page
from stellwerk.watching.model import RunEvent
from stellwerk.watching.ports import LogState

TOGETHER = 200
"""Events of an item, some 200 bytes each: far from the 400 KB that an item may have."""
_EVENTS = TypeAdapter(list[RunEvent])


class DynamoEventLog:
    """Event logs on the table `runs`. Requests: state, append 1; read 1 per MB."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def state(self, scope: Scope, run: RunId, pages: Sequence[str]) -> LogState:
        """Return the head and those of the pages that exist."""
        head = watching_keys.events_head(scope, run)
        places = {watching_keys.events_page(scope, run, name): name for name in pages}
        found = self._items.batch([head, *places])
        return LogState(
            Head.model_validate_json(str(found[head]["body"])) if head in found else Head(),
            {
                name: Page.model_validate_json(str(found[place]["body"]))
                for place, name in places.items()
                if place in found
            },
        )

    def append(
        self,
        scope: Scope,
        run: RunId,
        before: LogState,
        after: LogState,
        events: Sequence[RunEvent],
    ) -> None:
        """Write events, head and changed pages; raises Conflict where the head is another one."""
        seen = before.head.revision
        writes: list[Write] = [
            Put(
                watching_keys.events_head(scope, run),
                {"revision": after.head.revision, "body": _body(after.head)},
                when=(equals("revision", seen) if seen else absent(),),
            )
        ]
        for name, page in after.pages.items():
            if before.pages.get(name) != page:
                writes.append(
                    Put(watching_keys.events_page(scope, run, name), {"body": _body(page)})
                )
        writes += _chunks(scope, run, events)
        try:
            self._items.transact(writes)
        except Refused as refused:
            raise Conflict(f"the event log of run {run} is not as it was at {seen}") from refused

    def read(self, scope: Scope, run: RunId, *, after: int, limit: int) -> Sequence[RunEvent]:
        """Return events behind `after`."""
        partition, first = watching_keys.events_from(scope, run, after + 1)
        found = self._items.query(Range(partition, since=first, until=watching_keys.LAST_EVENT))
        events = (event for item in found for event in _EVENTS.validate_json(str(item["events"])))
        return [*islice((event for event in events if event.seq > after), limit)]


def _chunks(scope: Scope, run: RunId, events: Sequence[RunEvent]) -> Iterator[Put]:
    for start in range(0, len(events), TOGETHER):
        some = list(events[start : start + TOGETHER])
        text = _EVENTS.dump_json(some, exclude_defaults=True).decode()
        yield Put(watching_keys.events_until(scope, run, some[-1].seq), {"events": text})


def _body(part: Head | Page) -> str:
    return part.model_dump_json(exclude_defaults=True)
