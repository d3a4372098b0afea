"""The end."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, RootModel

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import StoppedWithError
from stellwerk.kernel.json import JsonValue


class Stop(Parameters):
    """Parameters."""

    outcome: Literal["success", "error"] = Field(
        default="success", description="How the run ends", examples=["error"]
    )
    value: JsonValue = Field(
        default=None,
        description="The run's output, where it ends with success",
        examples=["{{ $nodes.total }}"],
    )
    message: str = Field(
        default="The workflow stopped with an error.",
        description="What people read, where it ends with an error",
        examples=["Customer {{ $input.customer }} is blocked"],
    )


class Output(RootModel[JsonValue]):
    """The run's output."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"total": 1250}]})


@step(title="Stop", kind=Kind.STOP, ports=())
def handler(parameters: Stop, work: Work) -> Output:
    """End here: with an error the run fails, with success other branches still finish."""
    if parameters.outcome == "error":
        raise StoppedWithError(parameters.message, remedy=f"Node {work.node} has decided so.")
    return Output(parameters.value)
