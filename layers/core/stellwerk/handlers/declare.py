"""From a function and its two models to the declaration that everything else is derived from.

A type's name is its folder: `nodes/flow/for_each/handler.py` declares `flow.for_each`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel

from stellwerk.catalogue.model import PLATFORM_TRIES, Effect, Kind, NodeType
from stellwerk.kernel.errors import STORE_ERRORS
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.graph import OUT_PORT


class Parameters(BaseModel):
    """Base of every parameters model: exact types, no unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Result(BaseModel):
    """Base of every result model: what a node's value is."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Parameters)
R = TypeVar("R", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class Fired(Generic[R]):
    """A result on a named port, from a node with more than one."""

    port: str
    value: R


@dataclass(frozen=True)
class Traits:
    """What a decorator says of a node type, besides what its function and models say."""

    title: str
    kind: Kind = Kind.STEP
    effect: Effect = Effect.READ
    idempotent: bool = False
    ports: tuple[str, ...] = (OUT_PORT,)
    ports_from: str | None = None
    retry: tuple[str, ...] | None = None
    attempts: int = PLATFORM_TRIES
    timeout: int = 30
    connection: str | None = None
    node: bool = True
    tool: bool = False
    aliases: tuple[str, ...] = ()
    extra: JsonObject | None = None


class Given(RootModel[JsonValue]):
    """The node's own input, handed on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"amount": 1250, "currency": "CHF"}]})


def parameters_of(function: Callable[..., object]) -> type[P]:
    """Return the parameters model that `function(parameters, work)` is annotated with."""
    model: type[P] = _hints(function)[next(iter(inspect.signature(function).parameters))]
    return model


def result_of(function: Callable[..., object]) -> type[BaseModel]:
    """Return the result model that `function` is annotated to return, fired or not."""
    return _result_model(_hints(function)["return"])


def _hints(function: Callable[..., object]) -> dict[str, Any]:
    return typing.get_type_hints(function)


def _result_model(hint: object) -> type[BaseModel]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    arguments = typing.get_args(hint)
    if not arguments:
        raise TypeError(f"A handler returns a pydantic model or Fired[model], not {hint!r}.")
    return _result_model(arguments[0])


def declare(
    function: Callable[..., object],
    traits: Traits,
    *,
    parameters: type[BaseModel],
    result: type[BaseModel],
) -> NodeType:
    """Return the declaration of the type in whose folder `function` is written."""
    schema = parameters.model_json_schema()
    shape = result.model_json_schema(mode="serialization")
    module = function.__module__
    return NodeType(
        type=".".join(module.split(".")[1:-1]),
        kind=traits.kind,
        title=traits.title,
        description=inspect.getdoc(function) or "",
        effect=traits.effect,
        idempotent=traits.idempotent,
        ports=traits.ports,
        ports_from=traits.ports_from,
        retry=traits.retry if traits.retry is not None else STORE_ERRORS,
        attempts=traits.attempts,
        timeout=traits.timeout,
        parameters=schema,
        result=shape,
        handler=f"{module}.handler",
        connection=traits.connection,
        node=traits.node,
        tool=traits.tool,
        aliases=traits.aliases,
        sample=sample_of(shape),
        extra=traits.extra or {},
    )


def sample_of(schema: JsonObject) -> JsonValue:
    """Return the first example of a result's schema, or one made of its fields' first examples."""
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return None
    return {
        name: sample_of(field) if isinstance(field, dict) else None
        for name, field in properties.items()
    }
