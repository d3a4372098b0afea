"""What all questions to people share: who is asked, how, until when; and how they are answered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.moments import moment_of
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.tasks import Question


class Asking(Parameters):
    """Parameters of every question."""

    assignees: list[str] = Field(
        min_length=1,
        description="Who may answer: users (`user:anna`) and roles (`role:finance`)",
        examples=[["role:finance"]],
    )
    title: str = Field(
        default="",
        max_length=200,
        description="The question in one line; the node's title if empty",
        examples=["Approve invoice 4711?"],
    )
    description: str = Field(
        default="",
        max_length=20_000,
        description="What whoever answers must know, in Markdown",
        examples=["Supplier **Muster AG**, CHF 1250.00"],
    )
    due: str | None = Field(
        default=None,
        description="Until when: a duration (ISO 8601) or a moment with its time zone; "
        "365 days if empty",
        examples=["P3D", "2026-12-24T18:00:00+01:00"],
    )
    on_expire: Literal["cancel", "default"] = Field(
        default="cancel",
        description="Unanswered in time: cancel the run, or go on at port `expired`",
        examples=["default"],
    )
    default: JsonValue = Field(
        default=None,
        description="The data at port `expired` where `on_expire` is `default`",
        examples=[{"reason": "nobody answered"}],
    )

    def asked(
        self,
        kind: str,
        ports: tuple[str, ...],
        work: Work,
        *,
        form: JsonObject | None = None,
        value: JsonValue = None,
    ) -> Question:
        """Return the question of that kind, whose answers are `ports`."""
        now = work.execution.site.now
        return Question(
            kind=kind,
            title=self.title or work.title,
            description=self.description,
            assignees=tuple(self.assignees),
            ports=ports,
            form=form,
            value=value,
            due=None if self.due is None else moment_of(self.due, now),
            on_expire=self.on_expire,
            default=self.default,
        )


class Answered(Result):
    """How a question was answered, by whom and when."""

    decision: str = Field(description="The port that was chosen", examples=["approved"])
    data: JsonValue = Field(
        default=None,
        description="What was handed in with it; at port `expired` the default",
        examples=[{"comment": "as agreed"}],
    )
    by: str | None = Field(default=None, description="Who answered", examples=["anna"])
    at: str = Field(description="When, in UTC", examples=["2026-12-01T10:00:00.000Z"])
