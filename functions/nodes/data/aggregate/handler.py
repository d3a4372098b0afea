"""Figures over a list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.ordering import comparable
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Evaluator, Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue, canonical

Operation = Literal["sum", "avg", "min", "max", "count", "first", "last", "list"]
Expressions: TypeAlias = dict[Operation, dict[str, str]]
Member: TypeAlias = tuple[int, JsonValue]


class Aggregate(Parameters):
    """Parameters."""

    items: list[JsonValue] = Field(description="The list", examples=["{{ $nodes.order.lines }}"])
    group_by: str | None = Field(
        default=None,
        min_length=1,
        description="JSONata of an item (`$item`): one result for each of its values",
        examples=["$item.customer"],
        json_schema_extra={"x-raw": True},
    )
    values: Expressions = Field(
        min_length=1,
        description="For each operation (sum, avg, min, max, count, first, last, list) fields of "
        "the result, and JSONata of an item that gives what is counted in; null is left out",
        examples=[{"sum": {"total": "$item.amount"}, "count": {"lines": "$item"}}],
        json_schema_extra={"x-raw": True},
    )


class Figures(RootModel[JsonValue]):
    """The figures; with `group_by` a list of them in order of appearance, each with its `group`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [[{"group": "Muster AG", "total": 42, "lines": 2}]]}
    )


@step(title="Aggregate")
def handler(parameters: Aggregate, work: Work) -> Figures:
    """Calculate sums, averages, extremes and counts of a list, in groups if wanted."""
    calculation = _Calculation(parameters.values, work.evaluator, f"Node {work.node}")
    members = list(enumerate(parameters.items))
    if parameters.group_by is None:
        return Figures(calculation.of(members))
    groups: dict[str, tuple[JsonValue, list[Member]]] = {}
    for index, item in members:
        group = calculation.evaluator.value(parameters.group_by, "group_by", item=item, index=index)
        groups.setdefault(canonical(group), (group, []))[1].append((index, item))
    return Figures([{"group": group, **calculation.of(found)} for group, found in groups.values()])


@dataclass(frozen=True)
class _Calculation:
    """The figures of one group after the other."""

    values: Expressions
    evaluator: Evaluator
    place: str

    def of(self, members: list[Member]) -> JsonObject:
        """Return the figures of `members`."""
        figures: JsonObject = {}
        for operation, fields in self.values.items():
            for field, expression in fields.items():
                parameter = f"values.{operation}.{field}"
                counted = [
                    self.evaluator.value(expression, parameter, item=item, index=index)
                    for index, item in members
                ]
                counted = [value for value in counted if value is not None]
                figures[field] = self._figure(operation, counted, parameter)
        return figures

    def _figure(self, operation: Operation, counted: list[JsonValue], parameter: str) -> JsonValue:
        place = f"{self.place}, parameter {parameter}"
        match operation:
            case "count":
                return len(counted)
            case "list":
                return counted
            case "first" | "last":
                return counted[0 if operation == "first" else -1] if counted else None
            case "min" | "max":
                return _extreme(operation, counted, place)
            case "sum":
                return _sum(_numbers(counted, place))
            case "avg":
                return _sum(_numbers(counted, place)) / len(counted) if counted else None


def _extreme(operation: Literal["min", "max"], counted: list[JsonValue], place: str) -> JsonValue:
    if not counted:
        return None
    keys = comparable(counted, place=place)
    choose = min if operation == "min" else max
    return counted[choose(range(len(keys)), key=keys.__getitem__)]


def _numbers(counted: list[JsonValue], place: str) -> list[int | float]:
    numbers = [n for n in counted if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(numbers) != len(counted):
        raise InvalidParameters(
            f"{place}: not every value is a number.",
            remedy="Turn texts into numbers with $number(...), and leave out what is none.",
        )
    return numbers


def _sum(numbers: list[int | float]) -> int | float:
    """Return the exact sum, rounded once."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    return math.fsum(numbers)
