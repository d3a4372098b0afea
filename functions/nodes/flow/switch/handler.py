"""Several ways to go on."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.declare import Fired, Given, Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work


class Case(Parameters):
    """One way."""

    port: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,39}$", description="Its port", examples=["urgent"]
    )
    condition: bool = Field(
        description="Whether it is taken; an expression that gives true or false",
        examples=["{{ $input.priority = 1 }}"],
    )


class Switch(Parameters):
    """Parameters."""

    cases: list[Case] = Field(
        min_length=1,
        max_length=50,
        description="The ways in order: the first whose condition holds is taken",
        examples=[[{"port": "urgent", "condition": "{{ $input.priority = 1 }}"}]],
    )


@step(title="Switch", ports=("default",), ports_from="cases")
def handler(parameters: Switch, work: Work) -> Fired[Given]:
    """Go on at the port of the first case that holds, else at `default`; hand on the input."""
    ports = (case.port for case in parameters.cases if case.condition)
    return Fired(next(ports, "default"), Given(work.input))
