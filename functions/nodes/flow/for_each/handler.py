"""The same steps for every item."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.looping import for_each
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import LoopLimitExceeded
from stellwerk.kernel.json import JsonObject, JsonValue


class ForEach(Parameters):
    """Parameters."""

    items: list[JsonValue] = Field(description="The items", examples=["{{ $nodes.order.lines }}"])
    concurrency: int = Field(
        default=1, ge=1, le=40, description="How many items at the same time", examples=[5]
    )
    max_items: int = Field(
        default=1000, ge=1, le=100_000, description="More items are an error", examples=[200]
    )
    on_item_error: Literal["stop", "collect"] = Field(
        default="stop",
        description="An item fails: fail the loop, or note the error and go on",
        examples=["collect"],
    )


class Collected(Result):
    """What has become of the items, in their order; both lists have one entry per item."""

    items: list[JsonValue] = Field(
        description="The value of each item's last node; null where it failed",
        examples=[[{"total": 12}, None]],
    )
    errors: list[JsonObject | None] = Field(
        description="The error of each item; null where there is none",
        examples=[[None, {"error": {"type": "NotFound", "message": "no such article"}}]],
    )


@for_each(title="For each", result=Collected)
def handler(parameters: ForEach, work: Work) -> list[JsonValue]:
    """Run the steps inside once per item, one after the other or several at a time."""
    count = len(parameters.items)
    if count > parameters.max_items:
        raise LoopLimitExceeded(
            f"Loop {work.node} was given {count} items; it allows {parameters.max_items}.",
            remedy="Give it fewer items, or raise `max_items`.",
        )
    return parameters.items
