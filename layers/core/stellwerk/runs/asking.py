"""What a waiting step asks of people, and the task that it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from stellwerk.kernel.errors import Forbidden, InvalidParameters
from stellwerk.kernel.ids import RunId, UserId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.calls import task_id
from stellwerk.runs.links import addresses
from stellwerk.runs.model import HumanTask, Run, Step
from stellwerk.runs.notes import Escalation, News
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope

_DEEPEST = 30
"""Runs between one that asks and the one that someone has started."""


@dataclass(frozen=True)
class Question:
    """What a waiting step asks. `ports` are a person's choices, `expired` not among them.

    Durations count from when the task opens; negative ones end when it is due.
    """

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
    quorum: Quorum | None = None
    four_eyes: bool = False
    """Whether it must not be decided by whoever has started the run."""
    reminders: tuple[timedelta, ...] = ()
    escalate_after: timedelta | None = None
    escalate_to: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """All who are asked, at once or later."""
        return (*self.assignees, *self.escalate_to)


def check_question(world: World, scope: Scope, question: Question) -> None:
    """Raise Forbidden where guests are asked and may not be, InvalidParameters where they cannot.

    Where files are handed in there are no guests: they cannot upload any.
    """
    guests = addresses(question.people)
    if not guests:
        return
    if world.guests is None or not world.guests.allowed(scope):
        raise Forbidden(
            f"The question '{question.title}' asks {', '.join(guests)}, and guests may not decide "
            "in this mandate.",
            remedy="Let the mandate allow guests, or ask users and roles.",
        )
    if question.kind == "upload":
        raise InvalidParameters(
            f"The question '{question.title}' asks {', '.join(guests)} for files, and guests "
            "cannot upload any.",
            remedy="Ask users or roles.",
        )


def asked(world: World, scope: Scope, step: Step, question: Question, token: str) -> HumanTask:
    """Return the task by which `step` asks, under `token`."""
    run, now = world.runs.get(scope, step.run), world.clock.now()
    return HumanTask(
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
        created=now,
        due=question.due,
        on_expire=question.on_expire,
        default=question.default,
        token=token,
        quorum=question.quorum,
        not_by=tuple(dict.fromkeys(_starters(world, scope, run))) if question.four_eyes else (),
        news=_news(question, now),
    )


def _starters(world: World, scope: Scope, run: Run) -> Iterator[UserId]:
    """Yield who has started the run: the run at the root of it, and what any of them replays."""
    seen: set[RunId] = set()
    open_ = [run]
    while open_ and len(seen) < _DEEPEST:
        one = open_.pop()
        if one.id in seen:
            continue
        seen.add(one.id)
        before = [one.parent.run] if one.parent else []
        if not before:
            yield one.user
        before += [one.origin] if one.origin else []
        open_ += [world.runs.get(scope, other) for other in before]


def _news(question: Question, now: datetime) -> News:
    moments = {_moment(offset, question, now) for offset in question.reminders}
    reminders = tuple(sorted(at for at in moments if _between(at, question, now)))
    escalation = None
    if question.escalate_after is not None and question.escalate_to:
        at = max(_moment(question.escalate_after, question, now), now)
        if _between(at, question, now):
            escalation = Escalation(at=at, to=question.escalate_to)
    return News(reminders=reminders, escalation=escalation)


def _moment(offset: timedelta, question: Question, now: datetime) -> datetime:
    from_end = offset < timedelta(0) and question.due is not None
    return (question.due if from_end and question.due else now) + offset


def _between(at: datetime, question: Question, now: datetime) -> bool:
    """Say whether a moment lies within the time that the task has."""
    return now <= at and (question.due is None or at < question.due)
