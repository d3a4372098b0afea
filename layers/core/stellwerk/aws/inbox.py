"""Inboxes: what waits for a user, a role or everyone, each in a partition of its own.

A task has an entry in the inbox of each assignee, written and removed with it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

from stellwerk.aws import keys, listing
from stellwerk.aws.expressions import Delete, Item, Put, Write
from stellwerk.aws.items import READ_BATCH, Items, Range
from stellwerk.aws.listing import Slice
from stellwerk.runs.model import HumanTask
from stellwerk.tenancy.scope import Scope


def entered(scope: Scope, task: HumanTask) -> list[Put]:
    """Return the writes that put a task into the inboxes of its assignees."""
    entry: Item = {"task": task.id}
    return [Put(key, entry) for key in _places(scope, task)]


def left(scope: Scope, task: HumanTask) -> list[Delete]:
    """Return the writes that take a task out of the inboxes of its assignees."""
    return [Delete(key) for key in _places(scope, task)]


def moved(scope: Scope, before: HumanTask, after: HumanTask) -> list[Write]:
    """Return the writes after which the task is in the inboxes of its new assignees only."""
    old, new = left(scope, before), entered(scope, after)
    kept = {gone.key for gone in old} & {here.key for here in new}
    return [
        *(gone for gone in old if gone.key not in kept),
        *(here for here in new if here.key not in kept),
    ]


def page(
    items: Items, scope: Scope, names: Sequence[str], *, cursor: str | None, limit: int
) -> Slice:
    """Return a page of the entries of several inboxes, the newest first, each task once.

    Costs one request for each name, however many entries there are.
    """
    size = max(1, min(limit, READ_BATCH))
    inboxes = [
        Range(keys.inbox(scope, name).pk, newest_first=True) for name in dict.fromkeys(names)
    ]
    reads = [items.query(listing.continued(inbox, cursor), limit=size + 1) for inbox in inboxes]
    merged = heapq.merge(*reads, key=lambda entry: str(entry["sk"]), reverse=True)
    found = list(islice(_once(merged), size + 1))
    if len(found) <= size:
        return Slice(found, None)
    return Slice(found[:size], listing.cursor_after(inboxes[0], found[size - 1]))


def _once(entries: Iterator[Item]) -> Iterator[Item]:
    """Leave out what comes again: a task that waits for a user and for a role of his."""
    last = ""
    for entry in entries:
        if entry["sk"] != last:
            yield entry
        last = str(entry["sk"])


def _places(scope: Scope, task: HumanTask) -> Iterator[keys.Key]:
    for assignee in dict.fromkeys(task.assignees):
        yield keys.inbox(scope, assignee, task.created, task.id)
