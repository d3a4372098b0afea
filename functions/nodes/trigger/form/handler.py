"""A run started by a form."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue


class Form(Parameters):
    """Parameters."""

    title: str = Field(
        min_length=1, max_length=200, description="Heads the page", examples=["Report a defect"]
    )
    description: str = Field(
        default="", max_length=5000, description="Stands above the fields", examples=["We reply."]
    )
    schema_: JsonObject = Field(
        alias="schema",
        description="JSON Schema of what is asked for: an object whose properties are the fields; "
        "a file has the format `file`",
        examples=[
            {
                "type": "object",
                "required": ["what"],
                "properties": {"what": {"type": "string", "title": "What is broken?"}},
            }
        ],
    )
    access: Literal["public", "signed_in"] = Field(
        default="public",
        description="public: whoever knows the address; signed_in: people of the instance",
        examples=["public"],
    )
    thanks: str = Field(
        default="",
        max_length=2000,
        description="What is shown in the end",
        examples=["Thank you. We will look at it today."],
    )


class Entered(Result):
    """What was entered. Started by hand with anything else, that is the data."""

    data: JsonValue = Field(
        default=None,
        description="What was entered; a file is its `file` id, `name`, `type` and `size`",
        examples=[{"what": "The door does not close."}],
    )
    by: str | None = Field(
        default=None, description="Who, where people sign in", examples=["u-demo-user"]
    )
    language: str = Field(default="en", description="Of the page: de or en", examples=["de"])


@step(title="Form", kind=Kind.TRIGGER)
def handler(parameters: Form, work: Work) -> Entered:
    """Start when somebody sends a form that anybody can open who knows its address."""
    given = work.input
    whole = (
        isinstance(given, dict) and "data" in given and given.keys() <= set(Entered.model_fields)
    )
    entered = Entered.model_validate(given if whole else {"data": given})
    check_payload(entered.data, parameters.schema_)
    return entered
