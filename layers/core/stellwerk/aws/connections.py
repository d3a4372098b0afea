"""Connections in DynamoDB."""

from __future__ import annotations

from datetime import datetime, timedelta

from stellwerk.aws import connection_keys as keys
from stellwerk.aws import listing
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Item, Put, Term, absent, below, equals, present
from stellwerk.aws.items import Items, Range
from stellwerk.aws.tables import TTL_ATTRIBUTE
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import Connection, ConnectionId, Pending
from stellwerk.toolboxes.rights import missing

LOCKED = timedelta(seconds=30)
"""After so long a renewal is taken to have died."""


class DynamoConnections:
    """Implements `toolboxes.ports.Connections` on the table `platform`. Requests: 1 each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def add(self, scope: Scope, connection: Connection) -> Connection:
        """Keep a new connection; raises Conflict where there is one of that id."""
        try:
            return self._put(scope, connection, absent())
        except Refused:
            raise Conflict(f"there is a connection {connection.id} already") from None

    def get(self, scope: Scope, connection: ConnectionId) -> Connection:
        """Return a connection; raises NotFound."""
        item = self._items.get(keys.connection(scope, connection))
        if item is None:
            raise missing(connection)
        return _record(item)

    def list(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Connection]:
        """Return a page of connections, the oldest first."""
        wanted = Range(keys.connection(scope, ConnectionId("")).pk)
        found = listing.entries(self._items, wanted, cursor=cursor, limit=limit)
        return Page([_record(item) for item in found.items], found.cursor)

    def write(self, scope: Scope, connection: Connection) -> Connection:
        """Write at the revision that it carries; raises Conflict where it is another, or gone."""
        try:
            return self._put(scope, connection, equals("revision", connection.revision))
        except Refused:
            raise Conflict(
                f"connection {connection.id} has changed meanwhile",
                remedy="Look at it as it is now, and repeat the change.",
            ) from None

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        """Forget a connection; nothing if it is gone."""
        self._items.transact([Delete(keys.connection(scope, connection))])

    def lock(self, scope: Scope, connection: ConnectionId, *, now: datetime, holder: str) -> bool:
        """Say whether `holder` has the lock now: it was free, or whoever had it died with it."""
        key = keys.renewal(scope, connection)
        until = now + LOCKED
        item: Item = {
            "holder": holder,
            "until": _milliseconds(until),
            TTL_ATTRIBUTE: int((until + LOCKED).timestamp()),
        }
        for free in (absent(), below("until", _milliseconds(now) + 1)):
            try:
                self._items.put(Put(key, item, when=(free,)))
            except Refused:
                continue
            return True
        return False

    def unlock(self, scope: Scope, connection: ConnectionId, *, holder: str) -> None:
        """Free the lock; nothing where another has it meanwhile."""
        key = keys.renewal(scope, connection)
        try:
            self._items.transact([Delete(key, when=(equals("holder", holder),))])
        except Refused:
            return

    def ask(self, scope: Scope, state: str, pending: Pending) -> None:
        """Keep what the scope's user was sent away with; it goes by itself when it is over."""
        expires = int(pending.expires.timestamp()) + 1
        item: Item = {"body": pending.model_dump_json(), TTL_ATTRIBUTE: expires}
        self._items.put(Put(keys.consent(scope, state), item))

    def answered(self, scope: Scope, state: str) -> Pending:
        """Return and forget it; of two at once one gets it. Raises NotFound."""
        key = keys.consent(scope, state)
        item = self._items.get(key)
        try:
            if item is None:
                raise _unknown()
            self._items.transact([Delete(key, when=(present(),))])
        except Refused:
            raise _unknown() from None
        return Pending.model_validate_json(str(item["body"]))

    def _put(self, scope: Scope, connection: Connection, *when: Term) -> Connection:
        written = connection.model_copy(update={"revision": connection.revision + 1})
        item: Item = {"body": written.model_dump_json(), "revision": written.revision}
        self._items.put(Put(keys.connection(scope, connection.id), item, when=when))
        return written


def _record(item: Item) -> Connection:
    return Connection.model_validate_json(str(item["body"]))


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _unknown() -> NotFound:
    return NotFound(
        "Nobody was sent away with this state, or it has come back before.",
        remedy="Begin to authorise anew.",
    )
