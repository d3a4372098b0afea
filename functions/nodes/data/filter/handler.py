"""Some items of a list."""

from __future__ import annotations

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonValue


class Filter(Parameters):
    """Parameters."""

    items: list[JsonValue] = Field(description="The list", examples=["{{ $nodes.order.lines }}"])
    condition: str = Field(
        min_length=1,
        description="JSONata that gives true for the items to keep: `$item`, `$index`",
        examples=["$item.quantity > 0"],
        json_schema_extra={"x-raw": True},
    )


class Kept(RootModel[list[JsonValue]]):
    """The items that were kept, in their order."""

    model_config = ConfigDict(json_schema_extra={"examples": [[{"quantity": 2}]]})


@step(title="Filter")
def handler(parameters: Filter, work: Work) -> Kept:
    """Keep the items for which a condition holds."""
    evaluator = work.evaluator
    kept: list[JsonValue] = []
    for index, item in enumerate(parameters.items):
        holds = evaluator.value(parameters.condition, "condition", item=item, index=index)
        if not isinstance(holds, bool):
            raise InvalidParameters(
                f"Node {work.node}, parameter condition: gives {holds!r:.80} for item {index}, "
                "not true or false.",
                remedy="Compare with something, such as $item.quantity > 0.",
            )
        if holds:
            kept.append(item)
    return Kept(kept)
