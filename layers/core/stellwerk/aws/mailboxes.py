"""Mailboxes that are watched, in DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from stellwerk.aws import connection_keys as keys
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Item, Put, Update, absent, equals, present
from stellwerk.aws.items import TRIES, Items, Range
from stellwerk.aws.tables import TTL_ATTRIBUTE
from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import SYSTEM, Scope
from stellwerk.triggers.mail.model import Box, BoxKey, Watched, Watcher
from stellwerk.triggers.mail.ports import Watching

_KEPT = timedelta(days=2)
"""How long what a step watched for is kept after its time."""


class _Entry(BaseModel):
    """What a trigger watches, as its workflow's partition keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    box: BoxKey
    watcher: Watcher


class DynamoMailboxes:
    """Implements `triggers.mail.ports.Mailboxes` on the table `platform`.

    Requests: watch 2, find 1 per 1 MB, arrive 1, withdraw 1 or 2, all others 1.
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def everywhere(self, scope: Scope) -> Iterator[Watched]:
        """Yield all that are watched."""
        if scope.mandate != SYSTEM:
            return
        for item in self._items.query(Range(keys.MAILBOXES)):
            mandate, instance, box = str(item["sk"]).split("#")
            yield Watched(MandateId(mandate), InstanceId(instance), box)

    def find(self, scope: Scope, box: str) -> tuple[Box, Sequence[Watcher]] | None:
        """Return a mailbox with all who watch it."""
        found: Box | None = None
        watchers = []
        for item in self._items.query(Range(keys.mailbox(scope, box).pk)):
            if item["sk"] == keys.MAILBOX:
                found = _box(item)
            else:
                watchers.append(_watcher(item))
        return None if found is None else (found, watchers)

    def watch(self, scope: Scope, key: BoxKey, watcher: Watcher, now: datetime) -> None:
        """Let `watcher` watch; what has come for it under its id stays."""
        joined = Update(keys.mailbox(scope, key.id), add={"joined": 1}, when=(present(),))
        body: Item = {"body": watcher.model_dump_json(exclude={"mail"})}
        expiry: Item = {}
        if watcher.due is not None:
            expiry = {TTL_ATTRIBUTE: int((watcher.due + _KEPT).timestamp())}
        own = Update(keys.watcher(scope, key.id, watcher.id), set=body | expiry)
        writes: list[Put | Update] = [joined, own]
        if watcher.workflow is not None:
            entry = _Entry(box=key, watcher=watcher).model_dump_json()
            place = keys.watched(scope, watcher.workflow, watcher.node)
            writes.append(Put(place, {"body": entry}))
        for _ in range(TRIES):
            self._enter(scope, key, now)
            try:
                self._items.transact(writes)
            except Refused:  # somebody has left it meanwhile
                continue
            return
        raise ServiceUnavailable("a mailbox is left and entered by too many at once")

    def unwatch(self, scope: Scope, box: str, watcher: Watcher) -> None:
        """Let it watch no more."""
        writes = [Delete(keys.watcher(scope, box, watcher.id))]
        if watcher.workflow is not None:
            writes.append(Delete(keys.watched(scope, watcher.workflow, watcher.node)))
        self._items.transact(writes)

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Mapping[NodeKey, Watching]:
        """Return what the triggers of a workflow watch."""
        begin = keys.watched(scope, workflow)
        found = {}
        for item in self._items.query(Range(begin.pk, prefix=begin.sk)):
            entry = _Entry.model_validate_json(str(item["body"]))
            found[entry.watcher.node] = Watching(BoxKey(*entry.box), entry.watcher)
        return found

    def watcher(self, scope: Scope, box: str, watcher: str) -> Watcher | None:
        """Return who watches under that id."""
        item = self._items.get(keys.watcher(scope, box, watcher))
        return None if item is None else _watcher(item)

    def arrive(self, scope: Scope, box: str, watcher: str, mail: Stored) -> Watcher | None:
        """Note the first that has come for a step."""
        place = keys.watcher(scope, box, watcher)
        text = mail.model_dump_json()
        try:
            item = self._items.update(
                Update(place, set={"mail": text}, when=(present(), absent("mail")))
            )
        except Refused:
            return self.watcher(scope, box, watcher)
        return _watcher(item)

    def withdraw(self, scope: Scope, box: str, watcher: str) -> Stored | None:
        """Let it watch no more, unless something came; then return that."""
        try:
            self._items.transact(
                [Delete(keys.watcher(scope, box, watcher), when=(absent("mail"),))]
            )
        except Refused:
            found = self.watcher(scope, box, watcher)
            return None if found is None else found.mail
        return None

    def read_to(self, scope: Scope, box: Box) -> bool:
        """Write how far it was read."""
        body = box.model_dump_json(exclude={"revision", "joined"})
        update = Update(
            keys.mailbox(scope, box.key.id),
            set={"body": body, "revision": box.revision + 1},
            when=(equals("revision", box.revision),),
        )
        try:
            self._items.update(update)
        except Refused:
            return False
        return True

    def leave(self, scope: Scope, box: str, joined: int | None) -> None:
        """Forget a mailbox, and its entry with it, unless somebody has joined since."""
        free = absent() if joined is None else equals("joined", joined)
        try:
            self._items.transact(
                [
                    Delete(keys.mailbox(scope, box), when=(free,)),
                    Delete(keys.mailbox_entry(scope, box)),
                ]
            )
        except Refused:
            return

    def _enter(self, scope: Scope, key: BoxKey, now: datetime) -> None:
        """Let the mailbox be there, and in the list."""
        new = Box(connection=key.connection, folder=key.folder, since=now)
        item: Item = {
            "body": new.model_dump_json(exclude={"revision", "joined"}),
            "revision": 0,
            "joined": 0,
        }
        try:
            self._items.transact(
                [
                    Put(keys.mailbox(scope, key.id), item, when=(absent(),)),
                    Put(keys.mailbox_entry(scope, key.id), {}),
                ]
            )
        except Refused:
            return


def _box(item: Item) -> Box:
    found = Box.model_validate_json(str(item["body"]))
    return found.model_copy(
        update={"revision": int(item["revision"]), "joined": int(item["joined"])}
    )


def _watcher(item: Item) -> Watcher:
    found = Watcher.model_validate_json(str(item["body"]))
    if "mail" not in item:
        return found
    return found.model_copy(update={"mail": Stored.model_validate_json(str(item["mail"]))})
