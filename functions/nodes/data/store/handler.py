"""Values that outlive the run."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, RootModel

from stellwerk.catalogue.model import Effect
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonValue


class Store(Parameters):
    """Parameters."""

    operation: Literal["get", "set", "delete", "increment"] = Field(
        default="get", description="What to do", examples=["increment"]
    )
    key: str = Field(
        min_length=1, max_length=200, description="The value's name", examples=["last_invoice"]
    )
    value: JsonValue = Field(
        default=None,
        description="What `set` writes, and what `get` returns where there is nothing",
        examples=[4711],
    )
    by: int | float = Field(
        default=1, description="How much `increment` adds", examples=[1], allow_inf_nan=False
    )


class Value(RootModel[JsonValue]):
    """The value after the operation; null after `delete`."""

    model_config = ConfigDict(json_schema_extra={"examples": [4712]})


@step(
    title="Store",
    effect=Effect.WRITE,
    idempotent=True,
    extra={"repeatable_when": {"operation": ["get", None]}},
)
def handler(parameters: Store, work: Work) -> Value:
    """Read, write, delete or count up a small value that all runs of the workflow share."""
    values, place = work.bench.key_values, (work.scope, work.workflow, parameters.key)
    match parameters.operation:
        case "get":
            found = values.get(*place)
            return Value(parameters.value if found is None else found)
        case "set":
            values.put(*place, parameters.value)
            return Value(parameters.value)
        case "delete":
            values.delete(*place)
            return Value(None)
        case "increment":
            return Value(values.increment(*place, parameters.by, once=work.idempotency_key))
