"""What the fakes of one test share: all records by scope, behind one lock."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import InstanceId, RunId, TaskId, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Record
from stellwerk.runs.jobs import Job
from stellwerk.runs.model import HumanTask, Run, Step, StepKey
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, Workflow

T = TypeVar("T")
R = TypeVar("R", bound=Record)


@dataclass
class Tenant:
    """The records of one instance of one mandate."""

    steps: dict[tuple[RunId, StepKey], Step] = field(default_factory=dict)
    runs: dict[RunId, Run] = field(default_factory=dict)
    deliveries: dict[tuple[WorkflowId, str], RunId] = field(default_factory=dict)
    tasks: dict[TaskId, HumanTask] = field(default_factory=dict)
    workflows: dict[WorkflowId, Workflow] = field(default_factory=dict)
    versions: dict[tuple[WorkflowId, int, str], Version] = field(default_factory=dict)
    values: dict[str, bytes] = field(default_factory=dict)
    data: dict[tuple[WorkflowId, str], JsonValue] = field(default_factory=dict)
    sums: dict[tuple[WorkflowId, str, str], int | float] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    pools: dict[str, dict[RunId, Run]] = field(default_factory=dict)
    """Who holds a slot of which pool."""
    queues: dict[str, dict[RunId, Run]] = field(default_factory=dict)
    """Who waits for one; of pools of the mandate at no instance, as above."""


class Memory:
    """All tenants. Hold `lock` around every change."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._tenants: dict[tuple[str, str], Tenant] = defaultdict(Tenant)

    def of(self, scope: Scope) -> Tenant:
        """Return the records that `scope` may see."""
        return self._tenants[scope.mandate, scope.instance]

    def instances(self, scope: Scope) -> list[InstanceId]:
        """Return the instances of the scope's mandate that hold anything."""
        return [InstanceId(at) for mandate, at in self._tenants if mandate == scope.mandate]


def replaced(stored: R | None, record: R) -> R:
    """Return `record` one revision higher, if `stored` is what it replaces."""
    if record.revision != (stored.revision if stored else 0):
        raise Conflict(f"revision {record.revision} is not what is stored")
    return record.model_copy(update={"revision": record.revision + 1})


def paged(
    items: Iterable[T],
    position: Callable[[T], str],
    *,
    cursor: str | None,
    limit: int,
    newest_first: bool = True,
) -> Page[T]:
    """Return a page in the order of `position`; its cursor is the position of its last item."""
    if cursor is not None and not cursor.startswith("after "):
        raise BadInput(f"'{cursor}' is not a cursor")
    rest = [
        item
        for item in sorted(items, key=position, reverse=newest_first)
        if cursor is None or _follows(position(item), cursor[6:], newest_first)
    ]
    size = max(1, min(limit, 100))
    page = rest[:size]
    return Page(page, f"after {position(page[-1])}" if len(rest) > size else None)


def at(moment: datetime, identity: str) -> str:
    """Return a position in the order of time."""
    return f"{instant(moment)} {identity}"


def _follows(position: str, cursor: str, newest_first: bool) -> bool:
    return position < cursor if newest_first else position > cursor
