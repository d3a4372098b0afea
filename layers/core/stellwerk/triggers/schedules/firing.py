"""Starts the run of a slot, and writes into the ledger what became of it.

The delivery is the trigger and the slot, so that a slot starts one run however often it comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.clock import Clock, instant
from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound, StellwerkError
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.runs.limits import ConcurrencyReached
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.model import Reason, Registration, Slot, SlotStatus, Span
from stellwerk.triggers.schedules.occurrences import slot_of
from stellwerk.triggers.schedules.ports import Registrations, Slots, Starts
from stellwerk.triggers.schedules.telling import Teller
from stellwerk.triggers.schedules.timing import Policy, read_schedule
from stellwerk.workflows.faults import InvalidGraph
from stellwerk.workflows.model import Overflow


@dataclass(frozen=True)
class Due:
    """A slot whose run is to start."""

    workflow: WorkflowId
    node: NodeKey
    slot: datetime
    caught_up: bool = False

    @property
    def delivery(self) -> str:
        """What names the slot among the deliveries of the workflow."""
        return f"{self.node} {instant(self.slot)}"


@dataclass(frozen=True)
class SlotFiring:
    """Fires slots. Requests besides those of the start: registration, row read and written."""

    registrations: Registrations
    slots: Slots
    starts: Starts
    teller: Teller
    clock: Clock

    def scheduled(self, scope: Scope, workflow: WorkflowId, node: NodeKey, fired: datetime) -> Slot:
        """Return what becomes of the slot for which the Scheduler has fired; may be repeated.

        Raises a TransientError where nothing is decided yet.
        """
        span = _span(self.registrations.get(scope, workflow), node)
        if span is None:
            return self._unplanned(scope, Due(workflow, node, fired), Reason.INACTIVE)
        schedule = read_schedule(span.parameters)
        slot = slot_of(schedule.timing, fired)
        if slot is None:
            return self._unplanned(scope, Due(workflow, node, fired), Reason.UNPLANNED)
        return self.fire(scope, Due(workflow, node, slot), schedule.policy)

    def fire(self, scope: Scope, due: Due, policy: Policy) -> Slot:
        """Start the run of a slot, and return the slot's row."""
        known = self.slots.get(scope, due.workflow, due.node, due.slot)
        if known is not None and known.run is not None:
            return known
        try:
            run = self._start(scope, due, policy)
        except (Forbidden, Conflict, BadInput, NotFound) as refusal:
            return self._refused(scope, due, refusal, policy)
        return self.fired(scope, due, run)

    def fired(self, scope: Scope, due: Due, run: Run) -> Slot:
        """Write that the slot has its run."""
        row = self._row(due, SlotStatus.FIRED, run.started).model_copy(update={"run": run.id})
        return self.slots.record(scope, row)

    def missed(self, scope: Scope, due: Due, note: str = "") -> Slot:
        """Write that nothing fired the slot."""
        row = self._row(due, SlotStatus.MISSED, self.clock.now())
        return self.slots.record(scope, row.model_copy(update={"note": note}))

    def _start(self, scope: Scope, due: Due, policy: Policy) -> Run:
        return self.starts.fire(
            scope,
            due.workflow,
            trigger=due.node,
            delivery=due.delivery,
            payload={"at": instant(due.slot)},
            overlap=Overflow(policy.overlap),
        )

    def _refused(self, scope: Scope, due: Due, refusal: StellwerkError, policy: Policy) -> Slot:
        reason = _reason(refusal, policy)
        row = self._skipped(due, reason, refusal.message)
        if reason in {Reason.RIGHTS, Reason.INVALID}:
            self.teller.refused(scope, due.workflow, due.node, refusal)
        return self.slots.record(scope, row)

    def _unplanned(self, scope: Scope, due: Due, reason: Reason) -> Slot:
        note = "no published and active version wants this time"
        return self.slots.record(scope, self._skipped(due, reason, note))

    def _skipped(self, due: Due, reason: Reason, note: str) -> Slot:
        row = self._row(due, SlotStatus.SKIPPED, self.clock.now())
        return row.model_copy(update={"reason": reason, "note": note})

    def _row(self, due: Due, status: SlotStatus, recorded: datetime) -> Slot:
        return Slot(
            workflow=due.workflow,
            node=due.node,
            at=due.slot,
            status=status,
            recorded=recorded,
            caught_up=due.caught_up,
        )


def _span(registration: Registration | None, node: NodeKey) -> Span | None:
    spans = () if registration is None else registration.armed
    return next((span for span in spans if span.node == node), None)


def _reason(refusal: StellwerkError, policy: Policy) -> Reason:
    if isinstance(refusal, Forbidden):
        return Reason.RIGHTS
    if isinstance(refusal, ConcurrencyReached):
        return Reason.OVERLAP if policy.overlap == "skip" else Reason.LIMIT
    return Reason.INVALID if isinstance(refusal, InvalidGraph) else Reason.INACTIVE
