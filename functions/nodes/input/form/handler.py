"""Fields to fill in."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.asking import Answered, Asking
from stellwerk.handlers.schemas import checked_schema
from stellwerk.handlers.waiting import question
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.asking import Question


class Form(Asking):
    """Parameters."""

    form: JsonObject = Field(
        description="JSON Schema of the data that is asked for",
        examples=[{"type": "object", "properties": {"iban": {"type": "string"}}}],
    )


@question(title="Form", ports=("submitted", "expired"), result=Answered)
def handler(parameters: Form, work: Work) -> Question:
    """Wait until somebody fills in a form; `data` holds what was entered."""
    form = checked_schema(parameters.form, parameter="form")
    return parameters.asked("form", ("submitted",), work, form=form)
