"""Human tasks: opened by a waiting step, ended once by a decision, an expiry or a cancellation.

Ending is one conditional write; then the token is answered, then the answer is noted. The token
only wakes: the step reads the outcome from the record, so after a crash the token is just sent
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, RunCancelled
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.kernel.pages import Page
from stellwerk.runs.calls import task_id
from stellwerk.runs.contention import settle
from stellwerk.runs.finishing import Endings
from stellwerk.runs.forms import check_form
from stellwerk.runs.model import Decision, Delegation, HumanTask, Step, StepStatus, TaskStatus
from stellwerk.runs.rights import (
    check_answer,
    check_cancel,
    check_task,
    inbox_names,
    is_assignee,
    reads_all_tasks,
)
from stellwerk.runs.states import TaskEvent, refused, task_after
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.resources import USER, KnownResources

EXPIRED_PORT = "expired"
CANCELLED_PORT = "cancelled"
MAX_DATA = 256 * 1024
"""Bytes of JSON that a decision may carry; larger things are uploaded and referred to."""


@dataclass(frozen=True)
class Question:
    """What a waiting step asks. `ports` are a person's choices, `expired` not among them."""

    kind: str
    title: str
    assignees: tuple[str, ...]
    ports: tuple[str, ...]
    description: str = ""
    form: JsonObject | None = None
    value: JsonValue = None
    due: datetime | None = None
    on_expire: Literal["cancel", "default"] = "cancel"
    default: JsonValue = None


