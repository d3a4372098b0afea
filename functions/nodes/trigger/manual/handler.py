"""A run started by hand."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue


class Manual(Parameters):
    """Parameters."""

    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the payload; a payload that does not fit starts no work",
        examples=[{"type": "object", "required": ["amount"]}],
    )


class Payload(RootModel[JsonValue]):
    """The payload that the run was started with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"amount": 1250}]})


@step(title="Started by hand", kind=Kind.TRIGGER)
def handler(parameters: Manual, work: Work) -> Payload:
    """Start a run by hand, from the command line, the editor or another program."""
    check_payload(work.input, parameters.schema_)
    return Payload(work.input)
