"""A small catalogue for tests, shaped like the real one."""

from __future__ import annotations

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.kernel.json import JsonObject, JsonValue

TEXT: JsonObject = {"type": "string"}
ANY: JsonObject = {}
LIST: JsonObject = {"type": "array"}


def fields(required: tuple[str, ...] = (), **properties: JsonValue) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def node_type(
    name: str,
    kind: Kind = Kind.STEP,
    *,
    ports: tuple[str, ...] = ("out",),
    parameters: JsonObject | None = None,
    result: JsonObject | None = None,
    effect: Effect = Effect.READ,
    ports_from: str | None = None,
    node: bool = True,
) -> NodeType:
    return NodeType(
        type=name,
        kind=kind,
        title=name,
        description="",
        effect=effect,
        idempotent=False,
        ports=ports,
        retry=(),
        timeout=30,
        parameters=parameters if parameters is not None else fields(),
        result=result if result is not None else {},
        handler=f"nodes.{name}.handler.handler",
        ports_from=ports_from,
        node=node,
    )


DUE: JsonObject = {"type": ["string", "null"], "default": None}
ON_EXPIRE: JsonObject = {"enum": ["cancel", "default"], "default": "cancel"}
ASK: JsonObject = {
    "assignees": {"type": "array", "items": TEXT, "minItems": 1},
    "title": TEXT,
    "due": DUE,
    "on_expire": ON_EXPIRE,
    "form": {"type": "object"},
}


def ask(name: str, *ports: str, ports_from: str | None = None, **more: JsonValue) -> NodeType:
    return node_type(
        name,
        Kind.WAIT,
        ports=(*ports, "expired"),
        parameters=fields(("assignees",), **ASK, **more),
        ports_from=ports_from,
        effect=Effect.WRITE,
    )


TYPES = (
    node_type("trigger.manual", Kind.TRIGGER, parameters=fields(schema={"type": "object"})),
    node_type("trigger.webhook", Kind.TRIGGER, result=fields(body=ANY, headers={"type": "object"})),
    node_type("trigger.called", Kind.TRIGGER),
    node_type(
        "flow.if",
        ports=("true", "false"),
        parameters=fields(("condition",), condition={"type": "boolean"}),
    ),
    node_type(
        "flow.switch",
        ports=("default",),
        parameters=fields(
            ("cases",),
            value=ANY,
            cases={
                "type": "array",
                "items": {"anyOf": [TEXT, fields(("port",), port=TEXT, when=ANY)]},
            },
        ),
        ports_from="cases",
    ),
    node_type(
        "flow.for_each",
        Kind.FOR_EACH,
        parameters=fields(("items",), items=LIST, max_items={"type": "integer", "minimum": 1}),
        result=fields(items=LIST, errors=LIST),
    ),
    node_type(
        "flow.while",
        Kind.WHILE,
        parameters=fields(("condition",), condition={"type": "string", "x-raw": True}),
        result=fields(value=ANY, passes={"type": "integer"}),
    ),
    node_type("flow.merge", parameters=fields(how={"enum": ["object", "append", "first"]})),
    node_type("flow.wait", Kind.DELAY, parameters=fields(seconds={"type": "number"})),
    node_type(
        "flow.subworkflow",
        Kind.WAIT,
        parameters=fields(("workflow",), workflow={"type": "string", "x-resource": "workflow"}),
    ),
    node_type(
        "flow.stop",
        Kind.STOP,
        ports=(),
        parameters=fields(
            outcome={"enum": ["success", "error"], "default": "success"}, message=TEXT
        ),
    ),
    ask("input.approval", "approved", "rejected"),
    ask("input.choice", ports_from="options", options={"type": "array", "items": TEXT}),
    node_type("data.set", parameters=fields(fields={"type": "object"}, value=ANY)),
    node_type("data.template", parameters=fields(text=TEXT), result=TEXT),
    node_type(
        "data.filter",
        parameters=fields(("items",), items=LIST, condition={"type": "string", "x-raw": True}),
        result=LIST,
    ),
    node_type(
        "http.request",
        parameters={
            "$defs": {"Header": fields(("name",), name=TEXT, value={"type": ["string", "number"]})},
            **fields(
                ("url",),
                url={"type": "string", "pattern": "^https?://", "maxLength": 2000},
                method={"enum": ["GET", "POST"]},
                headers={"type": "array", "items": {"$ref": "#/$defs/Header"}, "uniqueItems": True},
                body={"oneOf": [TEXT, {"type": "object"}, {"type": "null"}]},
                connection={
                    "anyOf": [{"type": "string", "x-resource": "connection"}, {"type": "null"}]
                },
                timeout={"type": "integer", "minimum": 1, "maximum": 60},
            ),
        },
        result=fields(status={"type": "integer"}, body=ANY, headers={"type": "object"}),
        effect=Effect.WRITE,
    ),
    node_type("agent.only", node=False),
)


class FakeCatalogue:
    """Finds the types above."""

    def __init__(self, *more: NodeType) -> None:
        self._types = {found.type: found for found in (*TYPES, *more)}

    def find(self, name: str) -> NodeType | None:
        return self._types.get(name)

    def types(self) -> tuple[NodeType, ...]:
        return tuple(self._types[name] for name in sorted(self._types))


class FakeResources:
    """Knows what it is given: kinds by name."""

    def __init__(self, **kinds: str) -> None:
        self._kinds = kinds

    def kind(self, wanted: str, name: str) -> str | None:
        return self._kinds.get(name)
