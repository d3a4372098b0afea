"""Node types and actions, as the palette shows them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from api.models.base import Shown
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.palette import Offered


class NodeType(Shown):
    """What nodes of a type do, what they take and give, and at which ports they go on."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "flow.if",
                "kind": "step",
                "title": "If",
                "description": "Goes on at one of two ports.",
                "effect": "read",
                "idempotent": True,
                "ports": ["true", "false"],
                "ports_from": None,
                "parameters": {"type": "object", "properties": {"condition": {}}},
                "result": {},
                "sample": None,
                "timeout": 30,
                "attempts": 3,
                "connection": None,
                "node": True,
                "tool": False,
                "aliases": [],
                "usable": True,
            }
        }
    )

    type: str
    kind: Literal["trigger", "step", "delay", "wait", "for_each", "while", "stop"]
    title: str
    description: str
    effect: Literal["read", "write", "destructive"]
    idempotent: bool
    ports: list[str]
    ports_from: str | None = Field(description="A parameter whose entries are further ports")
    parameters: JsonObject = Field(description="JSON Schema of its parameters")
    result: JsonObject = Field(description="JSON Schema of what it gives")
    sample: JsonValue = Field(description="An example of what it gives")
    timeout: int = Field(description="Seconds")
    attempts: int = Field(description="Tries in all after passing errors")
    connection: str | None = Field(description="The kind of connection that it needs")
    node: bool = Field(description="Whether workflows may use it")
    tool: bool = Field(description="Whether agents may use it")
    aliases: list[str]
    usable: bool = Field(description="Whether you may use it here")

    @classmethod
    def of(cls, offered: Offered) -> NodeType:
        """Show a type; where its handler is, is nobody's business."""
        found = offered.declared
        return cls(
            type=found.type,
            kind=found.kind.value,
            title=found.title,
            description=found.description,
            effect=found.effect.value,
            idempotent=found.idempotent,
            ports=list(found.ports),
            ports_from=found.ports_from,
            parameters=found.parameters,
            result=found.result,
            sample=found.sample,
            timeout=found.timeout,
            attempts=found.attempts,
            connection=found.connection,
            node=found.node,
            tool=found.tool,
            aliases=list(found.aliases),
            usable=offered.usable,
        )


class NodeTypes(Shown):
    """All types that you may use here, by name."""

    items: list[NodeType]
