"""Keys of schedules: see `keys`, of which this is a part.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| schedules of a workflow, as registered | schedules | the workflow |
| what became of a planned time | slots#W | moment#node |

What belongs to no mandate has `system` in its place, and no instance:

| item | pk (after system##) | sk |
|---|---|---|
| when missed times are looked for next | sweep | schedules |
"""

from __future__ import annotations

from datetime import datetime

from stellwerk.aws.keys import Key, listed_at
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.scope import Scope


def registration(scope: Scope, workflow: WorkflowId | None = None) -> Key:
    """Return the key of a workflow's schedules; those of an instance share the partition."""
    return Key(_within(scope, "schedules"), workflow or "")


def slot(scope: Scope, workflow: WorkflowId, at: datetime, node: NodeKey) -> Key:
    """Return the key of what became of a planned time; those of a workflow share the partition."""
    return Key(slots(scope, workflow), listed_at(at, node))


def slots(scope: Scope, workflow: WorkflowId) -> str:
    """Return the partition of a workflow's slots, by time."""
    return _within(scope, f"slots#{workflow}")


def by_status(scope: Scope, status: str) -> str:
    """Return the index key of an instance's slots that were not fired, or late."""
    return _within(scope, f"slots#{status}#all")


def mark(scope: Scope) -> Key:
    """Return the key of when missed slots are looked for next; others than the system have none."""
    return Key(_within(scope, "sweep"), "schedules")


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"
