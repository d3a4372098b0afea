"""Closing a scope of a run that has ended: nothing inside may wait, or seem at work, any longer.

Tasks are cancelled, child runs and chunk executions stopped, entries closed, and the count of waits
lowered. Every step of it may be repeated: what is closed already stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId
from stellwerk.runs.contention import settle
from stellwerk.runs.effects import closed_status
from stellwerk.runs.model import Decision, HumanTask, Run, Step, StepKey, StepStatus, TaskStatus
from stellwerk.runs.names import CHUNK_TYPE, SCOPE_TYPE, of_loop, within
from stellwerk.runs.passes import entries_below
from stellwerk.runs.waking import resumed
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope

_OPEN = {StepStatus.RUNNING, StepStatus.WAITING}


class CancelRun(Protocol):
    """Cancels a child run."""

    def __call__(self, scope: Scope, run: RunId, *, cause: str) -> None:
        """End the run as cancelled; nothing happens if it is over."""


class Closing:
    """Closes scopes."""

    def __init__(self, world: World, cancel_run: CancelRun) -> None:
        self._world = world
        self._cancel_run = cancel_run

    def close(
        self, scope: Scope, run: Run, path: Path, *, cause: str, loop: NodeKey | None = None
    ) -> list[Step]:
        """Close all that is open in the scope at `path`; return its entries as they stood.

        With `loop`, close only that loop's passes and chunks: what runs beside it goes on.
        """
        around = StepKey(path=path, node=loop) if loop is not None else None
        self._close_tasks(scope, run.id, path, around)
        entries = [
            step
            for step in self._entries(scope, run, path)
            if around is None or of_loop(step.key, around)
        ]
        for step in entries:
            if step.status in _OPEN and step.type != SCOPE_TYPE:
                self.close_step(scope, step, cause=cause)
        return entries

    def close_all(self, scope: Scope, run: Run, *, cause: str) -> None:
        """Close all that is open in the run, however much there is of it."""
        self._close_tasks(scope, run.id, ROOT, None)
        for step in self._world.journal.steps(scope, run.id):
            if step.status in _OPEN and step.type != SCOPE_TYPE:
                self.close_step(scope, step, cause=cause)

    def close_tasks(self, scope: Scope, run: RunId, path: Path) -> int:
        """Cancel the pending tasks of the scope at `path`; return how many there were."""
        return self._close_tasks(scope, run, path, None)

    def _close_tasks(self, scope: Scope, run: RunId, path: Path, loop: StepKey | None) -> int:
        tasks = self._world.tasks.of_run(scope, run)
        pending = [task for task in tasks if task.status is TaskStatus.PENDING]
        inside = [
            task
            for task in pending
            if within(task.path, path)
            if loop is None or of_loop(StepKey(path=task.path, node=task.node), loop)
        ]
        for task in inside:
            self.close_task(scope, task)
        return len(inside)

    def close_task(self, scope: Scope, task: HumanTask) -> None:
        """Cancel one task, unless someone ends it at the same moment."""
        decision = Decision(port="cancelled", by=scope.user, at=self._world.clock.now())
        try:
            ended = self._world.tasks.close(scope, task.id, TaskStatus.CANCELLED, decision)
        except Conflict:
            return
        self._world.tasks.mark_answered(scope, ended.id, ended.token)

    def close_step(self, scope: Scope, step: Step, *, cause: str) -> None:
        """Close one open entry, with the child run or the chunk execution that it waits for."""
        if step.type == CHUNK_TYPE and step.child:
            self._world.executions.stop(scope, step.child, cause=cause)
        elif step.status is StepStatus.WAITING and step.child:
            self._cancel_run(scope, RunId(step.child), cause=cause)
        settle(lambda: self._write_closed(scope, step.run, step.key))

    def release(self, scope: Scope, step: Step, *, cause: str) -> Step:
        """Return `step`, which will not wait any longer, as running; its task or child run ends."""
        for task in self._world.tasks.of_run(scope, step.run):
            if task.status is TaskStatus.PENDING and (task.path, task.node) == (
                step.path,
                step.node,
            ):
                self.close_task(scope, task)
        if step.child:
            self._cancel_run(scope, RunId(step.child), cause=cause)
        return resumed(self._world, scope, step.run, step.key)

    def _entries(self, scope: Scope, run: Run, path: Path) -> Iterator[Step]:
        if not path:
            return self._world.journal.steps(scope, run.id)
        graph = self._world.graph(scope, run)
        return entries_below(self._world.journal, scope, run.id, graph, path)

    def _write_closed(self, scope: Scope, run: RunId, key: StepKey) -> None:
        step = self._world.journal.read(scope, run, [key])[key]
        if step.status not in _OPEN or step.done:
            return
        closed = step.model_copy(
            update={"status": closed_status(self._world, scope, step), "lease": None}
        )
        counted = (step.child and step.type != CHUNK_TYPE) or step.awaits
        if counted and step.status is StepStatus.WAITING:
            self._world.waits.close(scope, closed)
        else:
            self._world.journal.write(scope, closed)
