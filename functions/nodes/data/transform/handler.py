"""A value by JSONata."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonValue


class Transform(Parameters):
    """Parameters."""

    expression: str = Field(
        min_length=1,
        description="JSONata that makes the value, from `$input` and other names",
        examples=["$input.lines.(quantity * price)"],
        json_schema_extra={"x-raw": True},
    )


class Transformed(RootModel[JsonValue]):
    """What the expression gives."""

    model_config = ConfigDict(json_schema_extra={"examples": [[12, 30]]})


@step(title="Transform")
def handler(parameters: Transform, work: Work) -> Transformed:
    """Make a new value with a JSONata expression."""
    return Transformed(work.evaluator.here(parameters.expression, "expression"))
