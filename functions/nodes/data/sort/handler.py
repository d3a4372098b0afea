"""A list in order."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.ordering import Comparable, comparable
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonValue


class Criterion(Parameters):
    """What is compared."""

    expression: str = Field(
        min_length=1, description="JSONata of an item: `$item`", examples=["$item.date"]
    )
    descending: bool = Field(
        default=False, description="Whether the largest comes first", examples=[True]
    )


class Sort(Parameters):
    """Parameters."""

    items: list[JsonValue] = Field(description="The list", examples=["{{ $nodes.order.lines }}"])
    by: list[Criterion] = Field(
        min_length=1,
        max_length=10,
        description="What is compared: the first that differs decides",
        examples=[[{"expression": "$item.date", "descending": True}]],
        json_schema_extra={"x-raw": True},
    )


class Sorted(RootModel[list[JsonValue]]):
    """The items in their new order; equal ones stay as they were."""

    model_config = ConfigDict(json_schema_extra={"examples": [[{"date": "2026-12-01"}]]})


@step(title="Sort")
def handler(parameters: Sort, work: Work) -> Sorted:
    """Put the items of a list in order; equal items keep theirs."""
    order = list(range(len(parameters.items)))
    for number, criterion in reversed(list(enumerate(parameters.by))):
        keys = _keys(parameters.items, criterion, f"by[{number}].expression", work)
        order.sort(key=keys.__getitem__, reverse=criterion.descending)
    return Sorted([parameters.items[index] for index in order])


def _keys(
    items: list[JsonValue], criterion: Criterion, parameter: str, work: Work
) -> list[Comparable]:
    evaluator = work.evaluator
    values = [
        evaluator.value(criterion.expression, parameter, item=item, index=index)
        for index, item in enumerate(items)
    ]
    return comparable(values, place=f"Node {work.node}, parameter {parameter}")
