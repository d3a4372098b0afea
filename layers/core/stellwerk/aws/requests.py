"""Counts of requests, and requests under their idempotency keys, on the table `platform`."""

from __future__ import annotations

from datetime import datetime

from stellwerk.aws import keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import (
    Delete,
    Put,
    Update,
    absent,
    below,
    decoded,
    equals,
    present,
)
from stellwerk.aws.items import Items
from stellwerk.aws.keys import Key
from stellwerk.aws.tables import TTL_ATTRIBUTE
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import UserId
from stellwerk.requests.limits import WINDOW
from stellwerk.requests.model import Repeat
from stellwerk.tenancy.scope import Scope


class DynamoCounters:
    """Counts requests: one request each, two for the first of a window."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def take(self, scope: Scope, principal: UserId, window: datetime, *, limit: int) -> bool:
        """Count one request of the window; False, uncounted, beyond `limit`."""
        key = keys.counter(scope, principal, window)
        expires = int((window + 2 * WINDOW).timestamp())
        counted = Update(key, add={"count": 1}, when=(present(), below("count", limit)))
        try:
            self._items.update(counted)
        except Refused as refused:
            if refused.reasons[0].item is not None:
                return False
            return self._first(key, expires) or self.take(scope, principal, window, limit=limit)
        return True

    def _first(self, key: Key, expires: int) -> bool:
        """Begin the count of a window; False if another request was faster."""
        try:
            self._items.put(Put(key, {"count": 1, TTL_ATTRIBUTE: expires}, when=(absent(),)))
        except Refused:
            return False
        return True


class DynamoRepeats:
    """Requests under their keys. Requests: 1 each; long answers are in S3."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def find(self, scope: Scope, key: str) -> Repeat | None:
        """Return the request that came with the key."""
        item = self._items.get(keys.repeat(scope, key))
        return None if item is None else self._bodies.record(scope, item, Repeat)

    def write(self, scope: Scope, repeat: Repeat) -> Repeat:
        """Write `repeat` in place of its revision; raises Conflict."""
        item = self._bodies.item(scope, repeat, "repeats")
        item[TTL_ATTRIBUTE] = int(repeat.expires.timestamp())
        unchanged = equals("revision", repeat.revision) if repeat.revision else absent()
        try:
            self._items.put(Put(keys.repeat(scope, repeat.key), item, when=(unchanged,)))
        except Refused as refused:
            reason = refused.reasons[0]
            mine = reason.item is not None and decoded(reason.item)["write"] == item["write"]
            if not mine:
                raise Conflict(f"the key '{repeat.key}' is in use") from refused
        return repeat.model_copy(update={"revision": repeat.revision + 1})

    def forget(self, scope: Scope, repeat: Repeat) -> None:
        """Remove what `write` returned, if it is still stored."""
        key = keys.repeat(scope, repeat.key)
        try:
            self._items.transact([Delete(key, when=(equals("revision", repeat.revision),))])
        except Refused:
            return
