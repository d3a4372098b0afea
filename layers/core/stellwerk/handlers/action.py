"""`@action`: an operation of a toolbox, as a node of workflows and, where it says so, as a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from stellwerk.catalogue.model import Effect
from stellwerk.handlers.declare import Parameters, Traits
from stellwerk.handlers.step import Outcome, StepHandler, made
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import RETRYABLE
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.graph import OUT_PORT

P = TypeVar("P", bound=Parameters)
R = TypeVar("R", bound=BaseModel)


def action(
    *,
    title: str,
    effect: Effect,
    idempotent: bool = False,
    connection: str | None = None,
    ports: tuple[str, ...] = (OUT_PORT,),
    retry: tuple[str, ...] | None = None,
    attempts: int = 3,
    timeout: int = 30,
    node: bool = True,
    tool: bool = True,
    aliases: tuple[str, ...] = (),
    repeatable_when: JsonObject | None = None,
) -> Callable[[Callable[[P, Work], Outcome[R]]], StepHandler[P]]:
    """Declare an action of a toolbox.

    `connection` is the kind of account that it needs; `node` and `tool` say who may call it;
    `repeatable_when` names parameters and the values of theirs with which it only reads: a second
    call is harmless, and a dry run makes it.
    """
    traits = Traits(
        title=title,
        effect=effect,
        idempotent=idempotent,
        connection=connection,
        ports=ports,
        attempts=attempts,
        retry=retry if retry is not None else RETRYABLE,
        timeout=timeout,
        node=node,
        tool=tool,
        aliases=aliases,
        extra={"repeatable_when": repeatable_when} if repeatable_when else None,
    )
    return lambda function: made(function, traits)
