"""Yes or no."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.asking import Answered, Asking
from stellwerk.handlers.schemas import checked_schema
from stellwerk.handlers.waiting import question
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.asking import Question


class Approval(Asking):
    """Parameters."""

    form: JsonObject | None = Field(
        default=None,
        description="JSON Schema of what is handed in with the answer",
        examples=[{"type": "object", "properties": {"comment": {"type": "string"}}}],
    )


@question(title="Approval", ports=("approved", "rejected", "expired"), result=Answered)
def handler(parameters: Approval, work: Work) -> Question:
    """Wait until somebody approves or rejects."""
    form = parameters.form and checked_schema(parameters.form, parameter="form")
    return parameters.asked("approval", ("approved", "rejected"), work, form=form)
