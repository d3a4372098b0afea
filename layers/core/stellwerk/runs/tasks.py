"""Human tasks: opened by a waiting step, ended once by a decision, an expiry or a cancellation.

Ending is one conditional write; then the token is answered, then the answer is noted. The token
only wakes: the step reads the outcome from the record, so after a crash the token is just sent
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TypeAlias

from stellwerk.kernel.errors import BadInput, Conflict, RunCancelled
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stale
from stellwerk.runs import links
from stellwerk.runs.announcing import announce_decision
from stellwerk.runs.asking import Question, asked
from stellwerk.runs.ballots import Vote, outcome, voted
from stellwerk.runs.contention import TRIES, settle
from stellwerk.runs.deciders import Capacity, Deciders, names, waits_for
from stellwerk.runs.decisions import Answer, checked, decided, handed
from stellwerk.runs.finishing import Endings
from stellwerk.runs.model import Decision, HumanTask, Step, StepStatus, TaskStatus
from stellwerk.runs.notes import ASKED
from stellwerk.runs.rights import check_cancel, reads_all_tasks
from stellwerk.runs.states import TaskEvent, refused, task_after
from stellwerk.runs.telling import Telling
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.resources import USER, KnownResources

EXPIRED_PORT = "expired"
CANCELLED_PORT = "cancelled"


FindsCapacity: TypeAlias = Callable[[HumanTask], Capacity]
"""Finds in which capacity someone answers a task as it stands, or raises who may not."""


class TaskService:
    """Opens, lists, decides, delegates, cancels and expires human tasks."""

    def __init__(self, world: World, endings: Endings) -> None:
        self._world = world
        self._endings = endings
        self._deciders = Deciders(world)
        self._telling = Telling(world)

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

        Those are `mine` where it may read no others: what waits for its user, for a role of his,
        for everyone, or for one for whom he stands in; what he has voted on or must not decide is
        left out. A page may be short of `limit`: its cursor says whether there are more.
        """
        if not mine and reads_all_tasks(scope):
            return self._world.tasks.list(scope, status=status, cursor=cursor, limit=limit)
        people = self._deciders.people(scope)
        named = names(people)
        if status is TaskStatus.PENDING:
            page = self._world.tasks.inbox(scope, named, cursor=cursor, limit=limit)
            return Page([task for task in page.items if waits_for(people, task)], page.cursor)
        page = self._world.tasks.list(scope, status=status, cursor=cursor, limit=limit)
        mine_too = [task for task in page.items if not set(named).isdisjoint(task.assignees)]
        return Page(mine_too, page.cursor)

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return the task; raise NotFound if there is none that the scope may see."""
        found = self._world.tasks.get(scope, task)
        self._deciders.check(scope, found)
        return found

    def open_task(self, scope: Scope, step: Step, question: Question, token: str) -> HumanTask:
        """Let `step` wait for a person under `token`; the run is paused in the same transaction.

        A retry finds the same task and replaces its token. A task that is already over is answered
        at once.
        """
        task, messages = self._telling.begun(asked(self._world, scope, step, question, token))
        opened = settle(lambda: self._open(scope, task, step))
        if opened.status is not TaskStatus.PENDING:
            self.answer(scope, opened.model_copy(update={"token": token}))
        elif opened.revision == 1 and task.news.asked:
            self._telling.finish(scope, opened.id, messages, [ASKED])
        else:
            self._telling.tell(scope, opened)
        return opened

    def tell(self, scope: Scope, task: HumanTask) -> bool:
        """Tell what is due of a pending task: that it waits, reminders, escalation; say whether."""
        return self._telling.tell(scope, task)

    def decide(
        self,
        scope: Scope,
        task_id: TaskId,
        port: str,
        data: JsonValue = None,
        *,
        comment: str = "",
        token: str | None = None,
    ) -> HumanTask:
        """Answer a pending task with `port` and `data`; the answer that suffices wakes its run.

        Without data a review hands on the value as it was shown, and a form counts as left empty.
        Raises BadInput for a port that is not the task's or data that its form refuses, all faults
        at once; Conflict, naming who decided, when and how, if the task is over, or for one who has
        voted; Forbidden for one whom it does not wait for and who may not decide for others, for
        whoever must not (four eyes), and for a wrong `token`.
        """
        answer = Answer(port, data, comment=comment, token=token)
        task = self.get(scope, task_id)
        return self._decide(scope, task, answer, lambda now: self._deciders.capacity(scope, now))

    def by_link(self, scope: Scope, link: str) -> HumanTask:
        """Return the task that a guest's link opens, at the scope's place; changes nothing.

        Raises NotFound for a link that opens none, or none any more.
        """
        return self._of_guest(scope, link)[0]

    def decide_by_link(
        self, scope: Scope, link: str, port: str, data: JsonValue = None, *, comment: str = ""
    ) -> HumanTask:
        """Answer a task as the guest who holds `link`; errors as of `decide` and `by_link`."""
        task, guest, secret = self._of_guest(scope, link)

        def capacity(now: HumanTask) -> Capacity:
            return Capacity(links.holder(now, secret, self._world.clock.now()))

        answer = Answer(port, data, comment=comment)
        return self._decide(links.guest_scope(scope, guest), task, answer, capacity)

    def delegate(self, scope: Scope, task_id: TaskId, to: UserId) -> HumanTask:
        """Let a pending task wait for another user of the instance instead of the scope's.

        With a quorum the others go on waiting too; without one it waits for nobody else. Raises
        BadInput where there is no such user, or it must not decide; Conflict if the task is over.
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

    def settle(self, scope: Scope, task_id: TaskId, now: datetime) -> HumanTask:
        """Return the task with its decision, when its step's wait is over; a pending one expires.

        Raises RunCancelled, the run being cancelled with it, where the task was cancelled, or has
        expired and has no default.
        """
        task = self.expire(scope, task_id, now)
        gone_on = task.status is TaskStatus.COMPLETED or (
            task.status is TaskStatus.EXPIRED and task.on_expire == "default"
        )
        if gone_on and task.decision is not None:
            return task
        cause = _cause(task)
        self._endings.cancel(scope, task.run, cause=cause)
        raise RunCancelled(cause, remedy="Replay the run if its work is still wanted.")

    def answer(self, scope: Scope, task: HumanTask) -> None:
        """Wake the step of a task that is over, and note that it was woken, or waits no more."""
        self._world.executions.succeed(scope, task.token, {})
        if announce_decision(self._world, scope, task):
            self._world.tasks.mark_answered(scope, task.id, task.token)

    def _of_guest(self, scope: Scope, link: str) -> tuple[HumanTask, UserId, str]:
        task_id, secret = links.parts(scope, link)
        guests = self._world.guests
        if guests is None or not guests.allowed(scope):
            raise links.unknown_link()
        task = self._world.tasks.get(scope, task_id)
        return task, links.holder(task, secret, self._world.clock.now()), secret

    def _decide(
        self, scope: Scope, task: HumanTask, answer: Answer, capacity: FindsCapacity
    ) -> HumanTask:
        for _ in range(TRIES - 1):
            try:
                return self._vote(scope, task, answer, capacity)
            except Stale:
                task = self._world.tasks.get(scope, task.id)
        return self._vote(scope, task, answer, capacity)

    def _vote(
        self, scope: Scope, task: HumanTask, answer: Answer, capacity: FindsCapacity
    ) -> HumanTask:
        """Write an answer on the task as it was read; raise Stale if it is not that any more."""
        who = capacity(task)
        task_after(task, TaskEvent.DECIDE)
        _check_first(task, who)
        vote = Vote(
            port=answer.port,
            data=checked(self._world, scope, task, answer),
            comment=answer.comment,
            by=who.by,
            on_behalf_of=who.on_behalf_of,
            at=self._world.clock.now(),
        )
        votes = (*task.votes, vote)
        port = outcome(task.quorum, task.ports, votes)
        after = task.model_copy(update={"votes": votes if task.quorum is not None else ()})
        if port is None:
            with self._told_who_won(scope, task.id, TaskEvent.DECIDE):
                return self._world.tasks.amend(scope, task, after)
        return self._end(scope, after, TaskEvent.DECIDE, decided(votes, port), exact=True)

    def _delegate(self, scope: Scope, task: HumanTask, to: UserId) -> HumanTask:
        who = self._deciders.capacity(scope, task)
        task_after(task, TaskEvent.DELEGATE)
        known = KnownResources(self._world.versions, scope, things=self._world.things)
        if to in task.not_by:
            raise BadInput(
                f"Task {task.id} must not be handed to '{to}', who has started its run.",
                remedy="Choose somebody else: it needs a second pair of eyes.",
            )
        if known.kind(USER, to) is None:
            raise BadInput(
                f"There is no user '{to}' here to whom task {task.id} could be handed.",
                remedy="Choose one who belongs to this instance.",
            )
        after = handed(task, who, to, self._world.clock.now())
        with self._told_who_won(scope, task.id, TaskEvent.DELEGATE):
            written = self._world.tasks.amend(scope, task, after)
        self._telling.handed(scope, written, to)
        return written

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
        exact: bool = False,
    ) -> HumanTask:
        """End the task, if it must be exactly as it was read: raise Stale where it is not."""
        status = task_after(task, event)
        voted = task if exact else None
        with self._told_who_won(scope, task.id, event):
            ended = self._world.tasks.close(scope, task.id, status, decision, voted=voted)
        self.answer(scope, ended)
        return ended

    @contextmanager
    def _told_who_won(self, scope: Scope, task: TaskId, event: TaskEvent) -> Iterator[None]:
        """Let a Conflict of a task that is over name who ended it, when and how."""
        try:
            yield
        except Stale:
            raise
        except Conflict as conflict:
            winner = self._world.tasks.get(scope, task)
            if winner.status is TaskStatus.PENDING:
                raise
            raise refused(winner, event) from conflict


def _check_first(task: HumanTask, who: Capacity) -> None:
    before = voted(task.votes, who.people)
    if before is not None:
        moment = before.at.isoformat(timespec="seconds")
        raise Conflict(
            f"Task {task.id} has the vote of {before.by} already: '{before.port}' at {moment}.",
            remedy="Everybody has one vote; the others' are still to come.",
        )


def _cause(task: HumanTask) -> str:
    ending = "expired" if task.status is TaskStatus.EXPIRED else "was cancelled"
    return f"Task '{task.title}' of node '{task.node}' {ending}."
