"""Tells people of tasks: when they are asked, reminders, and escalation, which asks others as well.

Each is told once, however often it is looked at: whoever tells takes the task by a conditional
write, tells, and notes that it was told. One who dies in between is followed, once his time is
over, by another, who tells again: better twice than never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.runs.contention import settle
from stellwerk.runs.links import MAIL, addresses, issued, token_of
from stellwerk.runs.model import HumanTask, TaskStatus
from stellwerk.runs.notes import ASKED, ESCALATED, REMINDER, News
from stellwerk.runs.rights import EVERYONE
from stellwerk.runs.world import World
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope

LEASE = timedelta(minutes=5)
"""How long someone may take to tell until another one does."""
KINDS = {ASKED: "task.asked", ESCALATED: "task.escalated", REMINDER: "task.reminder"}
_WORDS = {ASKED: "{}", ESCALATED: "Escalated: {}", REMINDER: "Reminder: {}"}
_PREFIXES = ("user:", "role:", MAIL)


@dataclass(frozen=True)
class Message:
    """Something to be told now: what, of which task, to which of its assignees."""

    what: str
    task: HumanTask
    to: tuple[str, ...]
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    """Of links, by guest."""


class Telling:
    """Tells what is to be told of pending tasks."""

    def __init__(self, world: World) -> None:
        self._world = world

    def begun(self, task: HumanTask) -> tuple[HumanTask, list[Message]]:
        """Return a task that is about to open as its opener takes it, to tell who is asked."""
        if self._world.notices is None:
            return task, []
        now = self._world.clock.now()
        taken = {"asked": True, "telling": now + LEASE}
        task = task.model_copy(update={"news": task.news.model_copy(update=taken)})
        return self._written(task, [ASKED], now)

    def tell(self, scope: Scope, task: HumanTask) -> bool:
        """Tell what is due of a pending task; False if there is nothing, or another one does."""
        now = self._world.clock.now()
        due = [name for name, at in task.news.moments(task.created).items() if at <= now]
        if not due or (task.news.telling is not None and task.news.telling > now):
            return False
        taken, messages = self._taken(task, due, now)
        try:
            self._world.tasks.amend(scope, task, taken)
        except Conflict:
            return False
        self.finish(scope, task.id, messages, due)
        return True

    def handed(self, scope: Scope, task: HumanTask, to: UserId) -> None:
        """Tell a user to whom a task was handed on; if that fails the inbox still has it."""
        if self._world.notices is not None:
            for notice in _notices(scope, Message(ASKED, task, (f"user:{to}",))):
                self._world.notices.notify(scope, notice)

    def finish(
        self, scope: Scope, task: TaskId, messages: Sequence[Message], told: Sequence[str]
    ) -> None:
        """Tell, and note on the task that these were told; of one that is over nothing is noted."""
        if self._world.notices is not None:
            for message in messages:
                for notice in _notices(scope, message):
                    self._world.notices.notify(scope, notice)
        settle(lambda: self._note(scope, task, told))

    def _taken(
        self, task: HumanTask, due: Sequence[str], now: datetime
    ) -> tuple[HumanTask, list[Message]]:
        news = task.news.model_copy(update={"telling": now + LEASE})
        changes: dict[str, object] = {"news": news}
        if ESCALATED in due and news.escalation is not None:
            others = dict.fromkeys([*task.assignees, *news.escalation.to])
            changes["assignees"] = tuple(others)
        taken = task.model_copy(update=changes)
        if self._world.notices is None:
            return taken, []
        return self._written(taken, due, now)

    def _written(
        self, task: HumanTask, due: Sequence[str], now: datetime
    ) -> tuple[HumanTask, list[Message]]:
        """Return the messages, and the task with the links that are in them."""
        messages = []
        for what, to in _told(task, due):
            secrets = {}
            for address in addresses(to):
                news, secrets[address] = issued(task, address, now)
                task = task.model_copy(update={"news": news})
            messages.append(Message(what, task, to, secrets))
        return task, messages

    def _note(self, scope: Scope, task_id: TaskId, told: Sequence[str]) -> None:
        task = self._world.tasks.get(scope, task_id)
        if task.status is TaskStatus.PENDING:
            noted = {"told": (*task.news.told, *told), "telling": None}
            news: News = task.news.model_copy(update=noted)
            self._world.tasks.amend(scope, task, task.model_copy(update={"news": news}))


def _told(task: HumanTask, due: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is told to whom; of reminders that were missed the last one stands for all."""
    answered = {person for vote in task.votes for person in vote.people}
    waiting = tuple(one for one in task.assignees if one.removeprefix("user:") not in answered)
    if ASKED in due:
        yield ASKED, task.assignees
    if any(name.startswith(REMINDER) for name in due):
        yield REMINDER, waiting
    if ESCALATED in due and task.news.escalation is not None:
        yield ESCALATED, task.news.escalation.to


def _notices(scope: Scope, message: Message) -> Iterator[Notice]:
    """Yield one notice to all who have an account, and one to each guest, with the link in it."""
    task = message.task
    here = f"/mandates/{scope.mandate}/instances/{scope.instance}/tasks"
    notice = Notice(
        kind=KINDS[message.what],
        to=tuple(_person(one) for one in message.to if _is_told(one)),
        subject=_WORDS[message.what].format(task.title),
        text=_text(task),
        group=task.workflow,
        link=f"{here}/{task.id}",
        about={
            "task": task.id,
            "run": task.run,
            "workflow": task.workflow,
            "node": task.node,
        },
    )
    if notice.to:
        yield notice
    for address, secret in message.secrets.items():
        to = (address.removeprefix(MAIL),)
        link = f"/tasks/link/{token_of(scope, task.id, secret)}"
        yield replace(notice, to=to, link=link, group=task.id)


def _is_told(assignee: str) -> bool:
    return assignee != EVERYONE and not assignee.startswith(MAIL)


def _person(assignee: str) -> str:
    return assignee if assignee.startswith(_PREFIXES) else f"user:{assignee}"


def _text(task: HumanTask) -> str:
    until = f"Until {instant(task.due)}." if task.due else ""
    return "\n\n".join(part for part in (task.description, until) if part)
