"""A run started by another workflow."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue


class Called(Parameters):
    """Parameters."""

    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of what the calling workflow must hand over",
        examples=[{"type": "object", "required": ["customer"]}],
    )


class Handed(RootModel[JsonValue]):
    """What the calling workflow has handed over."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"customer": "Muster AG"}]})


@step(title="Called by a workflow", kind=Kind.TRIGGER)
def handler(parameters: Called, work: Work) -> Handed:
    """Start when another workflow calls this one as its sub-workflow."""
    check_payload(work.input, parameters.schema_)
    return Handed(work.input)
