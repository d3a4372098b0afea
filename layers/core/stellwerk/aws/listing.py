"""Pages of what an index lists: keys from the index, whole items from the table as they are now."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stellwerk.aws.expressions import Item
from stellwerk.aws.items import READ_BATCH, Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.errors import BadInput


@dataclass(frozen=True)
class Slice:
    """Items of one page, and where the next one goes on; None at the end."""

    items: Sequence[Item]
    cursor: str | None


def entries(items: Items, wanted: Range, *, cursor: str | None, limit: int) -> Slice:
    """Return up to `limit` (1 to 100) entries as the range holds them, in one request.

    A cursor is the position of the last entry, which may have gone since; it names no partition.
    Raises BadInput for a text that is no cursor.
    """
    size = max(1, min(limit, READ_BATCH))
    found = list(items.query(continued(wanted, cursor), limit=size + 1))
    if len(found) <= size:
        return Slice(found, None)
    return Slice(found[:size], cursor_after(wanted, found[size - 1]))


def page(items: Items, wanted: Range, *, cursor: str | None, limit: int) -> Slice:
    """Return a page of whole items, in two requests."""
    listed = entries(items, wanted, cursor=cursor, limit=limit)
    return Slice(list(_whole(items, listed.items)), listed.cursor)


def everything(items: Items, wanted: Range) -> Iterator[Item]:
    """Yield all whole items of a range, a hundred at a time."""
    waiting: list[Item] = []
    for entry in items.query(wanted):
        waiting.append(entry)
        if len(waiting) == READ_BATCH:
            yield from _whole(items, waiting)
            waiting = []
    if waiting:
        yield from _whole(items, waiting)


def _whole(items: Items, listed: Sequence[Item]) -> Iterator[Item]:
    keys = [Key(str(entry["pk"]), str(entry["sk"])) for entry in listed]
    found = items.batch(keys)
    return (found[key] for key in keys if key in found)


def continued(wanted: Range, cursor: str | None) -> Range:
    """Return what of the range follows a cursor; raises BadInput for a text that is none."""
    return wanted if cursor is None else replace(wanted, after=_position(wanted, cursor))


def cursor_after(wanted: Range, last: Item) -> str:
    """Return the cursor of what follows an entry of the range."""
    position = [last[wanted.keys[1]], last["pk"], last["sk"]]
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _position(wanted: Range, cursor: str) -> Item:
    try:
        sort, pk, sk = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"'{cursor}' is not a cursor", remedy="Use the cursor of the page before."
        ) from error
    partition_name, sort_name = wanted.keys
    start: Item = {"pk": str(pk), "sk": str(sk)}
    return start | {partition_name: wanted.partition, sort_name: str(sort)}
