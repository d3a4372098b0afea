"""Two ways to go on."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.declare import Fired, Given, Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work


class If(Parameters):
    """Parameters."""

    condition: bool = Field(
        description="What decides; an expression that gives true or false",
        examples=["{{ $input.amount > 1000 }}"],
    )


@step(title="If", ports=("true", "false"))
def handler(parameters: If, work: Work) -> Fired[Given]:
    """Go on at port `true` or `false`. The value is the node's input."""
    return Fired("true" if parameters.condition else "false", Given(work.input))
