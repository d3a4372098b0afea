"""The outbox: bundles of notices, and what became of messages, in a partition of each instance.

The number of notices and the latest text are attributes beside the body, which those who tell
change without reading, and which win over it. `fresh` marks a bundle that has just been opened: the
table's stream hands it to the sender.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from stellwerk.aws import keys, listing, tables, watching_keys
from stellwerk.aws.bodies import Bodies, changes
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put, Update, Write, absent, decoded, equals
from stellwerk.aws.items import TRIES, Items, Range
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.bundles import KEPT, Bundle, Sent

_PLACE = "notices"
_SHOWN = 100


class DynamoOutbox:
    """The outbox on the table `runs`.

    Requests: add 1, 3 for the first; find, write, close 1; due, open, sent 1 or 2.
    """

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def add(self, scope: Scope, bundle: Bundle) -> None:
        """Count one more in the open bundle, else open it."""
        key = watching_keys.notice(scope, bundle.id)
        one_more = Update(
            key,
            set={**_latest(bundle), "fresh": False},
            add={"count": 1},
            when=(equals("closed", value=False),),
        )
        for _ in range(TRIES):
            try:
                self._items.update(one_more)
            except Refused as refused:
                if self._opened(scope, bundle, refused.reasons[0].item is None):
                    return
            else:
                return
        raise ServiceUnavailable(f"bundle {bundle.id} is opened and closed too fast")

    def find(self, scope: Scope, bundle: str) -> Bundle | None:
        """Return a bundle."""
        item = self._items.get(watching_keys.notice(scope, bundle))
        return None if item is None else self._record(scope, item)

    def write(self, scope: Scope, bundle: Bundle, sent: Sent | None = None) -> Bundle:
        """Replace a bundle at its revision, but for what notices change; note a message."""
        writes: list[Write] = [self._replacing(scope, bundle)]
        if sent is not None:
            writes.append(self._noted(scope, bundle, sent))
        self._transact(bundle, writes)
        return bundle.model_copy(update={"revision": bundle.revision + 1})

    def close(self, scope: Scope, bundle: Bundle) -> None:
        """Write a closed bundle, if no notice has come since."""
        update = self._replacing(scope, bundle)
        same = equals("count", bundle.count)
        forgotten = int((bundle.opened + KEPT).timestamp())
        self._transact(
            bundle,
            [
                Update(
                    update.key,
                    set={**update.set, "closed": True, tables.TTL_ATTRIBUTE: forgotten},
                    remove=update.remove,
                    when=(*update.when, same),
                )
            ],
        )

    def due(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Return ids of bundles that are to be looked at, the longest due first."""
        until = f"{instant(now)}#~"
        wanted = Range(watching_keys.notices_due(scope), index=tables.SWEEP, until=until)
        found = self._items.query(wanted, limit=_SHOWN)
        return [str(item["sk"]).removeprefix(watching_keys.NOTICE) for item in found]

    def open(self, scope: Scope) -> Sequence[Bundle]:
        """Return bundles that are not closed."""
        wanted = Range(watching_keys.notices_due(scope), index=tables.SWEEP)
        listed = listing.page(self._items, wanted, cursor=None, limit=_SHOWN)
        return [self._record(scope, item) for item in listed.items]

    def sent(self, scope: Scope, *, limit: int) -> Sequence[Sent]:
        """Return what became of messages, the newest first."""
        partition = watching_keys.messages(scope)
        found = self._items.query(Range(partition, newest_first=True), limit=limit)
        return [self._bodies.record(scope, item, Sent) for item in islice(found, limit)]

    def _opened(self, scope: Scope, bundle: Bundle, new: bool) -> bool:
        """Open a bundle; False if somebody else has at the same moment."""
        item = self._bodies.item(scope, bundle, _PLACE) | self._beside(scope, bundle)
        more: Item = {"count": bundle.count, **_latest(bundle), "fresh": True, "closed": False}
        free = absent() if new else equals("closed", value=True)
        try:
            self._items.put(Put(watching_keys.notice(scope, bundle.id), item | more, when=(free,)))
        except Refused:
            return False
        return True

    def _replacing(self, scope: Scope, bundle: Bundle) -> Update:
        item = self._bodies.item(scope, bundle, _PLACE) | self._beside(scope, bundle)
        same = (equals("revision", bundle.revision),)
        update = changes(
            watching_keys.notice(scope, bundle.id), {**item, "fresh": False}, when=same
        )
        unswept = () if bundle.due else ("in_sweep", "sweep_at")
        return Update(update.key, set=update.set, remove=(*update.remove, *unswept), when=same)

    def _beside(self, scope: Scope, bundle: Bundle) -> Item:
        if bundle.due is None:
            return {}
        return {
            "in_sweep": watching_keys.notices_due(scope),
            "sweep_at": keys.listed_at(bundle.due, bundle.id),
        }

    def _noted(self, scope: Scope, bundle: Bundle, sent: Sent) -> Put:
        expires: Item = {tables.TTL_ATTRIBUTE: int((sent.at + KEPT).timestamp())}
        item = self._bodies.item(scope, sent, _PLACE) | expires
        return Put(watching_keys.message(scope, sent.at, bundle.message_id), item)

    def _transact(self, bundle: Bundle, writes: Sequence[Write]) -> None:
        try:
            self._items.transact(writes)
        except Refused as refused:
            seen = decoded(refused.reasons[0].item or {}).get("revision", "gone")
            raise Conflict(
                f"bundle {bundle.id} is not stored as {bundle.revision}: {seen}"
            ) from refused

    def _record(self, scope: Scope, item: Item) -> Bundle:
        bundle = self._bodies.record(scope, item, Bundle)
        return bundle.model_copy(
            update={
                "count": item["count"],
                "closed": item["closed"],
                "subject": item["subject"],
                "text": item["text"],
                "link": item["link"],
                "about": json.loads(str(item["about"])),
            }
        )


def _latest(bundle: Bundle) -> Item:
    return {
        "subject": bundle.subject,
        "text": bundle.text,
        "link": bundle.link,
        "about": json.dumps(bundle.about),
    }
