"""Registrations on the table `platform`, slots on the table `runs`, and the mark of the looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from stellwerk.aws import listing, schedule_keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put, absent, below, decoded
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import listed_at
from stellwerk.aws.revisions import unchanged, written
from stellwerk.aws.tables import BY_STATUS, TTL_ATTRIBUTE
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.model import LATE, Mark, Registration, Slot, SlotStatus

KEPT = timedelta(days=90)
"""How long the row of a slot is kept. The audit keeps every start."""
_WEIGHT = {SlotStatus.MISSED: 1, SlotStatus.SKIPPED: 2, SlotStatus.FIRED: 3}


class DynamoRegistrations:
    """Registrations, an instance's in one partition. Requests: 1 each."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def get(self, scope: Scope, workflow: WorkflowId) -> Registration | None:
        """Return the registration of a workflow."""
        item = self._items.get(schedule_keys.registration(scope, workflow))
        return None if item is None else self._bodies.record(scope, item, Registration)

    def write(self, scope: Scope, registration: Registration) -> Registration:
        """Write it in place of its revision; raises Conflict."""
        workflow = registration.workflow
        item = self._bodies.item(scope, registration, f"schedules/{workflow}")
        key = schedule_keys.registration(scope, workflow)
        try:
            self._items.put(Put(key, item, when=unchanged(registration)))
        except Refused as refused:
            stored = refused.reasons[0].item
            if stored is None or decoded(stored).get("write") != item["write"]:
                raise Conflict(f"the schedules of {workflow} have changed meanwhile") from refused
        return written(registration)

    def all(self, scope: Scope) -> Iterator[Registration]:
        """Yield all of the instance, by workflow."""
        for item in self._items.query(Range(schedule_keys.registration(scope).pk)):
            yield self._bodies.record(scope, item, Registration)

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Registration]:
        """Return a page of the instance's, by workflow."""
        wanted = Range(schedule_keys.registration(scope).pk)
        found = listing.entries(self._items, wanted, cursor=cursor, limit=limit)
        records = [self._bodies.record(scope, item, Registration) for item in found.items]
        return Page(records, found.cursor)


class DynamoSlots:
    """The ledger. Requests: 1 each; `standing` and a row written anew 2."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey, at: datetime) -> Slot | None:
        """Return the row of a slot."""
        item = self._items.get(schedule_keys.slot(scope, workflow, at, node))
        return None if item is None else _slot(item)

    def record(self, scope: Scope, slot: Slot) -> Slot:
        """Write the row unless there is one that counts as much, and return what is stored."""
        key = schedule_keys.slot(scope, slot.workflow, slot.at, slot.node)
        weight = _WEIGHT[slot.status]
        item: Item = {
            "body": slot.model_dump_json(),
            "weight": weight,
            TTL_ATTRIBUTE: int((slot.at + KEPT).timestamp()),
        }
        listed = _listed(scope, slot)
        if listed:
            item["in_status"] = listed
            item["listed_at"] = listed_at(slot.at, f"{slot.workflow}#{slot.node}")
        for when in (absent(), below("weight", weight)):
            try:
                self._items.put(Put(key, item, when=(when,)))
            except Refused as refused:
                stored = refused.reasons[0].item
            else:
                return slot
        return slot if stored is None else _slot(decoded(stored))

    def latest(self, scope: Scope, workflow: WorkflowId, *, limit: int) -> Sequence[Slot]:
        """Return the last rows of a workflow, the newest first."""
        wanted = Range(schedule_keys.slots(scope, workflow), newest_first=True)
        return [_slot(item) for item in self._items.query(wanted, limit=limit)]

    def between(
        self, scope: Scope, workflow: WorkflowId, since: datetime, until: datetime
    ) -> Mapping[tuple[NodeKey, datetime], Slot]:
        """Return the rows of slots later than `since` and not later than `until`."""
        wanted = Range(
            schedule_keys.slots(scope, workflow),
            since=instant(since),
            until=listed_at(until, "~"),
        )
        found = (_slot(item) for item in self._items.query(wanted))
        return {(slot.node, slot.at): slot for slot in found if slot.at > since}

    def standing(
        self, scope: Scope, status: SlotStatus, *, late: bool, limit: int
    ) -> Sequence[Slot]:
        """Return the instance's last rows with a status, or those fired late, the newest first."""
        partition = schedule_keys.by_status(scope, "late" if late else status)
        wanted = Range(partition, index=BY_STATUS, newest_first=True)
        found = listing.page(self._items, wanted, cursor=None, limit=limit)
        return [_slot(item) for item in found.items]


class DynamoLookMarks:
    """The mark on the table `platform`. Requests: 1 each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def read(self, scope: Scope) -> Mark | None:
        """Return the mark; None before the first look."""
        item = self._items.get(schedule_keys.mark(scope))
        return Mark.model_validate_json(str(item["mark"])) if item else None

    def write(self, scope: Scope, mark: Mark) -> None:
        """Note it; of two at once the last one counts."""
        self._items.put(Put(schedule_keys.mark(scope), {"mark": mark.model_dump_json()}))


def _slot(item: Item) -> Slot:
    return Slot.model_validate_json(str(item["body"]))


def _listed(scope: Scope, slot: Slot) -> str:
    """Return where an instance lists the row: what went wrong, and nothing else."""
    if slot.status is SlotStatus.FIRED:
        return schedule_keys.by_status(scope, "late") if slot.late > LATE else ""
    return schedule_keys.by_status(scope, slot.status)
