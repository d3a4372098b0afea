"""A value to look at and correct."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.asking import Answered, Asking
from stellwerk.handlers.schemas import checked_schema
from stellwerk.handlers.waiting import question
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.asking import Question


class Review(Asking):
    """Parameters."""

    value: JsonValue = Field(
        description="The value that is shown and may be edited", examples=["{{ $nodes.extract }}"]
    )
    form: JsonObject | None = Field(
        default=None,
        description="JSON Schema that the edited value must fit",
        examples=[{"type": "object", "required": ["amount"]}],
    )


@question(title="Review", ports=("accepted", "rejected", "expired"), result=Answered)
def handler(parameters: Review, work: Work) -> Question:
    """Wait until somebody accepts a value, corrected if need be, or rejects it; `data` holds it."""
    form = parameters.form and checked_schema(parameters.form, parameter="form")
    ports = ("accepted", "rejected")
    return parameters.asked("review", ports, work, form=form, value=parameters.value)
