"""Another workflow as a step."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.waiting import child_run
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.children import ChildCall


class Subworkflow(Parameters):
    """Parameters."""

    workflow: str = Field(
        min_length=1,
        description="The workflow that is called, by slug or id; it has a trigger `called`",
        examples=["credit-check"],
        json_schema_extra={"x-resource": "workflow"},
    )
    input: JsonValue = Field(
        default=None,
        description="What is handed over to it",
        examples=["{{ {'customer': $input.customer} }}"],
    )


class Output(RootModel[JsonValue]):
    """The output of the workflow that was called."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rating": "A"}]})


@child_run(title="Sub-workflow", result=Output)
def handler(parameters: Subworkflow, work: Work) -> ChildCall:
    """Run another workflow and wait for its end, for a year if need be."""
    return ChildCall(parameters.workflow, parameters.input)
