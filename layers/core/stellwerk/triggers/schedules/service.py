"""Shows schedules: when they are due next, what became of the last times, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, permitted, require
from stellwerk.triggers.schedules.drift import Drift, Report
from stellwerk.triggers.schedules.expressions import Expression, expressions_of
from stellwerk.triggers.schedules.model import Planned, Registration, Slot, SlotStatus, Span
from stellwerk.triggers.schedules.naming import group_of
from stellwerk.triggers.schedules.occurrences import next_times, shown
from stellwerk.triggers.schedules.ports import Listing, Slots
from stellwerk.triggers.schedules.timing import read_schedule
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions

WORKFLOWS = "workflows"
NEXT, LAST = 5, 50
"""How many times are shown: due next, and of what became of the last ones."""


@dataclass(frozen=True)
class Preview:
    """When a schedule would be due next, with UTC offsets, and what would be registered."""

    times: Sequence[str]
    expressions: Sequence[Expression]


@dataclass(frozen=True)
class Armed:
    """An armed trigger: when it is due next, with UTC offsets, and what is registered."""

    workflow: Workflow
    span: Span
    next: Sequence[str]
    group: str
    handle: Sequence[Planned]


@dataclass(frozen=True)
class OfWorkflow:
    """The schedules of a workflow, and what became of their last times, the newest first."""

    schedules: Sequence[Armed]
    slots: Sequence[Slot]


@dataclass(frozen=True)
class OfInstance:
    """A page of an instance's armed triggers, and its last slots that were late or missed."""

    schedules: Page[Armed]
    late: Sequence[Slot]
    missed: Sequence[Slot]


@dataclass(frozen=True)
class ScheduleDesk:
    """Shows schedules to whoever may read their workflows."""

    prefix: str
    registrations: Listing
    slots: Slots
    versions: Versions
    drift: Drift
    audit: Audit
    clock: Clock

    def preview(self, parameters: Mapping[str, JsonValue], n: int = NEXT) -> Preview:
        """Return what the parameters mean; raise BadSchedule that names all that is wrong."""
        timing = read_schedule(parameters).timing
        times = next_times(timing, self.clock.now(), n)
        return Preview([shown(time, timing.zone) for time in times], expressions_of(timing))

    def of_workflow(self, scope: Scope, name: WorkflowId | str) -> OfWorkflow:
        """Return the schedules of a workflow, by id or slug."""
        workflow = self._readable(scope, name)
        found = self.registrations.get(scope, workflow.id)
        armed = [] if found is None else list(self._armed(scope, workflow, found))
        return OfWorkflow(armed, self.slots.latest(scope, workflow.id, limit=LAST))

    def of_instance(self, scope: Scope, *, cursor: str | None, limit: int) -> OfInstance:
        """Return a page of the instance's, by workflow; a page may be short."""
        require(scope, WORKFLOWS, Verb.READ)
        page = self.registrations.page(scope, cursor=cursor, limit=limit)
        known = _Known(self.versions, scope)
        armed = [
            one
            for found in page.items
            if (workflow := known.get(found.workflow)) is not None
            for one in self._armed(scope, workflow, found)
        ]
        late = self.slots.standing(scope, SlotStatus.FIRED, late=True, limit=LAST)
        missed = self.slots.standing(scope, SlotStatus.MISSED, late=False, limit=LAST)
        return OfInstance(Page(armed, page.cursor), known.only(late), known.only(missed))

    def reconcile(self, scope: Scope) -> Report:
        """Compare the instance's with the Scheduler and mend them; for who may change them all."""
        if require(scope, WORKFLOWS, Verb.UPDATE) is Level.MY:
            raise Forbidden(
                "You may change your own workflows alone, and this concerns those of all.",
                remedy="Ask an administrator of the instance.",
            )
        with self.audit.act(scope, "schedule.reconcile", f"instance:{scope.instance}"):
            return self.drift.repair([scope], strays=False)

    def _armed(self, scope: Scope, workflow: Workflow, found: Registration) -> Iterable[Armed]:
        now = self.clock.now()
        for span in found.armed:
            timing = read_schedule(span.parameters).timing
            times = [shown(time, timing.zone) for time in next_times(timing, now, NEXT)]
            handle = [one for one in found.planned if one.node == span.node]
            yield Armed(workflow, span, times, group_of(self.prefix, scope.mandate), handle)

    def _readable(self, scope: Scope, name: str) -> Workflow:
        found = self.versions.find(scope, name) or self.versions.workflow(scope, WorkflowId(name))
        require(scope, WORKFLOWS, Verb.READ, found.created_by)
        return found


class _Known:
    """Workflows that the scope may read, each looked up once."""

    def __init__(self, versions: Versions, scope: Scope) -> None:
        self._versions = versions
        self._scope = scope
        self._found: dict[WorkflowId, Workflow | None] = {}

    def get(self, workflow: WorkflowId) -> Workflow | None:
        """Return the workflow; None for one that is not there for the scope."""
        if workflow not in self._found:
            self._found[workflow] = self._look(workflow)
        return self._found[workflow]

    def only(self, slots: Sequence[Slot]) -> Sequence[Slot]:
        """Return the slots of these workflows."""
        return [slot for slot in slots if self.get(slot.workflow) is not None]

    def _look(self, workflow: WorkflowId) -> Workflow | None:
        try:
            found = self._versions.workflow(self._scope, workflow)
        except NotFound:
            return None
        read = permitted(self._scope, WORKFLOWS, Verb.READ, found.created_by)
        return found if read.allowed else None
