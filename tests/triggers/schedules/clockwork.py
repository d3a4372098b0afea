"""Everything that schedules need, in memory, around a clock that tests set."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stellwerk.kernel.errors import StellwerkError
from stellwerk.kernel.ids import NodeKey, RunId, UserId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Run, RunStatus, TriggeredBy
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.schedules.drift import Drift
from stellwerk.triggers.schedules.firing import SlotFiring
from stellwerk.triggers.schedules.missing import MissedSlots
from stellwerk.triggers.schedules.model import Registration, Slot
from stellwerk.triggers.schedules.part import SchedulePart
from stellwerk.triggers.schedules.ports import Registrations, Scheduler
from stellwerk.triggers.schedules.rounds import ScheduleRounds
from stellwerk.triggers.schedules.service import ScheduleDesk
from stellwerk.triggers.schedules.telling import Teller
from stellwerk.workflows.model import Overflow, Workflow
from tests.contracts.records import SCOPE
from tests.contracts.stores import Stores, in_memory
from tests.fakes.audit import FakeAuditLog
from tests.fakes.clock import FixedClock
from tests.fakes.platform import FakePlaces
from tests.fakes.schedules import (
    FakeLookMarks,
    FakeNotices,
    FakeRegistrations,
    FakeScheduler,
    FakeSlots,
)

NODE = NodeKey("start")
PLATFORM = of_platform(SCOPE.mandate).at(SCOPE.instance)
HALF_PAST_SEVEN: JsonObject = {"cron": "30 7 * * *"}


@dataclass
class FakeStarts:
    """Starts runs that are nothing but a record, one per delivery; or refuses."""

    stores: Stores
    clock: FixedClock
    refusal: StellwerkError | None = None
    payloads: list[JsonValue] = field(default_factory=list)
    overlaps: list[Overflow | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

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
        self.overlaps.append(overlap)
        if self.refusal is not None:
            raise self.refusal
        with self._lock:
            known = self.stores.runs.delivered(scope, workflow, delivery)
            if known is not None:
                return known
            self.payloads.append(payload)
            return self.stores.runs.create(scope, self._run(scope, workflow, trigger, delivery))

    def _run(self, scope: Scope, workflow: WorkflowId, trigger: NodeKey, delivery: str) -> Run:
        return Run(
            id=RunId(f"r-{len(self.payloads)}"),
            mandate=scope.mandate,
            instance=scope.instance,
            user=UserId("u-anna"),
            workflow=workflow,
            version=1,
            status=RunStatus.RUNNING,
            trigger=TriggeredBy(node=trigger, delivery=delivery),
            started=self.clock.now(),
        )


@dataclass
class FakeArming:
    """Says of each workflow what it was told."""

    armed_nodes: dict[WorkflowId, tuple[TriggerNode, ...]] = field(default_factory=dict)

    def armed(self, scope: Scope, workflow: Workflow) -> Armed:
        nodes = self.armed_nodes.get(workflow.id, ())
        return Armed(workflow, nodes if workflow.active else ())


@dataclass
class Clockwork:
    """The services, over stores in memory, or over given ones."""

    registrations: Registrations = field(default_factory=FakeRegistrations)
    scheduler: Scheduler = field(default_factory=FakeScheduler)
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        self.stores = in_memory()
        self.slots, self.notices = FakeSlots(), FakeNotices()
        self.marks, self.arming, self.log = FakeLookMarks(), FakeArming(), FakeAuditLog()
        self.places = FakePlaces({SCOPE.mandate: [SCOPE.instance]})
        versions, clock = self.stores.versions, self.clock
        self.starts = FakeStarts(self.stores, clock)
        self.part = SchedulePart(self.registrations, self.scheduler, clock)
        teller = Teller(versions, self.notices)
        self.firing = SlotFiring(self.registrations, self.slots, self.starts, teller, clock)
        self.missed = MissedSlots(
            self.registrations, self.slots, self.stores.runs, self.firing, teller, clock
        )
        self.drift = Drift(self.part, self.arming, versions, clock)
        self.rounds = ScheduleRounds(
            places=_Everywhere(self.places),
            registrations=self.registrations,
            missed=self.missed,
            drift=self.drift,
            marks=self.marks,
            clock=clock,
        )

    @property
    def desk(self) -> ScheduleDesk:
        registrations = self.registrations
        assert isinstance(registrations, FakeRegistrations)
        audit = ChainedAudit(self.log, self.clock)
        versions, drift = self.stores.versions, self.drift
        return ScheduleDesk("t", registrations, self.slots, versions, drift, audit, self.clock)

    @property
    def fake(self) -> FakeScheduler:
        assert isinstance(self.scheduler, FakeScheduler)
        return self.scheduler

    def workflow(self, name: str = "w-1", scope: Scope = SCOPE) -> Workflow:
        """Return a workflow that is stored."""
        found = self.stores.versions.find(scope, name)
        if found is not None:
            return found
        return self.stores.versions.create(
            scope,
            Workflow(
                id=WorkflowId(name),
                title=name.title(),
                slug=name,
                created_by=SCOPE.user,
                created=self.clock.now(),
            ),
        )

    def arm(
        self, *parameters: JsonObject, name: str = "w-1", scope: Scope = SCOPE
    ) -> Registration | None:
        """Publish a workflow with triggers of these parameters; none: deactivate it."""
        workflow = self.workflow(name, scope)
        nodes = tuple(
            TriggerNode(NodeKey(f"start{index}" if index else "start"), "trigger.schedule", one)
            for index, one in enumerate(parameters)
        )
        self.arming.armed_nodes[workflow.id] = nodes
        self.part.synchronise(scope, Armed(workflow, nodes))
        return self.registrations.get(scope, workflow.id)

    def registered(self, name: str = "w-1", scope: Scope = SCOPE) -> Registration:
        found = self.registrations.get(scope, WorkflowId(name))
        assert found is not None
        return found

    def fire(self, at: datetime, node: NodeKey = NODE, name: str = "w-1") -> Slot:
        """Let the Scheduler fire for a time."""
        return self.firing.scheduled(PLATFORM, WorkflowId(name), node, at)

    def look(self, **after: float) -> list[Slot]:
        """Look for missed slots after so long; return all rows, the oldest first."""
        until = self.clock.advance(**after)
        found = self.registered()
        while found.checked < until:
            found = self.missed.look(PLATFORM, found, until)
        return self.rows()

    def rows(self, name: str = "w-1") -> list[Slot]:
        return list(reversed(self.slots.latest(SCOPE, WorkflowId(name), limit=10_000)))


@dataclass(frozen=True)
class _Everywhere:
    places: FakePlaces

    def everywhere(self, *, request: str = "") -> Iterator[Scope]:
        for mandate, instances in sorted(self.places.known.items()):
            for instance in instances:
                yield of_platform(mandate, request=request).at(instance)
