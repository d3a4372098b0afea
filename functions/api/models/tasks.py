"""Human tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, PageOf, Shown
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs import model as stored

TaskStatus = Literal["pending", "completed", "cancelled", "expired"]


class TaskDecision(Shown):
    """How a task ended."""

    port: str
    data: JsonValue
    by: str | None = Field(description="Who; null: nobody answered in time")
    at: datetime


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
    assignees: list[str] = Field(description="Users as `user:ID`, roles as `role:LABEL`, or `*`")
    ports: list[str] = Field(description="The outcomes to choose from")
    form: JsonObject | None = Field(description="JSON Schema of the data that a decision carries")
    value: JsonValue = Field(description="What a review shows and lets edit")
    created: datetime
    due: datetime | None
    on_expire: Literal["cancel", "default"]
    delegations: list[TaskDelegation] = Field(description="Who handed it on to whom")
    decision: TaskDecision | None

    @classmethod
    def of(cls, task: stored.HumanTask) -> Task:
        """Show a task; the token that wakes its run stays here."""
        end = task.decision
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
            decision=TaskDecision(port=end.port, data=end.data, by=end.by, at=end.at)
            if end
            else None,
        )


class TaskPage(PageOf[Task]):
    """A page of tasks, the newest first."""


class Decide(Body):
    """A decision."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"port": "approved", "data": {"comment": "in order"}}}
    )

    port: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        description="One of the task's ports"
    )
    data: JsonValue = Field(default=None, description="What the task's form asks for")


class Delegate(Body):
    """Who is to decide instead."""

    model_config = ConfigDict(json_schema_extra={"example": {"to": "u-demo-user"}})

    to: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Id of a user")]
