"""What schedules need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.model import (
    Found,
    Held,
    Mark,
    Planned,
    Registration,
    Slot,
    SlotStatus,
)
from stellwerk.workflows.model import Overflow


class Scheduler(Protocol):
    """EventBridge Scheduler, as far as the scope's mandate goes.

    A schedule calls the deployment's `triggers-schedule` with its mandate, instance, workflow and
    trigger, and the time for which it is due.
    """

    def put(
        self, scope: Scope, workflow: WorkflowId, planned: Planned, *, new: bool, now: datetime
    ) -> None:
        """Create (`new`) or change a schedule: one call where that is as the caller thinks."""

    def remove(self, scope: Scope, name: str) -> None:
        """Remove a schedule; one that is gone is removed."""

    def listed(self, scope: Scope) -> Iterator[Found]:
        """Yield all schedules of the scope's mandate."""

    def held(self, scope: Scope, name: str) -> Held | None:
        """Return what is held under a name of the scope's mandate."""

    def input(self, scope: Scope, workflow: WorkflowId, planned: Planned) -> str:
        """Return what a schedule is to hand over."""


class Registrations(Protocol):
    """Registrations of the scope's instance; a write replaces the revision that it carries."""

    def get(self, scope: Scope, workflow: WorkflowId) -> Registration | None:
        """Return the registration of a workflow."""

    def write(self, scope: Scope, registration: Registration) -> Registration:
        """Write it, and return it one revision higher; raises Conflict."""

    def all(self, scope: Scope) -> Iterator[Registration]:
        """Yield all of the instance, by workflow."""


class Listing(Registrations, Protocol):
    """Registrations page by page."""

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Registration]:
        """Return a page of the instance's, by workflow."""


class Slots(Protocol):
    """The ledger: one row per planned time. Rows expire after `KEPT`."""

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey, at: datetime) -> Slot | None:
        """Return the row of a slot."""

    def record(self, scope: Scope, slot: Slot) -> Slot:
        """Write the row unless there is one that counts as much, and return what is stored.

        A run counts more than a reason, and that more than that it was missed.
        """

    def latest(self, scope: Scope, workflow: WorkflowId, *, limit: int) -> Sequence[Slot]:
        """Return the last rows of a workflow, the newest first."""

    def between(
        self, scope: Scope, workflow: WorkflowId, since: datetime, until: datetime
    ) -> Mapping[tuple[NodeKey, datetime], Slot]:
        """Return the rows of slots later than `since` and not later than `until`."""

    def standing(
        self, scope: Scope, status: SlotStatus, *, late: bool, limit: int
    ) -> Sequence[Slot]:
        """Return the instance's last rows with a status, or those fired late, the newest first."""


class Marks(Protocol):
    """When the next look for missed slots is due; only for the platform's scope."""

    def read(self, scope: Scope) -> Mark | None:
        """Return the mark; None before the first look."""

    def write(self, scope: Scope, mark: Mark) -> None:
        """Note it."""


class Starts(Protocol):
    """Starts runs that no person asks for; see `runs.firing.Firing`."""

    def fire(
        self,
        scope: Scope,
        workflow: WorkflowId,
        *,
        trigger: NodeKey,
        delivery: str,
        payload: JsonValue = None,
        overlap: Overflow | None = None,
    ) -> Run:
        """Start a run, or return the one that the delivery has started."""
