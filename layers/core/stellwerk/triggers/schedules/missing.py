"""Looks for slots that nothing fired: makes them good where the trigger says so, else they missed.

A slot without a row may still have its run: whoever started it died before the row was written. The
delivery tells. What the Scheduler passes over, times that the clocks left out, is fired here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict
from stellwerk.runs.ports import Runs
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.firing import Due, SlotFiring
from stellwerk.triggers.schedules.model import Owed, Registration, Slot, SlotStatus, Span
from stellwerk.triggers.schedules.occurrences import gap_ended, times
from stellwerk.triggers.schedules.ports import Registrations, Slots
from stellwerk.triggers.schedules.telling import Teller
from stellwerk.triggers.schedules.timing import Policy, Schedule, read_schedule

KEPT = timedelta(days=90)
"""How long rows are kept: of what is older nothing is said."""
OWED = "to be made good"
"""Said of a missed slot whose run is still to come."""
AT_ONCE = 2000
"""Slots of a workflow that a look handles; more are left to the next one."""


@dataclass(frozen=True)
class _Lack:
    """A slot without a row, of an armed trigger or of one that was."""

    due: Due
    schedule: Schedule
    armed: bool


@dataclass(frozen=True)
class MissedSlots:
    """Looks at one workflow at a time. Requests where nothing lacks: one query."""

    registrations: Registrations
    slots: Slots
    runs: Runs
    firing: SlotFiring
    teller: Teller
    clock: Clock

    def look(self, scope: Scope, found: Registration, until: datetime) -> Registration:
        """Give every slot up to `until` a row, and return the registration as it stands then.

        Another change at the same moment leaves the look to the next one.
        """
        lacking = sorted(self._lacking(scope, found, until), key=lambda lack: lack.due.slot)
        handled = lacking[:AT_ONCE]
        checked = until if len(handled) == len(lacking) else handled[-1].due.slot
        owed, missed = self._handle(scope, handled)
        if missed:
            self.teller.missed(scope, missed)
        spans = [span for span in found.spans if span.until is None or span.until > checked]
        changes = {"checked": checked, "spans": tuple(spans), "owed": (*found.owed, *owed)}
        return self._written(scope, found, changes)

    def leap(self, scope: Scope, found: Registration, since: datetime, until: datetime) -> None:
        """Fire slots in between that the clocks left out: nobody else does."""
        for span in found.armed:
            schedule = read_schedule(span.parameters)
            if not gap_ended(schedule.timing.zone, since, until):
                continue
            for slot in _slots(span, schedule, since, until):
                lack = _Lack(Due(found.workflow, span.node, slot), schedule, armed=True)
                if _after_gap(lack):
                    self.firing.fire(scope, lack.due, schedule.policy)

    def pay(self, scope: Scope, found: Registration) -> Registration:
        """Start what is owed and due, one run of a trigger at a time where they are spaced."""
        now, left, waiting = self.clock.now(), list[Owed](), dict[str, datetime]()
        policies = {span.node: read_schedule(span.parameters).policy for span in found.armed}
        for owed in sorted(found.owed, key=lambda one: one.slot):
            policy = policies.get(owed.node)
            if policy is None:
                continue
            begin = waiting.get(owed.node, owed.due)
            if begin > now:
                left.append(owed.model_copy(update={"due": begin}))
                waiting[owed.node] = begin + policy.spacing
                continue
            self.firing.fire(scope, Due(found.workflow, owed.node, owed.slot, True), policy)
            waiting[owed.node] = now + policy.spacing
        return self._written(scope, found, {"owed": tuple(left)})

    def _handle(
        self, scope: Scope, lacking: Sequence[_Lack]
    ) -> tuple[Sequence[Owed], Sequence[Slot]]:
        """Fire, owe or note what lacks; return what is owed, and what was missed."""
        owed, missed = list[Owed](), list[Slot]()
        open_ = [lack for lack in lacking if not self._known(scope, lack)]
        wanted = _wanted(open_)
        for lack in open_:
            if lack.armed and _after_gap(lack):
                self.firing.fire(scope, lack.due, lack.schedule.policy)
                continue
            note = OWED if lack.due in wanted else ""
            missed.append(self.firing.missed(scope, lack.due, note))
            if note:
                now = self.clock.now()
                owed.append(Owed(node=lack.due.node, slot=lack.due.slot, due=now))
        return owed, missed

    def _known(self, scope: Scope, lack: _Lack) -> bool:
        """Say whether the slot has its run all the same, and give it its row."""
        run = self.runs.delivered(scope, lack.due.workflow, lack.due.delivery)
        if run is not None:
            self.firing.fired(scope, lack.due, run)
        return run is not None

    def _lacking(self, scope: Scope, found: Registration, until: datetime) -> Iterator[_Lack]:
        oldest = max(found.checked, self.clock.now() - KEPT)
        if oldest >= until:
            return
        rows = self.slots.between(scope, found.workflow, oldest, until)
        for span in found.spans:
            schedule = read_schedule(span.parameters)
            for slot in _slots(span, schedule, oldest, until):
                if _lacks(rows.get((span.node, slot))):
                    due = Due(found.workflow, span.node, slot)
                    yield _Lack(due, schedule, span.until is None)

    def _written(
        self, scope: Scope, found: Registration, changes: dict[str, object]
    ) -> Registration:
        after = found.model_copy(update=changes)
        if after == found:
            return found
        try:
            return self.registrations.write(scope, after)
        except Conflict:
            return found


def _slots(span: Span, schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    begin = max(span.since, since)
    end = until if span.until is None else min(span.until, until)
    return takewhile(lambda slot: slot <= end, times(schedule.timing, begin))


def _lacks(row: Slot | None) -> bool:
    """Say whether a slot has no row, or one of a look that ended before it noted what is owed."""
    return row is None or (row.status is SlotStatus.MISSED and row.note == OWED)


def _wanted(lacking: Sequence[_Lack]) -> set[Due]:
    """Return what the triggers want made good: nothing, the last one, or the last few."""
    wanted: set[Due] = set()
    for node in {lack.due.node for lack in lacking}:
        own = [lack for lack in lacking if lack.due.node == node and lack.armed]
        most = _most(own[-1].schedule.policy) if own else 0
        wanted |= {lack.due for lack in own[max(0, len(own) - most) :]}
    return wanted


def _most(policy: Policy) -> int:
    return {"none": 0, "last": 1, "all": policy.cap}[policy.catch_up]


def _after_gap(lack: _Lack) -> bool:
    """Say whether the slot is a time that the clocks left out, which the Scheduler passes over."""
    timing, slot = lack.schedule.timing, lack.due.slot
    if timing.cron is None or timing.nonexistent != "run_after":
        return False
    skipping = replace(timing, nonexistent="skip")
    return next(times(skipping, slot - timedelta(seconds=1)), None) != slot
