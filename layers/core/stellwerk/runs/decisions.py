"""Answers to tasks: checked against what was asked, counted, and handed on to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.errors import BadInput, Forbidden
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonValue, dumps
from stellwerk.runs.ballots import REJECTED, Vote
from stellwerk.runs.deciders import Capacity
from stellwerk.runs.forms import check_form
from stellwerk.runs.model import Decision, Delegation, HumanTask
from stellwerk.runs.uploads import handed_in
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope

MAX_DATA = 256 * 1024
"""Bytes of JSON that a decision may carry; larger things are uploaded and referred to."""
MAX_COMMENT = 4000
"""Characters of a comment."""


@dataclass(frozen=True)
class Answer:
    """What someone says to a task. `token`, if given, must be the one with which it waits."""

    port: str
    data: JsonValue = None
    comment: str = ""
    token: str | None = None


def checked(world: World, scope: Scope, task: HumanTask, answer: Answer) -> JsonValue:
    """Return the data of an answer as they are handed on; raise what is wrong with the answer."""
    _check(task, answer)
    data = _unsaid(task) if answer.data is None else answer.data
    size = len(dumps(data).encode())
    if size > MAX_DATA:
        raise BadInput(
            f"The data of a decision may have {MAX_DATA} bytes as JSON; this has {size}.",
            remedy="Upload large content as a file and hand in its address.",
        )
    of_no_use = task.kind == "review" and answer.port == REJECTED
    if task.form is None or of_no_use:
        return data
    data, faults = handed_in(world.uploads, scope, data) if task.kind == "upload" else (data, [])
    check_form(task.form, data, faults)
    return data


def decided(votes: Sequence[Vote], port: str) -> Decision:
    """Return the decision to which votes have come: by the last one, with what it says of `port`.

    Data and comment are those of the last vote for the port.
    """
    last = votes[-1]
    said = next((vote for vote in reversed(votes) if vote.port == port), None)
    return Decision(
        port=port,
        data=said.data if said else None,
        comment=said.comment if said else "",
        by=last.by,
        on_behalf_of=last.on_behalf_of,
        at=last.at,
    )


def handed(task: HumanTask, who: Capacity, to: UserId, at: datetime) -> HumanTask:
    """Return the task as it waits for `to` instead of `who`: of a quorum the others stay."""
    others: list[str] = []
    if task.quorum is not None:
        gone = {name for person in who.people for name in (person, f"user:{person}")}
        others = [one for one in task.assignees if one not in gone]
    assignees = tuple(dict.fromkeys([*others, f"user:{to}"]))
    delegation = Delegation(by=who.by, to=to, at=at)
    changes = {"assignees": assignees, "delegations": (*task.delegations, delegation)}
    return task.model_copy(update=changes)


def _check(task: HumanTask, answer: Answer) -> None:
    if answer.token is not None and answer.token != task.token:
        raise Forbidden(
            f"This link does not belong to task {task.id} as it waits now.",
            remedy="Open the task in the inbox and decide there.",
        )
    if answer.port not in task.ports:
        raise BadInput(
            f"Task {task.id} has no outcome '{answer.port}'. It has: {', '.join(task.ports)}.",
            remedy="Choose one of these.",
        )
    if len(answer.comment) > MAX_COMMENT:
        raise BadInput(
            f"A comment may have {MAX_COMMENT} characters; this has {len(answer.comment)}.",
            remedy="Shorten it.",
        )


def _unsaid(task: HumanTask) -> JsonValue:
    """Return what a decision without data hands in."""
    if task.kind == "review":
        return task.value
    return {} if task.form is not None else None
