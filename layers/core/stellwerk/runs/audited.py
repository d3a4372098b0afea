"""Runs and tasks whose changes are on record: what people do, and what starts in their name.

What the platform does by itself to runs that are there is not: their journal has it.
"""

from __future__ import annotations

from stellwerk.kernel.ids import UserId
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.decisions import Answer
from stellwerk.runs.firing import Firing
from stellwerk.runs.jobs import Job
from stellwerk.runs.model import HumanTask, Run
from stellwerk.runs.rerunning import Rerunning
from stellwerk.runs.service import RunService
from stellwerk.runs.starting import Order
from stellwerk.runs.tasks import FindsCapacity, TaskService
from stellwerk.runs.wishes import Wish
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Workflow


class AuditedRuns(RunService):
    """Writes who starts, cancels and replays."""

    def __init__(self, runs: Assembly, audit: Audit) -> None:
        super().__init__(runs.world, runs.starting, runs.endings, runs.replays)
        self._audit = audit

    def _start(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        with self._audit.act(scope, "run.start", f"workflow:{workflow.id}") as act:
            run = super()._start(scope, workflow, order)
            act.object(f"run:{run.id}")
            act.after(run)
        return run

    def _cancel(self, scope: Scope, run: Run) -> Run:
        with self._audit.act(scope, "run.cancel", f"run:{run.id}") as act:
            act.before(run)
            cancelled = super()._cancel(scope, run)
            act.after(cancelled)
        return cancelled

    def _replay(self, scope: Scope, run: Run, wish: Wish) -> Run:
        with self._audit.act(scope, "run.replay", f"run:{run.id}") as act:
            act.before(run)
            again = super()._replay(scope, run, wish)
            act.after(again)
        return again


class AuditedRerunning(Rerunning):
    """Writes who replays many runs, and who stops that; the runs themselves tell of the job."""

    def __init__(self, runs: Assembly, audit: Audit) -> None:
        super().__init__(runs.world, runs.replays)
        self._audit = audit

    def _begin(self, scope: Scope, job: Job) -> Job:
        with self._audit.act(scope, "runs.replay", f"workflow:{job.workflow}") as act:
            begun = super()._begin(scope, job)
            act.object(f"replays:{begun.id}")
            act.after(begun)
        return begun

    def _cancel(self, scope: Scope, job: Job) -> Job:
        with self._audit.act(scope, "runs.replay.cancel", f"replays:{job.id}") as act:
            act.before(job)
            cancelled = super()._cancel(scope, job)
            act.after(cancelled)
        return cancelled


class AuditedFiring(Firing):
    """Writes what starts in whose name, and what is refused."""

    def __init__(self, runs: Assembly, audit: Audit) -> None:
        super().__init__(runs.world, runs.starting)
        self._audit = audit

    def _fire(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        with self._audit.act(scope, "run.start", f"workflow:{workflow.id}") as act:
            run = super()._fire(scope, workflow, order)
            act.object(f"run:{run.id}")
            act.after(run)
        return run


class AuditedTasks(TaskService):
    """Writes who decides, delegates and cancels."""

    def __init__(self, runs: Assembly, audit: Audit) -> None:
        super().__init__(runs.world, runs.endings)
        self._audit = audit

    def _decide(
        self, scope: Scope, task: HumanTask, answer: Answer, capacity: FindsCapacity
    ) -> HumanTask:
        with self._audit.act(scope, "task.decide", f"task:{task.id}") as act:
            act.before(task)
            decided = super()._decide(scope, task, answer, capacity)
            act.after(decided)
        return decided

    def _delegate(self, scope: Scope, task: HumanTask, to: UserId) -> HumanTask:
        with self._audit.act(scope, "task.delegate", f"task:{task.id}") as act:
            act.before(task)
            handed = super()._delegate(scope, task, to)
            act.after(handed)
        return handed

    def _cancel(self, scope: Scope, task: HumanTask) -> HumanTask:
        with self._audit.act(scope, "task.cancel", f"task:{task.id}") as act:
            act.before(task)
            cancelled = super()._cancel(scope, task)
            act.after(cancelled)
        return cancelled
