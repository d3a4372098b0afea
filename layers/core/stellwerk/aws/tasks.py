"""Human tasks, each change in one transaction with the run that waits for it.

Status, token and whether the token was answered are attributes beside the body, and win over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from stellwerk.aws import inbox, keys, listing, standing, tables
from stellwerk.aws.bodies import Bodies, changes
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import (
    Check,
    Item,
    Put,
    Update,
    Write,
    absent,
    among,
    decoded,
    equals,
)
from stellwerk.aws.items import Items, Range
from stellwerk.aws.journal import step_conflict, step_put
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import RunId, TaskId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stale
from stellwerk.runs.model import Decision, HumanTask, Step, TaskStatus
from stellwerk.tenancy.scope import Scope

_RENEWALS = 10
"""How often a task's token may change while its end is written."""


class DynamoTasks:
    """Tasks on the table `runs`.

    Requests: get 1, open 1 (2 if its token is replaced), close 2 (3 if the run has other waits),
    amend, mark_answered 1, of_run 2, a list 2, an inbox 1 for each name and 1, what the sweeper
    looks for 2 per 100.
    """

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def open(self, scope: Scope, task: HumanTask, step: Step) -> HumanTask:
        """Write a pending task and its waiting step, and pause the run; or replace the token."""
        waiting = step_put(self._bodies, scope, step)
        try:
            self._items.transact(
                [
                    Put(keys.task(scope, task.id), self._created(scope, task), when=(absent(),)),
                    waiting,
                    standing.wait_opened(scope, task.run, task.workflow),
                    _named_by_run(scope, task),
                    *inbox.entered(scope, task),
                ]
            )
        except Refused as refused:
            of_task = refused.reasons[0]
            if of_task.item is None:
                raise _unopened(refused, step) from refused
            existing = self._record(scope, decoded(of_task.item))
            return self._replace_token(scope, existing, step, waiting)
        return task.model_copy(update={"revision": task.revision + 1})

    def close(
        self,
        scope: Scope,
        task: TaskId,
        status: TaskStatus,
        decision: Decision | None,
        *,
        voted: HumanTask | None = None,
    ) -> HumanTask:
        """End a pending task and take its wait from the run; a Conflict names who was first.

        The returned task holds the token that its step waits with at that moment: where the step
        is waiting anew meanwhile, with another token, the end is written again; one with votes is
        refused as stale then.
        """
        stored = voted or self.get(scope, task)
        for _ in range(_RENEWALS):
            _check_pending(stored)
            ended = stored.model_copy(update={"status": status, "decision": decision})
            ending: list[Write] = [self._ending(scope, ended), *inbox.left(scope, stored)]
            try:
                standing.close_wait(self._items, scope, stored.run, stored.workflow, ending)
            except Refused as refused:
                if refused.reasons[0].item is None:
                    raise _missing(task) from refused
                stored = self._record(scope, decoded(refused.reasons[0].item))
                if voted is not None:
                    _check_pending(stored)
                    raise _stale(stored, voted) from refused
            else:
                return ended.model_copy(update={"revision": stored.revision + 1})
        raise ServiceUnavailable(f"task {task} changes too fast")

    def mark_answered(self, scope: Scope, task: TaskId, token: str) -> None:
        """Note that the answer for `token` was taken; nothing if the token has changed."""
        update = Update(
            keys.task(scope, task),
            set={"answered": True},
            add={"revision": 1},
            remove=("in_sweep", "sweep_at"),
            when=(equals("token", token),),
        )
        try:
            self._items.update(update)
        except Refused as refused:
            if refused.reasons[0].item is None:
                raise _missing(task) from refused

    def amend(self, scope: Scope, before: HumanTask, after: HumanTask) -> HumanTask:
        """Write a pending task that stays one, in the inboxes of its assignees and in no other."""
        item = self._bodies.item(scope, after, _place(after)) | _attended(scope, after)
        pending = equals("status", str(TaskStatus.PENDING))
        same = equals("revision", before.revision)
        update = changes(keys.task(scope, after.id), item, when=(same, pending))
        if after.attention is None:
            update = replace(update, remove=(*update.remove, "in_sweep", "sweep_at"))
        try:
            self._items.transact([update, *inbox.moved(scope, before, after)])
        except Refused as refused:
            if refused.reasons[0].item is None:
                raise _missing(after.id) from refused
            stored = self._record(scope, decoded(refused.reasons[0].item))
            _check_pending(stored)
            raise _stale(stored, before) from refused
        return after.model_copy(update={"revision": before.revision + 1})

    def inbox(
        self, scope: Scope, names: Sequence[str], *, cursor: str | None = None, limit: int = 50
    ) -> Page[HumanTask]:
        """Return a page of pending tasks of these assignees, the newest first."""
        found = inbox.page(self._items, scope, names, cursor=cursor, limit=limit)
        places = [keys.task(scope, TaskId(str(entry["task"]))) for entry in found.items]
        items = self._items.batch(places)
        tasks = [self._record(scope, items[place]) for place in places if place in items]
        return Page([task for task in tasks if task.status is TaskStatus.PENDING], found.cursor)

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return the task; raises NotFound."""
        item = self._items.get(keys.task(scope, task))
        if item is None:
            raise _missing(task)
        return self._record(scope, item)

    def of_run(self, scope: Scope, run: RunId) -> Sequence[HumanTask]:
        """Return all tasks of a run as they are now, the oldest first."""
        named = self._items.query(Range(keys.run(scope, run).pk, prefix=keys.TASK_OF_RUN))
        places = [keys.task(scope, TaskId(str(entry["task"]))) for entry in named]
        found = self._items.batch(places)
        return [self._record(scope, found[place]) for place in places if place in found]

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        """Return a page of tasks, the newest first; short by those that end meanwhile."""
        wanted = Range(
            keys.tasks_by_status(scope, status), index=tables.BY_STATUS, newest_first=True
        )
        found = listing.page(self._items, wanted, cursor=cursor, limit=limit)
        tasks = [self._record(scope, item) for item in found.items]
        return Page([task for task in tasks if task.status is status], found.cursor)

    def unanswered(self, scope: Scope) -> Iterator[HumanTask]:
        """Yield tasks that are over while their answer was not taken."""
        wanted = Range(keys.tasks_unanswered(scope), index=tables.SWEEP)
        for task in self._everything(scope, wanted):
            if not task.answered:
                yield task

    def overdue(self, scope: Scope, now: datetime) -> Iterator[HumanTask]:
        """Yield pending tasks that need attention since `now` or before, the longest first."""
        until = f"{instant(now)}#~"  # the tilde is behind every character of an id
        wanted = Range(keys.tasks_due(scope), index=tables.SWEEP, until=until)
        for task in self._everything(scope, wanted):
            if task.status is TaskStatus.PENDING:
                yield task

    def _replace_token(
        self, scope: Scope, existing: HumanTask, step: Step, waiting: Put
    ) -> HumanTask:
        """Give an existing task the token of `step`; refused if it ends at the same moment."""
        renewed = existing.model_copy(
            update={"token": step.token or "", "answered": False, "revision": existing.revision + 1}
        )
        token = Update(
            keys.task(scope, existing.id),
            set=_beside(scope, renewed),
            add={"revision": 1},
            when=(equals("status", str(existing.status)),),
        )
        run_open = Check(keys.run(scope, existing.run), when=(among("status", standing.OPEN),))
        try:
            self._items.transact([token, waiting, run_open])
        except Refused as refused:
            raise _unopened(refused, step) from refused
        return renewed

    def _everything(self, scope: Scope, wanted: Range) -> Iterator[HumanTask]:
        for item in listing.everything(self._items, wanted):
            yield self._record(scope, item)

    def _created(self, scope: Scope, task: HumanTask) -> Item:
        return {
            **self._bodies.item(scope, task, _place(task)),
            **_beside(scope, task),
            "listed_at": keys.listed_at(task.created, task.id),
        }

    def _ending(self, scope: Scope, ended: HumanTask) -> Update:
        item = self._bodies.item(scope, ended, _place(ended)) | _beside(scope, ended)
        del item["revision"], item["token"], item["answered"]
        pending = equals("status", str(TaskStatus.PENDING))
        same = equals("revision", ended.revision)
        update = changes(keys.task(scope, ended.id), item, when=(pending, same))
        return replace(update, add={"revision": 1})

    def _record(self, scope: Scope, item: Item) -> HumanTask:
        task = self._bodies.record(scope, item, HumanTask)
        return task.model_copy(
            update={
                "status": TaskStatus(str(item["status"])),
                "token": item["token"],
                "answered": item["answered"],
            }
        )


def _beside(scope: Scope, task: HumanTask) -> Item:
    """Return what stands beside the body; swept are pending tasks by attention, ended by answer."""
    item: Item = {
        "status": str(task.status),
        "token": task.token,
        "answered": task.answered,
        "in_status": keys.tasks_by_status(scope, task.status),
    }
    if task.status is not TaskStatus.PENDING:
        at = task.decision.at if task.decision else task.created
        return item | _swept(keys.tasks_unanswered(scope), at, task)
    return item | _attended(scope, task)


def _attended(scope: Scope, task: HumanTask) -> Item:
    at = task.attention
    return _swept(keys.tasks_due(scope), at, task) if at is not None else {}


def _swept(partition: str, at: datetime, task: HumanTask) -> Item:
    return {"in_sweep": partition, "sweep_at": keys.listed_at(at, task.id)}


def _named_by_run(scope: Scope, task: HumanTask) -> Put:
    return Put(keys.task_of_run(scope, task.run, task.created, task.id), {"task": task.id})


def _place(task: HumanTask) -> str:
    return f"runs/{task.run}"


def _missing(task: TaskId) -> NotFound:
    return NotFound(f"there is no task {task}", remedy="Look at the list of tasks.")


def _unopened(refused: Refused, step: Step) -> Conflict | NotFound:
    """Return why a wait could not be opened: of the task, the step and the run, in this order."""
    of_task, of_step, of_run, *_ = refused.reasons
    if of_task.failed:
        return Conflict(f"the task of step {step.key.text} in run {step.run} ends at this moment")
    if of_step.failed:
        return step_conflict(step)
    return standing.not_open(step.run, of_run)


def _check_pending(task: HumanTask) -> None:
    if task.status is not TaskStatus.PENDING:
        how = f" at port '{task.decision.port}'" if task.decision else ""
        who = f" by {task.decision.by}" if task.decision and task.decision.by else ""
        when = f", {instant(task.decision.at)}" if task.decision else ""
        raise Conflict(
            f"task {task.id} '{task.title}' is over: {task.status}{how}{who}{when}",
            remedy="Look at the run to see what followed.",
        )


def _stale(stored: HumanTask, seen: HumanTask) -> Stale:
    return Stale(f"task {stored.id} '{stored.title}' has changed meanwhile", stored, seen.revision)
