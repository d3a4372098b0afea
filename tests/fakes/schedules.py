"""Schedules in memory: registrations, slots, the mark, and a Scheduler that counts its calls."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from stellwerk.aws.scheduler import SCHEDULED
from stellwerk.kernel.errors import NotFound, ServiceUnavailable
from stellwerk.kernel.ids import MandateId, NodeKey, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import SYSTEM, Scope
from stellwerk.triggers.schedules.model import (
    LATE,
    Found,
    Held,
    Mark,
    Planned,
    Registration,
    Slot,
    SlotStatus,
)
from stellwerk.triggers.schedules.naming import prefix_of
from tests.fakes.memory import paged, replaced

Place = tuple[str, str]
_WEIGHT = {SlotStatus.MISSED: 1, SlotStatus.SKIPPED: 2, SlotStatus.FIRED: 3}


class FakeRegistrations:
    """Keeps registrations by place and workflow."""

    def __init__(self) -> None:
        self._stored: dict[Place, dict[WorkflowId, Registration]] = defaultdict(dict)
        self._lock = threading.Lock()

    def get(self, scope: Scope, workflow: WorkflowId) -> Registration | None:
        return self._at(scope).get(workflow)

    def write(self, scope: Scope, registration: Registration) -> Registration:
        with self._lock:
            stored = replaced(self._at(scope).get(registration.workflow), registration)
            self._at(scope)[registration.workflow] = stored
        return stored

    def all(self, scope: Scope) -> Iterator[Registration]:
        yield from [self._at(scope)[name] for name in sorted(self._at(scope))]

    def page(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Registration]:
        found = self._at(scope).values()
        return paged(
            found, lambda one: one.workflow, cursor=cursor, limit=limit, newest_first=False
        )

    def _at(self, scope: Scope) -> dict[WorkflowId, Registration]:
        return self._stored[scope.mandate, scope.instance]


class FakeSlots:
    """Keeps rows by place, workflow, time and node."""

    def __init__(self) -> None:
        self._rows: dict[Place, dict[tuple[str, datetime, str], Slot]] = defaultdict(dict)
        self._lock = threading.Lock()

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey, at: datetime) -> Slot | None:
        return self._at(scope).get((workflow, at, node))

    def record(self, scope: Scope, slot: Slot) -> Slot:
        key = (slot.workflow, slot.at, slot.node)
        with self._lock:
            known = self._at(scope).get(key)
            if known is None or _WEIGHT[known.status] < _WEIGHT[slot.status]:
                self._at(scope)[key] = slot
            return self._at(scope)[key]

    def latest(self, scope: Scope, workflow: WorkflowId, *, limit: int) -> Sequence[Slot]:
        own = [slot for slot in self._newest(scope) if slot.workflow == workflow]
        return own[:limit]

    def between(
        self, scope: Scope, workflow: WorkflowId, since: datetime, until: datetime
    ) -> Mapping[tuple[NodeKey, datetime], Slot]:
        found = [slot for slot in self._newest(scope) if slot.workflow == workflow]
        return {(slot.node, slot.at): slot for slot in found if since < slot.at <= until}

    def standing(
        self, scope: Scope, status: SlotStatus, *, late: bool, limit: int
    ) -> Sequence[Slot]:
        def stands(slot: Slot) -> bool:
            return slot.status is status and (not late or slot.late > LATE)

        return [slot for slot in self._newest(scope) if stands(slot)][:limit]

    def _newest(self, scope: Scope) -> list[Slot]:
        rows = self._at(scope)
        return [rows[key] for key in sorted(rows, key=lambda key: (key[1], key[2]), reverse=True)]

    def _at(self, scope: Scope) -> dict[tuple[str, datetime, str], Slot]:
        return self._rows[scope.mandate, scope.instance]


class FakeLookMarks:
    """Keeps the mark of the platform; nobody else has one."""

    def __init__(self) -> None:
        self._marks: dict[MandateId, Mark] = {}

    def read(self, scope: Scope) -> Mark | None:
        return self._marks.get(scope.mandate) if scope.mandate == SYSTEM else None

    def write(self, scope: Scope, mark: Mark) -> None:
        self._marks[scope.mandate] = mark


@dataclass(frozen=True)
class Entry:
    """What the fake Scheduler holds."""

    held: Held
    modified: datetime
    start: datetime | None


@dataclass
class FakeScheduler:
    """Holds schedules by name, and notes every call that changes one."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    down: bool = False

    def put(
        self, scope: Scope, workflow: WorkflowId, planned: Planned, *, new: bool, now: datetime
    ) -> None:
        self._call("put", scope, planned.name)
        if new == (planned.name in self.entries):
            self.calls.append(("again", planned.name))
        held = Held(
            text=planned.text, zone=planned.zone, input=self.input(scope, workflow, planned)
        )
        self.entries[planned.name] = Entry(held, now, planned.expression.start(now))

    def remove(self, scope: Scope, name: str) -> None:
        self._call("remove", scope, name)
        self.entries.pop(name, None)

    def listed(self, scope: Scope) -> Iterator[Found]:
        for name, entry in sorted(self.entries.items()):
            if name.startswith(prefix_of(scope.mandate)):
                yield Found(name=name, modified=entry.modified, enabled=entry.held.enabled)

    def held(self, scope: Scope, name: str) -> Held | None:
        self._check(scope, name)
        entry = self.entries.get(name)
        return None if entry is None else entry.held

    def input(self, scope: Scope, workflow: WorkflowId, planned: Planned) -> str:
        place = {"mandate": scope.mandate, "instance": scope.instance, "workflow": workflow}
        return json.dumps({**place, "node": planned.node, "at": SCHEDULED})

    def change(self, name: str, at: datetime, **changes: object) -> None:
        """Change a schedule by hand, past everybody."""
        entry = self.entries[name]
        held = entry.held.model_copy(update=changes)
        self.entries[name] = replace(entry, held=held, modified=at)

    def _call(self, what: str, scope: Scope, name: str) -> None:
        self._check(scope, name)
        if self.down:
            raise ServiceUnavailable("the Scheduler does not answer")
        self.calls.append((what, name))

    def _check(self, scope: Scope, name: str) -> None:
        if not name.startswith(prefix_of(scope.mandate)):
            raise NotFound(f"there is no schedule {name} here")


@dataclass
class FakeNotices:
    """Remembers what was told."""

    told: list[Notice] = field(default_factory=list)

    def notify(self, scope: Scope, notice: Notice) -> None:
        self.told.append(notice)
