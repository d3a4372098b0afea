"""Registers what a workflow's schedules want, by difference.

A change is written down before the Scheduler is told, and again when it has been: whoever finds a
change that has begun ends it, and of two at once the one with the workflow's later state counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.schedules.expressions import Expression, expressions_of
from stellwerk.triggers.schedules.model import Planned, Registration, Span
from stellwerk.triggers.schedules.naming import name_of
from stellwerk.triggers.schedules.ports import Registrations, Scheduler
from stellwerk.triggers.schedules.timing import BadSchedule, read_schedule

TYPE = "trigger.schedule"
_TRIES = 8


@dataclass(frozen=True)
class SchedulePart:
    """Sees to `trigger.schedule`. Where nothing changed it reads once, and asks no Scheduler."""

    registrations: Registrations
    scheduler: Scheduler
    clock: Clock

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Make the Scheduler hold what `armed` wants."""
        for _ in range(_TRIES):
            try:
                return self._once(scope, armed)
            except Conflict:  # another change of the same workflow, at the same moment
                continue
        raise ServiceUnavailable(
            f"the schedules of workflow {armed.workflow.id} are being changed by too many at once",
            remedy="Repeat the change.",
        )

    def settle(self, scope: Scope, begun: Registration) -> Registration:
        """Tell the Scheduler what is unsettled, and return the registration as it stands then."""
        for _ in range(_TRIES):
            for name in begun.unsettled:
                self._tell(scope, begun, name)
            done = begun.model_copy(update=self._settled(begun))
            try:
                return self.registrations.write(scope, done)
            except Conflict:
                begun = self._again(scope, begun)
        raise ServiceUnavailable(f"the schedules of {begun.workflow} are changed by too many")

    def _once(self, scope: Scope, armed: Armed) -> None:
        workflow, now = armed.workflow, self.clock.now()
        before = self.registrations.get(scope, workflow.id)
        planned = tuple(planned_of(scope, armed))
        if before is None:
            if not planned:
                return
            before = Registration(workflow=workflow.id, seen=0, checked=now)
        elif before.seen > workflow.revision:
            return
        spans = spanned(before.spans, armed.of(TYPE), now)
        unsettled = {*before.unsettled, *changed(before, planned)}
        if planned == before.planned and spans == before.spans and not unsettled:
            return
        changes = {
            "seen": workflow.revision,
            "planned": planned,
            "spans": spans,
            "unsettled": tuple(sorted(unsettled)),
            "owed": () if not planned else before.owed,
        }
        written = self.registrations.write(scope, before.model_copy(update=changes))
        if written.unsettled:
            self.settle(scope, written)

    def _again(self, scope: Scope, told: Registration) -> Registration:
        """Return what is stored now, with what we have told the Scheduler to be told again."""
        found = self.registrations.get(scope, told.workflow)
        if found is None:
            raise Conflict(f"the registration of {told.workflow} has gone")
        names = tuple(sorted({*found.unsettled, *told.unsettled}))
        try:
            return self.registrations.write(scope, found.model_copy(update={"unsettled": names}))
        except Conflict:
            return self._again(scope, told)

    def _tell(self, scope: Scope, registration: Registration, name: str) -> None:
        wanted, now = registration.by_name.get(name), self.clock.now()
        if wanted is None:
            self.scheduler.remove(scope, name)
        elif not over(wanted, now):
            new = name not in registration.held
            self.scheduler.put(scope, registration.workflow, wanted, new=new, now=now)

    def _settled(self, registration: Registration) -> dict[str, object]:
        now = self.clock.now()
        held = tuple(one.name for one in registration.planned if not over(one, now))
        return {"unsettled": (), "held": held, "settled": now}


def planned_of(scope: Scope, armed: Armed) -> Iterator[Planned]:
    """Yield what the Scheduler is to hold; a trigger whose parameters are no schedule has none."""
    for node in armed.of(TYPE):
        for index, expression in enumerate(_expressions(node)):
            name = name_of(scope, WorkflowId(armed.workflow.id), node.key, index)
            yield Planned.of(name, node.key, expression)


def over(planned: Planned, now: datetime) -> bool:
    """Say whether it never fires again."""
    return planned.once is not None and planned.once <= now


def changed(before: Registration, planned: Iterable[Planned]) -> set[str]:
    """Return the names under which `planned` has something else than was registered."""
    were = {one.name: one.digest for one in before.planned}
    are = {one.name: one.digest for one in planned}
    return {name for name in were.keys() | are.keys() if were.get(name) != are.get(name)}


def spanned(spans: Sequence[Span], nodes: Sequence[TriggerNode], now: datetime) -> tuple[Span, ...]:
    """Return the spans as they go on: one that is as it was stays, others end or begin now."""
    wanted = {node.key: node.parameters for node in nodes if _expressions(node)}
    going = {span.node for span in spans if _goes_on(span, wanted)}
    ended = (
        span if span.until or span.node in going else span.model_copy(update={"until": now})
        for span in spans
    )
    begun = (
        Span(node=node, parameters=parameters, since=now)
        for node, parameters in sorted(wanted.items())
        if node not in going
    )
    return (*ended, *begun)


def _goes_on(span: Span, wanted: Mapping[NodeKey, JsonObject]) -> bool:
    return span.until is None and wanted.get(span.node) == span.parameters


def _expressions(node: TriggerNode) -> tuple[Expression, ...]:
    try:
        return expressions_of(read_schedule(node.parameters).timing)
    except BadSchedule:
        return ()
