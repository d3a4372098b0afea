"""Declarations of the node types that drawn workflows use, while none are at hand."""

from __future__ import annotations

from stellwerk.catalogue.model import Effect, Kind, NodeType


def _type(name: str, kind: Kind, *ports: str, ports_from: str | None = None) -> NodeType:
    return NodeType(
        type=name,
        kind=kind,
        title=name,
        description="",
        effect=Effect.READ,
        idempotent=True,
        ports=ports,
        retry=(),
        timeout=10,
        parameters={},
        result={},
        handler="",
        ports_from=ports_from,
    )


_KNOWN = {
    kind.type: kind
    for kind in (
        _type("trigger.manual", Kind.TRIGGER, "out"),
        _type("trigger.webhook", Kind.TRIGGER, "out"),
        _type("trigger.schedule", Kind.TRIGGER, "out"),
        _type("trigger.called", Kind.TRIGGER, "out"),
        _type("data.transform", Kind.STEP, "out"),
        _type("flow.switch", Kind.STEP, "default", ports_from="cases"),
        _type("flow.if", Kind.STEP, "true", "false"),
        _type("input.approval", Kind.WAIT, "approved", "rejected", "expired"),
        _type("flow.wait", Kind.DELAY, "out"),
        _type("flow.for_each", Kind.FOR_EACH, "out"),
        _type("flow.while", Kind.WHILE, "out"),
        _type("flow.stop", Kind.STOP),
    )
}


class Kinds:
    """A catalogue of them."""

    def find(self, name: str) -> NodeType | None:
        """Return the type called `name`."""
        return _KNOWN.get(name)

    def types(self) -> tuple[NodeType, ...]:
        """Return all."""
        return tuple(_KNOWN.values())
