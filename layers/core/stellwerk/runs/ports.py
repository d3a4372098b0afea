"""What runs need from the world: stores, values, state machines.

`stellwerk.aws` implements them on AWS, `tests/fakes` in memory; one contract test holds both.
Everything raises `Conflict` where a condition does not hold, `NotFound` where a thing does not
exist for the scope, `ServiceUnavailable` where AWS does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stellwerk.kernel.ids import RunId, TaskId, UserId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.runs.jobs import Job
from stellwerk.runs.limits import Limit, Queued
from stellwerk.runs.model import (
    Decision,
    Failure,
    HumanTask,
    Run,
    RunStatus,
    Step,
    StepKey,
    TaskStatus,
)
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, Workflow


@dataclass(frozen=True)
class RunFilter:
    """Which runs a list shows: all these hold together, and what is None holds always.

    `user`, else `workflow` and `status`, choose where the list is read, and the times where in it;
    the rest leaves entries out, so that a page may be short.
    """

    workflow: WorkflowId | None = None
    version: int | None = None
    status: RunStatus | None = None
    trigger: str | None = None
    """The type of the node that started it: `trigger.webhook`."""
    user: UserId | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Started before that moment."""

    def fits(self, run: Run) -> bool:
        """Say whether the run is one of these."""
        return (
            self.workflow in {None, run.workflow}
            and self.version in {None, run.version}
            and self.status in {None, run.status}
            and self.trigger in {None, run.trigger.kind}
            and self.user in {None, run.user}
            and (self.since is None or self.since <= run.started)
            and (self.until is None or run.started < self.until)
        )


class Journal(Protocol):
    """The steps of runs."""

    def read(self, scope: Scope, run: RunId, keys: Sequence[StepKey]) -> dict[StepKey, Step]:
        """Return those of `keys` that exist, in one batch read (per 100 keys)."""

    def write(self, scope: Scope, step: Step) -> Step:
        """Write `step` if the stored revision is `step.revision` (0: none); return it raised."""

    def fill(self, scope: Scope, run: RunId, steps: Sequence[Step]) -> None:
        """Write many entries without condition: a loop's scopes, recorded entries of a replay."""

    def page(
        self, scope: Scope, run: RunId, *, cursor: str | None = None, limit: int = 1000
    ) -> Page[Step]:
        """Return a page of a run's entries: those at the top first, then place by place.

        Raises BadInput for a text that is no cursor.
        """

    def steps(self, scope: Scope, run: RunId) -> Iterator[Step]:
        """Yield all entries of a run, page by page: in no particular order, but place by place."""


