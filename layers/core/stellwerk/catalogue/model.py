"""The declaration of a node type or action, as compiler, palette, CLI and template read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from stellwerk.kernel.json import JsonObject, JsonValue

PLATFORM_TRIES = 8
"""How often a node that acts on nothing outside is called.

its passing errors are the platform's own, such as a store that does not answer, and are met with
the patience that faults of Lambda get.
"""


class Kind(StrEnum):
    """How the compiler treats a node."""

    TRIGGER = "trigger"  # a run starts here
    STEP = "step"  # one Lambda call, then a port
    DELAY = "delay"  # flow.wait: a call that names a moment, a Wait state, a call that ends it
    WAIT = "wait"  # a person, a mail or a child run answers a task token; may take a year
    FOR_EACH = "for_each"
    WHILE = "while"
    STOP = "stop"  # ends its token; with an error, the run


class Effect(StrEnum):
    """What a node does to the world outside."""

    READ = "read"  # nothing: may run again at will
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True)
class NodeType:
    """One node type or toolbox action.

    `ports` are always there; `ports_from` names a parameter, a list whose entries (a string, or an
    object with a `port`) are further ports that come first. `retry` lists the error names after
    which the compiler lets Step Functions try again. `timeout` is in seconds. `parameters` and
    `result` are JSON Schemas.
    """

    type: str
    kind: Kind
    title: str
    description: str
    effect: Effect
    idempotent: bool
    ports: tuple[str, ...]
    retry: tuple[str, ...]
    timeout: int
    parameters: JsonObject
    result: JsonObject
    handler: str
    ports_from: str | None = None
    attempts: int = 3
    connection: str | None = None
    node: bool = True
    tool: bool = False
    aliases: tuple[str, ...] = ()
    sample: JsonValue = None
    extra: JsonObject = field(default_factory=dict)

    @property
    def function(self) -> str:
        """Its Lambda's name behind the deployment's prefix: `flow.for_each` is `flow-for_each`."""
        return self.type.replace(".", "-")

    @property
    def repeatable(self) -> bool:
        """Whether it may run again after a crash without a person looking first."""
        return self.effect is Effect.READ or self.idempotent

    def repeatable_with(self, parameters: JsonObject) -> bool:
        """Whether it may run again with these parameters: by its type, or by what `extra` allows.

        `extra["repeatable_when"]` names parameters with the values that make it harmless.
        """
        return self.repeatable or self._harmless(parameters)

    def writes_with(self, parameters: JsonObject) -> bool:
        """Whether it changes something outside with these parameters, be it ever so repeatable."""
        return self.effect is not Effect.READ and not self._harmless(parameters)

    def _harmless(self, parameters: JsonObject) -> bool:
        allowed = self.extra.get("repeatable_when")
        if not isinstance(allowed, dict) or not allowed:
            return False
        return all(
            isinstance(values, list) and parameters.get(name) in values
            for name, values in allowed.items()
        )

    def ports_for(self, parameters: JsonObject) -> tuple[str, ...]:
        """Return the ports of a node with these parameters, in declared order, without `error`."""
        entries = parameters.get(self.ports_from) if self.ports_from else None
        named: list[str] = []
        if isinstance(entries, list):
            for entry in entries:
                name = entry.get("port") if isinstance(entry, dict) else entry
                if isinstance(name, str) and name not in named:
                    named.append(name)
        return (*named, *(port for port in self.ports if port not in named))


class Catalogue(Protocol):
    """Finds node types by name."""

    def find(self, name: str) -> NodeType | None:
        """Return the type called `name`, or by one of its aliases; None if there is none."""

    def types(self) -> tuple[NodeType, ...]:
        """Return all types, sorted by name."""
