"""Human tasks and other waits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RunId, TaskId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stale
from stellwerk.runs.model import Decision, HumanTask, Step, TaskStatus
from stellwerk.tenancy.scope import Scope
from tests.fakes.journal import FakeJournal
from tests.fakes.memory import Memory, at, paged, replaced
from tests.fakes.runs import FakeRuns, add_wait, take_wait


class FakeTasks:
    """Keeps tasks in a dict; also finds those that are overdue."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def open(self, scope: Scope, task: HumanTask, step: Step) -> HumanTask:
        with self._memory.lock:
            tenant = self._memory.of(scope)
            existing = tenant.tasks.get(task.id)
            _check_revision(self._memory, scope, step)
            if existing is None:
                add_wait(self._memory, scope, task.run)
                written = replaced(None, task)
            else:
                _check_open(self._memory, scope, task.run)
                changes = {"token": step.token or "", "answered": False}
                written = replaced(existing, existing.model_copy(update=changes))
            FakeJournal(self._memory).write(scope, step)
            tenant.tasks[task.id] = written
            return written

    def close(
        self,
        scope: Scope,
        task: TaskId,
        status: TaskStatus,
        decision: Decision | None,
        *,
        voted: HumanTask | None = None,
    ) -> HumanTask:
        with self._memory.lock:
            stored = self.get(scope, task)
            _check_pending(stored)
            if voted is not None:
                _check_fresh(stored, voted)
                stored = voted
            changes = {"status": status, "decision": decision}
            ended = replaced(stored, stored.model_copy(update=changes))
            self._memory.of(scope).tasks[task] = ended
            take_wait(self._memory, scope, stored.run)
            return ended

    def mark_answered(self, scope: Scope, task: TaskId, token: str) -> None:
        with self._memory.lock:
            stored = self.get(scope, task)
            if stored.token == token:
                answered = replaced(stored, stored.model_copy(update={"answered": True}))
                self._memory.of(scope).tasks[task] = answered

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        with self._memory.lock:
            found = self._memory.of(scope).tasks.get(task)
        if found is None:
            raise NotFound(f"there is no task {task}")
        return found

    def amend(self, scope: Scope, before: HumanTask, after: HumanTask) -> HumanTask:
        with self._memory.lock:
            stored = self.get(scope, after.id)
            _check_pending(stored)
            _check_fresh(stored, before)
            written = after.model_copy(update={"revision": before.revision + 1})
            self._memory.of(scope).tasks[after.id] = written
            return written

    def inbox(
        self, scope: Scope, names: Sequence[str], *, cursor: str | None = None, limit: int = 50
    ) -> Page[HumanTask]:
        found = [
            task
            for task in self._tasks(scope)
            if task.status is TaskStatus.PENDING and set(task.assignees) & set(names)
        ]
        return paged(found, lambda task: at(task.created, task.id), cursor=cursor, limit=limit)

    def of_run(self, scope: Scope, run: RunId) -> Sequence[HumanTask]:
        found = [task for task in self._tasks(scope) if task.run == run]
        return sorted(found, key=lambda task: (task.created, task.id))

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        found = [task for task in self._tasks(scope) if task.status is status]
        return paged(found, lambda task: at(task.created, task.id), cursor=cursor, limit=limit)

    def unanswered(self, scope: Scope) -> Iterator[HumanTask]:
        for task in self._tasks(scope):
            if task.status is not TaskStatus.PENDING and not task.answered:
                yield task

    def overdue(self, scope: Scope, now: datetime) -> Iterator[HumanTask]:
        for task in self._tasks(scope):
            at = task.attention
            if task.status is TaskStatus.PENDING and at is not None and at <= now:
                yield task

    def _tasks(self, scope: Scope) -> Sequence[HumanTask]:
        with self._memory.lock:
            return [*self._memory.of(scope).tasks.values()]


class FakeWaits:
    """Counts waits without a person."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def open(self, scope: Scope, step: Step) -> Step:
        with self._memory.lock:
            _check_revision(self._memory, scope, step)
            add_wait(self._memory, scope, step.run)
            return FakeJournal(self._memory).write(scope, step)

    def close(self, scope: Scope, step: Step) -> Step:
        with self._memory.lock:
            _check_revision(self._memory, scope, step)
            take_wait(self._memory, scope, step.run)
            return FakeJournal(self._memory).write(scope, step)


def _check_revision(memory: Memory, scope: Scope, step: Step) -> None:
    FakeRuns(memory).get(scope, step.run)
    replaced(memory.of(scope).steps.get((step.run, step.key)), step)


def _check_open(memory: Memory, scope: Scope, run: RunId) -> None:
    stored = FakeRuns(memory).get(scope, run)
    if not stored.status.open:
        raise Conflict(f"run {run} is over: {stored.status}")


def _check_pending(task: HumanTask) -> None:
    if task.status is not TaskStatus.PENDING:
        how = task.decision
        who = f" at {how.port} by {how.by}, {instant(how.at)}" if how else ""
        raise Conflict(f"task {task.id} is over: {task.status}{who}")


def _check_fresh(stored: HumanTask, seen: HumanTask) -> None:
    if stored.revision != seen.revision:
        raise Stale(f"task {stored.id} has changed meanwhile", stored, seen.revision)
