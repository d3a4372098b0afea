"""Which triggers wait for which events, on the table `platform`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from stellwerk.aws import hook_keys
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Item, Put, Write, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import canonical
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.subscriptions import Subscription

_AT_ONCE = 90
"""Writes of one transaction; DynamoDB takes 100."""


class DynamoSubscriptions:
    """Subscriptions: one entry per topic, and a list with the workflow of those that are there.

    Requests: `of` 1; `replace` 1, and 1 more per 90 entries that differ.
    """

    def __init__(self, items: Items) -> None:
        self._items = items

    def of(self, scope: Scope, topic: str) -> Sequence[Subscription]:
        """Return all subscriptions to a topic."""
        place = hook_keys.subscription(scope, topic)
        return [_record(item) for item in self._items.query(Range(place.pk))]

    def replace(self, scope: Scope, workflow: WorkflowId, wanted: Sequence[Subscription]) -> None:
        """Let these be the workflow's subscriptions; raises Conflict if another one writes too."""
        listed = hook_keys.subscriptions(scope, workflow)
        item = self._items.get(listed)
        before = _entries(scope, _kept(item))
        after = _entries(scope, wanted)
        writes = [*_changes(before, after)]
        if not writes:
            return
        text = canonical([one.model_dump(mode="json") for one in wanted])
        turn = int(item["turn"]) if item else 0
        unchanged = equals("turn", turn) if item else absent()
        for start in range(0, len(writes), _AT_ONCE):
            last = start + _AT_ONCE >= len(writes)
            noted = [Put(listed, {"listed": text, "turn": turn + 1}, when=(unchanged,))]
            try:
                self._items.transact([*writes[start : start + _AT_ONCE], *(noted if last else ())])
            except Refused as refused:
                raise Conflict(
                    f"the triggers of workflow {workflow} are changed by another one",
                    remedy="Repeat the change.",
                ) from refused


def _entries(scope: Scope, all_: Sequence[Subscription]) -> dict[Key, Item]:
    return {
        hook_keys.subscription(scope, topic, f"{one.workflow}#{one.node}"): {
            "subscription": canonical(one.model_dump(mode="json"))
        }
        for one in all_
        for topic in one.topics
    }


def _changes(before: dict[Key, Item], after: dict[Key, Item]) -> Iterator[Write]:
    for key, item in after.items():
        if before.get(key) != item:
            yield Put(key, item)
    for key in before.keys() - after.keys():
        yield Delete(key)


def _kept(item: Item | None) -> Sequence[Subscription]:
    listed = json.loads(str(item["listed"])) if item else []
    return [Subscription.model_validate(one) for one in listed]


def _record(item: Item) -> Subscription:
    return Subscription.model_validate_json(str(item["subscription"]))
