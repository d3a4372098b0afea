"""A catalogue of a few node types, made on the spot."""

from __future__ import annotations

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.kernel.json import JsonObject


def node_type(
    name: str, *, kind: Kind = Kind.STEP, parameters: JsonObject | None = None
) -> NodeType:
    """Return a type that reads, with port `out`."""
    return NodeType(
        type=name,
        kind=kind,
        title=name,
        description=name,
        effect=Effect.READ,
        idempotent=True,
        ports=("out",),
        retry=(),
        timeout=30,
        parameters=parameters or {"type": "object"},
        result={},
        handler=f"nodes.{name}.handler.handler",
    )


class FakeCatalogue:
    """Knows the types that it was given."""

    def __init__(self, *types: NodeType) -> None:
        self._types = {declared.type: declared for declared in types}

    def find(self, name: str) -> NodeType | None:
        return self._types.get(name)

    def types(self) -> tuple[NodeType, ...]:
        return tuple(self._types[name] for name in sorted(self._types))
