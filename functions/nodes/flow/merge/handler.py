"""One value from several."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue, canonical


class Merge(Parameters):
    """Parameters."""

    mode: Literal["object", "append", "by_key", "first"] = Field(
        default="object",
        description="`object`: fields by predecessor; `append`: one list of all values; `by_key`: "
        "one list of objects, those with equal keys joined; `first`: the first value there is",
        examples=["append"],
    )
    order: list[str] = Field(
        default_factory=list,
        description="Keys of predecessors, the first wins; those not named follow by their key",
        examples=[["mail", "letter"]],
    )
    key: str = Field(
        default="", description="The field that `by_key` compares", examples=["customer"]
    )


class Merged(RootModel[JsonValue]):
    """The merged value."""

    model_config = ConfigDict(json_schema_extra={"examples": [[{"customer": 1}, {"customer": 2}]]})


@step(title="Merge")
def handler(parameters: Merge, work: Work) -> Merged:
    """Make one value of those branches that ran, never by which came first."""
    inputs = _in_order(work.inputs, parameters.order)
    if parameters.mode == "object":
        return Merged({**inputs})
    if parameters.mode == "first":
        return Merged(next(iter(inputs.values()), None))
    entries = [entry for value in inputs.values() for entry in _listed(value)]
    if parameters.mode == "append":
        return Merged(entries)
    return Merged(_joined(entries, parameters.key, work))


def _in_order(inputs: dict[str, JsonValue], order: list[str]) -> dict[str, JsonValue]:
    named = [key for key in dict.fromkeys(order) if key in inputs]
    others = sorted(key for key in inputs if key not in named)
    return {key: inputs[key] for key in (*named, *others)}


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _joined(entries: list[JsonValue], key: str, work: Work) -> list[JsonValue]:
    """Join objects with equal values of `key`; where fields differ the first object wins."""
    found: dict[str, JsonObject] = {}
    for entry in entries:
        if not key or not isinstance(entry, dict) or key not in entry:
            raise InvalidParameters(
                f"Node {work.node}: every entry must be an object with the field '{key}'.",
                remedy="Name the field in `key`, and give it lists of objects that have it.",
            )
        same = canonical(entry[key])
        found[same] = {**entry, **found.get(same, {})}
    return list(found.values())
