"""Runs in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RunId, UserId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.runs.limits import Full, Limit, Queued, of_mandate
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.tenancy.scope import NO_INSTANCE, Scope
from tests.fakes.memory import Memory, at, paged, replaced


class FakeRuns:
    """Keeps runs in a dict."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, scope: Scope, run: Run, limits: Sequence[Limit] = ()) -> Run:
        with self._memory.lock:
            tenant = self._memory.of(scope)
            delivery = (run.workflow, run.trigger.delivery)
            if delivery in tenant.deliveries:
                return tenant.runs[tenant.deliveries[delivery]]
            created = replaced(tenant.runs.get(run.id), run)
            self._take(scope, run, limits)
            if run.queue:
                self._queue(scope, run.queue)[run.id] = run
            tenant.runs[run.id] = created
            tenant.deliveries[delivery] = run.id
            return tenant.runs[run.id]

    def admit(self, scope: Scope, run: Run, limits: Sequence[Limit]) -> Run:
        with self._memory.lock:
            self._check_queued(scope, run)
            self._take(scope, run, limits)
            self._queue(scope, run.queue).pop(run.id)
            slots = tuple(limit.pool for limit in limits)
            changes = {"status": RunStatus.RUNNING, "slots": slots, "queue": ""}
            return self._replace(scope, run, changes)

    def requeue(self, scope: Scope, run: Run, pool: str) -> Run:
        with self._memory.lock:
            self._check_queued(scope, run)
            self._queue(scope, run.queue).pop(run.id)
            self._queue(scope, pool)[run.id] = run
            return self._replace(scope, run, {"queue": pool})

    def waiting(self, scope: Scope, pool: str) -> Sequence[Queued]:
        with self._memory.lock:
            found = sorted(self._queue(scope, pool).values(), key=_place)
        return [Queued(run.instance, run.id) for run in found[:100]]

    def holder(self, scope: Scope, pool: str) -> RunId | None:
        with self._memory.lock:
            found = sorted(self._pool(scope, pool).values(), key=_place)
        return found[0].id if found else None

    def _take(self, scope: Scope, run: Run, limits: Sequence[Limit]) -> None:
        for limit in limits:
            if len(self._pool(scope, limit.pool)) >= limit.most:
                raise Full(limit)
        for limit in limits:
            self._pool(scope, limit.pool)[run.id] = run

    def _check_queued(self, scope: Scope, run: Run) -> None:
        stored = self.get(scope, run.id)
        if stored.status is not RunStatus.QUEUED or stored.revision != run.revision:
            raise Conflict(f"run {run.id} has changed")

    def _replace(self, scope: Scope, run: Run, changes: Mapping[str, object]) -> Run:
        moved = run.model_copy(update={**changes, "revision": run.revision + 1})
        self._memory.of(scope).runs[run.id] = moved
        return moved

    def _pool(self, scope: Scope, pool: str) -> dict[RunId, Run]:
        return self._memory.of(_where(scope, pool)).pools.setdefault(pool, {})

    def _queue(self, scope: Scope, pool: str) -> dict[RunId, Run]:
        return self._memory.of(_where(scope, pool)).queues.setdefault(pool, {})

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
            kept = {
                "status": stored.status,
                "waits": stored.waits,
                "slots": stored.slots,
                "queue": stored.queue,
            }
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
            if (stored.status is RunStatus.QUEUED) != bool(run.queue):
                raise Conflict(f"run {run.id} is out of its queue")
            for pool in run.slots:
                self._pool(scope, pool).pop(run.id, None)
            if run.queue:
                self._queue(scope, run.queue).pop(run.id)
            changes = {"waits": 0, "queue": "", "revision": stored.revision + 1}
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


def _place(run: Run) -> str:
    return at(run.started, run.id)


def _where(scope: Scope, pool: str) -> Scope:
    return scope.at(NO_INSTANCE) if of_mandate(pool) else scope


def add_wait(memory: Memory, scope: Scope, run: RunId) -> None:
    """Add a wait to an open run, which is then paused."""
    stored = FakeRuns(memory).get(scope, run)
    if not stored.status.open or stored.queue:
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