class TaskService:
    """Opens, lists, decides, delegates, cancels and expires human tasks."""

    def __init__(self, world: World, endings: Endings) -> None:
        self._world = world
        self._endings = endings

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        mine: bool = False,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        """Return a page of tasks with that status, the newest first: all that the scope may read.

        Those are `mine` where it may read no others: what waits for its user, for a role of his or
        for everyone. Of tasks that are over a page may be short of `limit`: its cursor says so.
        """
        if not mine and reads_all_tasks(scope):
            return self._world.tasks.list(scope, status=status, cursor=cursor, limit=limit)
        if status is TaskStatus.PENDING:
            names = inbox_names(scope)
            return self._world.tasks.inbox(scope, names, cursor=cursor, limit=limit)
        page = self._world.tasks.list(scope, status=status, cursor=cursor, limit=limit)
        return Page([task for task in page.items if is_assignee(scope, task)], page.cursor)

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return the task; raise NotFound if there is none that the scope may see."""
        found = self._world.tasks.get(scope, task)
        check_task(scope, found)
        return found

    def open_task(self, scope: Scope, step: Step, question: Question, token: str) -> HumanTask:
        """Let `step` wait for a person under `token`; the run is paused in the same transaction.

        A retry finds the same task and replaces its token. A task that is already over is answered
        at once.
        """
        run = self._world.runs.get(scope, step.run)
        task = HumanTask(
            id=task_id(step.run, step.key, step.generation),
            run=step.run,
            path=step.path,
            node=step.node,
            workflow=run.workflow,
            kind=question.kind,
            title=question.title,
            description=question.description,
            assignees=question.assignees,
            ports=question.ports,
            form=question.form,
            value=question.value,
            created=self._world.clock.now(),
            due=question.due,
            on_expire=question.on_expire,
            default=question.default,
            token=token,
        )
        opened = settle(lambda: self._open(scope, task, step))
        if opened.status is not TaskStatus.PENDING:
            self.answer(scope, opened.model_copy(update={"token": token}))
        return opened

    def decide(
        self,
        scope: Scope,
        task_id: TaskId,
        port: str,
        data: JsonValue = None,
        *,
        token: str | None = None,
    ) -> HumanTask:
        """End a pending task at `port` with `data`, and wake its run.

        Without data a review hands on the value as it was shown, and a form counts as left empty.
        Raises BadInput for a port that is not the task's or data that its form refuses, all faults
        at once; Conflict, naming who decided, when and how, if the task is over; Forbidden for one
        whom it does not wait for and who may not decide for others, and for a wrong `token`.
        """
        return self._decide(scope, self.get(scope, task_id), port, data, token=token)

    def delegate(self, scope: Scope, task_id: TaskId, to: UserId) -> HumanTask:
        """Let a pending task wait for another user of the instance, and for nobody else.

        Raises BadInput where there is no such user, Conflict if the task is over.
        """
        return self._delegate(scope, self.get(scope, task_id), to)

    def cancel(self, scope: Scope, task_id: TaskId) -> HumanTask:
        """End a pending task as cancelled, and its run; raise Conflict if the task is over."""
        return self._cancel(scope, self.get(scope, task_id))

    def expire(self, scope: Scope, task_id: TaskId, now: datetime) -> HumanTask:
        """End a pending task as expired; return it as it stands if someone was faster."""
        task = self._world.tasks.get(scope, task_id)
        if task.status is not TaskStatus.PENDING:
            return task
        decision = Decision(port=EXPIRED_PORT, data=task.default, by=None, at=now)
        try:
            return self._end(scope, task, TaskEvent.EXPIRE, decision)
        except Conflict:
            return self._world.tasks.get(scope, task_id)

    def settle(self, scope: Scope, task_id: TaskId, now: datetime) -> Decision:
        """Return how the task ended, when its step's wait is over; a pending task expires now.

        Raises RunCancelled, the run being cancelled with it, where the task was cancelled, or has
        expired and has no default.
        """
        task = self.expire(scope, task_id, now)
        gone_on = task.status is TaskStatus.COMPLETED or (
            task.status is TaskStatus.EXPIRED and task.on_expire == "default"
        )
        if gone_on and task.decision is not None:
            return task.decision
        cause = _cause(task)
        self._endings.cancel(scope, task.run, cause=cause)
        raise RunCancelled(cause, remedy="Replay the run if its work is still wanted.")

    def answer(self, scope: Scope, task: HumanTask) -> None:
        """Wake the step of a task that is over, and note that it was woken, or waits no more."""
        self._world.executions.succeed(scope, task.token, {})
        self._world.tasks.mark_answered(scope, task.id, task.token)

    def _decide(
        self, scope: Scope, task: HumanTask, port: str, data: JsonValue, *, token: str | None
    ) -> HumanTask:
        check_answer(scope, task)
        task_after(task, TaskEvent.DECIDE)
        _check_token(task, token)
        if data is None:
            data = _unsaid(task)
        _check_decision(task, port, data)
        decision = Decision(port=port, data=data, by=scope.user, at=self._world.clock.now())
        return self._end(scope, task, TaskEvent.DECIDE, decision, token=token)

    def _delegate(self, scope: Scope, task: HumanTask, to: UserId) -> HumanTask:
        check_answer(scope, task)
        task_after(task, TaskEvent.DELEGATE)
        known = KnownResources(self._world.versions, scope, things=self._world.things)
        if known.kind(USER, to) is None:
            raise BadInput(
                f"There is no user '{to}' here to whom task {task.id} could be handed.",
                remedy="Choose one who belongs to this instance.",
            )
        handed = Delegation(by=scope.user, to=to, at=self._world.clock.now())
        changes = {"assignees": (f"user:{to}",), "delegations": (*task.delegations, handed)}
        return self._world.tasks.assign(scope, task, task.model_copy(update=changes))

    def _cancel(self, scope: Scope, task: HumanTask) -> HumanTask:
        check_cancel(scope, self._world.runs.get(scope, task.run))
        task_after(task, TaskEvent.CANCEL)
        decision = Decision(port=CANCELLED_PORT, by=scope.user, at=self._world.clock.now())
        ended = self._end(scope, task, TaskEvent.CANCEL, decision)
        self._endings.cancel(scope, ended.run, cause=_cause(ended))
        return ended

    def _open(self, scope: Scope, task: HumanTask, step: Step) -> HumanTask:
        stored = self._world.journal.read(scope, step.run, [step.key]).get(step.key, step)
        waiting = {"status": StepStatus.WAITING, "token": task.token, "due": task.due}
        return self._world.tasks.open(scope, task, stored.model_copy(update=waiting))

    def _end(
        self,
        scope: Scope,
        task: HumanTask,
        event: TaskEvent,
        decision: Decision,
        *,
        token: str | None = None,
    ) -> HumanTask:
        status = task_after(task, event)
        try:
            ended = self._world.tasks.close(scope, task.id, status, decision, token=token)
        except Conflict as conflict:
            winner = self._world.tasks.get(scope, task.id)
            if winner.status is TaskStatus.PENDING:
                raise
            raise refused(winner, event) from conflict
        self.answer(scope, ended)
        return ended


def _check_token(task: HumanTask, token: str | None) -> None:
    if token is not None and token != task.token:
        raise Forbidden(
            f"This link does not belong to task {task.id} as it waits now.",
            remedy="Open the task in the inbox and decide there.",
        )


def _check_decision(task: HumanTask, port: str, data: JsonValue) -> None:
    if port not in task.ports:
        raise BadInput(
            f"Task {task.id} has no outcome '{port}'. It has: {', '.join(task.ports)}.",
            remedy="Choose one of these.",
        )
    size = len(dumps(data).encode())
    if size > MAX_DATA:
        raise BadInput(
            f"The data of a decision may have {MAX_DATA} bytes as JSON; this has {size}.",
            remedy="Upload large content as a file and hand in its address.",
        )
    of_no_use = task.kind == "review" and port == "rejected"
    if task.form is not None and not of_no_use:
        check_form(task.form, data)


def _unsaid(task: HumanTask) -> JsonValue:
    """Return what a decision without data hands in."""
    if task.kind == "review":
        return task.value
    return {} if task.form is not None else None


def _cause(task: HumanTask) -> str:
    ending = "expired" if task.status is TaskStatus.EXPIRED else "was cancelled"
    return f"Task '{task.title}' of node '{task.node}' {ending}."