class Runs(Protocol):
    """Runs and the records of what started them."""

    def create(self, scope: Scope, run: Run, limits: Sequence[Limit] = ()) -> Run:
        """Write the run and its delivery record at once, and take a slot of each limit's pool.

        Where (workflow, delivery) is known already, return the run that it started, and write
        nothing. Raises Full, and writes nothing, where no slot is free. A queued run takes none:
        it stands in the queue that it names.
        """

    def admit(self, scope: Scope, run: Run, limits: Sequence[Limit]) -> Run:
        """Let a queued run begin: take it from its queue, and a slot of each limit's pool.

        Raises Conflict if it is not stored as `run`; Full, where no slot is free.
        """

    def requeue(self, scope: Scope, run: Run, pool: str) -> Run:
        """Let a queued run wait for another pool, at the place of its start; Conflict as above."""

    def waiting(self, scope: Scope, pool: str) -> Sequence[Queued]:
        """Return the hundred that wait for the pool longest, the oldest first."""

    def holder(self, scope: Scope, pool: str) -> RunId | None:
        """Return the oldest run that holds a slot of a pool of the instance."""

    def delivered(self, scope: Scope, workflow: WorkflowId, delivery: str) -> Run | None:
        """Return the run that the delivery has started, None if it has not started any."""

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return the run."""

    def write(self, scope: Scope, run: Run) -> Run:
        """Replace the run if the stored revision is `run.revision`; return it one higher.

        Leaves `waits` and, while the run is open, the status as stored: only task transitions
        change those.
        """

    def end(self, scope: Scope, run: Run) -> Run:
        """Write a run that is no longer open, if the stored one is open; `waits` becomes 0.

        Its slots are free then, and it stands in no queue. Raises Conflict where the stored run has
        meanwhile come out of the queue in which `run` says that it stands.
        """

    def list(
        self, scope: Scope, wanted: RunFilter, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Run]:
        """Return a page of the wanted runs, the newest first; it may be short of `limit`."""

    def open_runs(self, scope: Scope, *, since: datetime | None = None) -> Iterator[Run]:
        """Yield every run that is not over, or those started since a moment, the oldest first."""

    def count(
        self, scope: Scope, *, workflow: WorkflowId | None = None, user: UserId | None = None
    ) -> dict[RunStatus, int]:
        """Return how many runs stand where, of all or of one user; where none stand it is 0."""


class Tasks(Protocol):
    """Human tasks, with the count of waits on their run: each change is one transaction."""

    def open(self, scope: Scope, task: HumanTask, step: Step) -> HumanTask:
        """Write a pending task and its waiting step, and add one to the run's waits: it is paused.

        A task of that id exists: only its token (and the step's, and `step` as given) is replaced,
        the task is returned as it stands, and no wait is added. Raises Conflict if the run is over.
        """

    def close(
        self,
        scope: Scope,
        task: TaskId,
        status: TaskStatus,
        decision: Decision | None,
        *,
        voted: HumanTask | None = None,
    ) -> HumanTask:
        """End a pending task and take one from the run's waits.

        With `voted`, that is what ends: the task as it was read, with the votes that end it.
        Raises Conflict, naming who ended it and when, if it is not pending; Stale if another task
        than `voted`, but for its votes, is stored.
        """

    def mark_answered(self, scope: Scope, task: TaskId, token: str) -> None:
        """Note that Step Functions took the answer for `token`; nothing if that has changed."""

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return the task."""

    def amend(self, scope: Scope, before: HumanTask, after: HumanTask) -> HumanTask:
        """Write a pending task that stays one: other assignees, votes, what was told of it.

        Raises Stale if it is not stored as `before`, Conflict if it is over.
        """

    def inbox(
        self, scope: Scope, names: Sequence[str], *, cursor: str | None = None, limit: int = 50
    ) -> Page[HumanTask]:
        """Return a page of pending tasks that one of `names` is an assignee of, the newest first.

        Costs a request per name, and one more.
        """

    def of_run(self, scope: Scope, run: RunId) -> Sequence[HumanTask]:
        """Return all tasks of a run, the oldest first."""

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        """Return a page of the instance's tasks with that status, the newest first."""

    def unanswered(self, scope: Scope) -> Iterator[HumanTask]:
        """Yield tasks that are over while Step Functions has not taken their answer."""


class Waits(Protocol):
    """Waits without a person (child runs): step and count of waits, in one transaction."""

    def open(self, scope: Scope, step: Step) -> Step:
        """Write the waiting step under its revision's condition, and add one to the run's waits."""

    def close(self, scope: Scope, step: Step) -> Step:
        """Write the step, no longer waiting, under its revision's condition; take one wait away."""


class Executions(Protocol):
    """Executions of state machines, and the task tokens they wait on."""

    def start(self, scope: Scope, machine: str, name: str, data: JsonObject) -> str:
        """Start an execution and return its ARN; the same name returns the one that exists."""

    def stop(self, scope: Scope, execution: str, *, cause: str) -> None:
        """Stop an execution; one that is over or gone stays as it is."""

    def status(self, scope: Scope, execution: str) -> tuple[str, str, str]:
        """Return the execution's status (`RUNNING`, ...; `GONE` if unknown), error and cause."""

    def succeed(self, scope: Scope, token: str, data: JsonValue) -> bool:
        """Answer a task token; False if nothing waits for it any more."""

    def fail(self, scope: Scope, token: str, failure: Failure) -> bool:
        """Answer a task token with an error; False if nothing waits for it any more."""


class Due(Protocol):
    """Finds what is overdue, for the sweeper."""

    def overdue(self, scope: Scope, now: datetime) -> Iterator[HumanTask]:
        """Yield pending tasks whose `attention` is `now` or before: to be told of, or to end."""


class Trials(Protocol):
    """Lets drafts run: implemented where they can be compiled."""

    def prepare(self, scope: Scope, workflow: Workflow, draft: Version) -> Version:
        """Return the draft as it is now, kept beside it, with machines."""


class Jobs(Protocol):
    """Jobs that replay many runs."""

    def create(self, scope: Scope, job: Job) -> Job:
        """Write a new job."""

    def get(self, scope: Scope, job: str) -> Job:
        """Return the job."""

    def write(self, scope: Scope, job: Job) -> Job:
        """Replace the job if the stored revision is `job.revision`; return it one higher."""

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return a page of the instance's jobs, the newest first."""

    def open(self, scope: Scope) -> Iterator[Job]:
        """Yield the jobs that are not over."""


class KeyValues(Protocol):
    """A small key-value store per workflow (`data.store`)."""

    def get(self, scope: Scope, workflow: WorkflowId, key: str) -> JsonValue:
        """Return the value of `key`; None if there is none."""

    def put(self, scope: Scope, workflow: WorkflowId, key: str, value: JsonValue) -> None:
        """Write the value of `key`."""

    def delete(self, scope: Scope, workflow: WorkflowId, key: str) -> None:
        """Remove `key`; nothing if there is none."""

    def increment(
        self, scope: Scope, workflow: WorkflowId, key: str, by: int | float, *, once: str
    ) -> JsonValue:
        """Add `by` to the number at `key`, absent counting as 0, and return the sum.

        A second call with the same `once` adds nothing and returns the same sum, as long as fewer
        than 100 others came in between. Raises Conflict if the value there is no number.
        """
