"""Runs in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RunId, UserId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import Memory, at, paged, replaced


class FakeRuns:
    """Keeps runs in a dict."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, scope: Scope, run: Run) -> Run:
        with self._memory.lock:
            tenant = self._memory.of(scope)
            delivery = (run.workflow, run.trigger.delivery)
            if delivery in tenant.deliveries:
                return tenant.runs[tenant.deliveries[delivery]]
            tenant.runs[run.id] = replaced(tenant.runs.get(run.id), run)
            tenant.deliveries[delivery] = run.id
            return tenant.runs[run.id]

    def delivered(self, scope: Scope, workflow: WorkflowId, delivery: str) -> Run | None:
        with self._memory.lock:
            tenant = self._memory.of(scope)
            run = tenant.deliveries.get((workflow, delivery))
            return None if run is None else tenant.runs[run]

    def get(self, scope: Scope, run: RunId) -> Run:
        with self._memory.lock:
            found = self._memory.of(scope).runs.get(run)
        if found is None:
            raise NotFound(f"there is no run {run}")
        return found

    def write(self, scope: Scope, run: Run) -> Run:
        with self._memory.lock:
            stored = self.get(scope, run.id)
            kept = {"status": stored.status, "waits": stored.waits}
            written = replaced(stored, run.model_copy(update=kept))
            self._memory.of(scope).runs[run.id] = written
            return written

    def end(self, scope: Scope, run: Run) -> Run:
        if run.status.open:
            raise ValueError(f"run {run.id} cannot end as {run.status}")
        with self._memory.lock:
            stored = self.get(scope, run.id)
            if not stored.status.open:
                raise Conflict(f"run {run.id} is over: {stored.status}")
            changes = {"waits": 0, "revision": stored.revision + 1}
            self._memory.of(scope).runs[run.id] = run.model_copy(update=changes)
            return self._memory.of(scope).runs[run.id]

    def list(
        self, scope: Scope, wanted: RunFilter, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Run]:
        found = filter(wanted.fits, self._runs(scope))
        return paged(found, lambda run: at(run.started, run.id), cursor=cursor, limit=limit)

    def open_runs(self, scope: Scope, *, since: datetime | None = None) -> Iterator[Run]:
        for run in sorted(self._runs(scope), key=lambda run: at(run.started, run.id)):
            if run.status.open and (since is None or run.started >= since):
                yield run

    def count(
        self, scope: Scope, *, workflow: WorkflowId | None = None, user: UserId | None = None
    ) -> dict[RunStatus, int]:
        counts = dict.fromkeys(RunStatus, 0)
        for run in filter(RunFilter(workflow=workflow, user=user).fits, self._runs(scope)):
            counts[run.status] += 1
        return counts

    def _runs(self, scope: Scope) -> Sequence[Run]:
        with self._memory.lock:
            return [*self._memory.of(scope).runs.values()]


def add_wait(memory: Memory, scope: Scope, run: RunId) -> None:
    """Add a wait to an open run, which is then paused."""
    stored = FakeRuns(memory).get(scope, run)
    if not stored.status.open:
        raise Conflict(f"run {run} is over: {stored.status}")
    changes = {"waits": stored.waits + 1, "status": RunStatus.PAUSED}
    memory.of(scope).runs[run] = stored.model_copy(update=changes)


def take_wait(memory: Memory, scope: Scope, run: RunId) -> None:
    """Take a wait from a run; one that is over has none."""
    stored = FakeRuns(memory).get(scope, run)
    if stored.status.open and stored.waits:
        left = stored.waits - 1
        status = RunStatus.PAUSED if left else RunStatus.RUNNING
        changes = {"waits": left, "status": status}
        memory.of(scope).runs[run] = stored.model_copy(update=changes)
