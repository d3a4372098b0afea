"""Human tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, PageOf, Shown
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs import model as stored
from stellwerk.runs.ballots import progress
from stellwerk.runs.decisions import MAX_COMMENT

TaskStatus = Literal["pending", "completed", "cancelled", "expired"]


class TaskDecision(Shown):
    """How a task ended."""

    port: str
    data: JsonValue
    by: str | None = Field(
        description="Who, a guest as `mail:ADDRESS`; null: nobody answered in time"
    )
    at: datetime
    on_behalf_of: str | None = Field(description="For whom, where a deputy answered")
    comment: str


class TaskVote(Shown):
    """One of the answers of which several are needed."""

    port: str
    data: JsonValue
    comment: str
    by: str = Field(description="Who, a guest as `mail:ADDRESS`")
    on_behalf_of: str | None = Field(description="For whom, where a deputy answered")
    at: datetime


class TaskQuorum(Shown):
    """How many answers decide."""

    needed: int = Field(description="Equal answers that decide")
    of: int | None = Field(description="How many people answer at most")
    rule: Literal["rejection", "majority"] = Field(
        description="`rejection`: one `rejected` decides too; `majority`: more than half of `of`"
    )


class TaskEscalation(Shown):
    """Who is asked as well, from when on."""

    at: datetime
    to: list[str]


class TaskDelegation(Shown):
    """That someone handed a task on."""

    by: str
    to: str
    at: datetime


class Task(Shown):
    """A question to a person, while a run waits."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "01kb2c3d4e5f6g7h8j9k0m1n2p",
                "run": "01kb2c3d4e5f6g7h8j9k0m1n2q",
                "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
                "node": "ask",
                "path": "",
                "kind": "approval",
                "status": "pending",
                "title": "Pay 1200?",
                "description": "",
                "assignees": ["role:finance"],
                "ports": ["approved", "rejected"],
                "form": None,
                "value": None,
                "created": "2026-12-01T08:15:00Z",
                "due": None,
                "on_expire": "cancel",
                "delegations": [],
                "decision": None,
                "quorum": None,
                "votes": [],
                "progress": "",
                "not_by": [],
                "reminders": ["2026-12-02T08:15:00Z"],
                "escalation": {"at": "2026-12-03T08:15:00Z", "to": ["role:management"]},
            }
        }
    )

    id: str
    run: str
    workflow: str
    node: str
    path: str
    kind: str = Field(description="approval, form, choice, upload or review")
    status: TaskStatus
    title: str
    description: str = Field(description="Markdown")
    assignees: list[str] = Field(
        description="Users as `user:ID`, roles as `role:LABEL`, guests as `mail:ADDRESS`, or `*`"
    )
    ports: list[str] = Field(description="The outcomes to choose from")
    form: JsonObject | None = Field(description="JSON Schema of the data that a decision carries")
    value: JsonValue = Field(description="What a review shows and lets edit")
    created: datetime
    due: datetime | None
    on_expire: Literal["cancel", "default"]
    delegations: list[TaskDelegation] = Field(description="Who handed it on to whom")
    decision: TaskDecision | None
    quorum: TaskQuorum | None = Field(description="Null: the first answer decides")
    votes: list[TaskVote] = Field(description="The answers so far, where there is a quorum")
    progress: str = Field(description="How far the leading answer is, as `2 of 3`")
    not_by: list[str] = Field(
        description="Who must not decide it, nor be stood in for: whoever has started the run"
    )
    reminders: list[datetime]
    escalation: TaskEscalation | None

    @classmethod
    def of(cls, task: stored.HumanTask) -> Task:
        """Show a task; the token that wakes its run stays here."""
        end, later = task.decision, task.news.escalation
        return cls(
            id=task.id,
            run=task.run,
            workflow=task.workflow,
            node=task.node,
            path=task.path,
            kind=task.kind,
            status=task.status.value,
            title=task.title,
            description=task.description,
            assignees=list(task.assignees),
            ports=list(task.ports),
            form=task.form,
            value=task.value,
            created=task.created,
            due=task.due,
            on_expire=task.on_expire,
            delegations=[TaskDelegation(**dict(one)) for one in task.delegations],
            decision=TaskDecision(**dict(end)) if end else None,
            quorum=TaskQuorum(**dict(task.quorum)) if task.quorum else None,
            votes=[TaskVote(**dict(vote)) for vote in task.votes],
            progress=progress(task.quorum, task.votes),
            not_by=list(task.not_by),
            reminders=list(task.news.reminders),
            escalation=TaskEscalation(at=later.at, to=list(later.to)) if later else None,
        )


class TaskPage(PageOf[Task]):
    """A page of tasks, the newest first."""


class Decide(Body):
    """A decision."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"port": "approved", "data": {"amount": 12}, "comment": "in order"}
        }
    )

    port: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        description="One of the task's ports"
    )
    data: JsonValue = Field(
        default=None,
        description="What the task's form asks for; of an upload `files`: ids of the instance's",
    )
    comment: Annotated[str, Field(max_length=MAX_COMMENT)] = Field(
        default="", description="What you say to it"
    )


class Delegate(Body):
    """Who is to decide instead."""

    model_config = ConfigDict(json_schema_extra={"example": {"to": "u-demo-user"}})

    to: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Id of a user")]
