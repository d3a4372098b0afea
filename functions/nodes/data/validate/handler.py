"""A value against a JSON Schema."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Fired, Parameters
from stellwerk.handlers.schemas import checked_schema, faults_of
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue


class Validate(Parameters):
    """Parameters."""

    value: JsonValue = Field(description="The value", examples=["{{ $input }}"])
    schema_: JsonObject = Field(
        alias="schema",
        description="The JSON Schema (draft 2020-12)",
        examples=[{"type": "object", "required": ["amount"]}],
    )


class Validated(RootModel[JsonValue]):
    """At port `valid` the value; at `invalid` an object of the value and its `errors`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "value": {},
                    "errors": [
                        {
                            "path": "$",
                            "rule": "required",
                            "message": "'amount' is a required property",
                        }
                    ],
                }
            ]
        }
    )


@step(title="Validate", ports=("valid", "invalid"))
def handler(parameters: Validate, work: Work) -> Fired[Validated]:
    """Check a value against a JSON Schema; the port says whether it fits, the errors why not."""
    faults = faults_of(parameters.value, checked_schema(parameters.schema_, parameter="schema"))
    if not faults:
        return Fired("valid", Validated(parameters.value))
    return Fired("invalid", Validated({"value": parameters.value, "errors": [*faults]}))
