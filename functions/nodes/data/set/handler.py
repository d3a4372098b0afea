"""An object made of fields."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject


class Set(Parameters):
    """Parameters."""

    fields: JsonObject = Field(
        default_factory=dict,
        description="The fields and their values",
        examples=[{"total": "{{ $input.net * 1.081 }}", "currency": "CHF"}],
    )
    keep_input: bool = Field(
        default=False,
        description="Whether the fields are added to those of the input, which is an object",
        examples=[True],
    )


class Fields(RootModel[JsonObject]):
    """The object."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"total": 1351.25}]})


@step(title="Set fields")
def handler(parameters: Set, work: Work) -> Fields:
    """Make an object of fields, or add fields to the input."""
    if not parameters.keep_input:
        return Fields(parameters.fields)
    given = work.input
    if not isinstance(given, dict):
        raise InvalidParameters(
            f"Node {work.node}: `keep_input` needs an object as input, not {given!r:.80}.",
            remedy="Switch it off, or connect a node whose value is an object.",
        )
    return Fields(given | parameters.fields)
