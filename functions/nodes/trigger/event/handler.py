"""A run started by an event."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, WithJsonSchema, field_validator

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.schemas import check_payload
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.patterns import check_pattern

_RULE: JsonObject = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "object", "minProperties": 1, "maxProperties": 1},
    ]
}
_PATTERN: JsonObject = {
    "type": "object",
    "minProperties": 1,
    "properties": {"$or": {"type": "array", "minItems": 2, "items": {"type": "object"}}},
    "additionalProperties": {
        "anyOf": [
            {"type": "array", "minItems": 1, "items": _RULE},
            {"type": "object", "minProperties": 1},
        ]
    },
}


class Waiting(Parameters):
    """Parameters."""

    pattern: Annotated[JsonObject, WithJsonSchema(_PATTERN)] = Field(
        description="Which events start a run, as in EventBridge: fields `source`, `type`, `data`",
        examples=[{"source": ["shop"], "data": {"amount": [{"numeric": [">", 100]}]}}],
    )
    schema_: JsonObject | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the event's data",
        examples=[{"type": "object", "required": ["amount"]}],
    )

    @field_validator("pattern")
    @classmethod
    def _readable(cls, pattern: JsonObject) -> JsonObject:
        try:
            check_pattern(pattern)
        except BadInput as fault:
            raise ValueError(fault.message) from None
        return pattern


class Occurred(Result):
    """The event. Started by hand with anything else, that is its data."""

    id: str = Field(
        default="", description="Names the event", examples=["shop/01kb2c3d4e5f6g7h8j9k0m1n2p"]
    )
    source: str = Field(default="", description="Where it happened", examples=["shop"])
    type: str = Field(default="", description="What happened", examples=["order.placed"])
    time: str = Field(default="", description="When, in UTC", examples=["2026-12-01T06:30:00.000Z"])
    data: JsonValue = Field(default=None, description="More of it", examples=[{"amount": 120}])


@step(title="Event", kind=Kind.TRIGGER)
def handler(parameters: Waiting, work: Work) -> Occurred:
    """Start when an event comes over the bus that fits the pattern."""
    given = work.input
    whole = isinstance(given, dict) and given.keys() == set(Occurred.model_fields)
    if whole:
        event = Occurred.model_validate(given)
    else:
        started = instant(datetime.fromisoformat(work.run.started))
        event = Occurred(time=started, data=given)
    check_payload(event.data, parameters.schema_)
    return event
