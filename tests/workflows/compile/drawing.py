"""Draws graphs in a few words, over node types that need no Lambda."""

from __future__ import annotations

import json
from typing import Any

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.compile import Compiled, CompileOptions, compile_graph
from stellwerk.workflows.graph import Graph


def _type(name: str, kind: Kind, *ports: str, retry: tuple[str, ...] = ()) -> NodeType:
    named = "cases" if name == "flow.switch" else None
    return NodeType(
        name, kind, name, "", Effect.READ, True, ports, retry, 60, {}, {}, "h", ports_from=named
    )


DECLARED = {
    each.type: each
    for each in (
        _type("trigger.manual", Kind.TRIGGER, "out"),
        _type("flow.if", Kind.STEP, "true", "false"),
        _type("flow.switch", Kind.STEP, "default"),
        _type("data.set", Kind.STEP, "out"),
        _type("http.request", Kind.STEP, "out", retry=("RateLimited", "StillRunning")),
        _type("flow.for_each", Kind.FOR_EACH, "out"),
        _type("flow.while", Kind.WHILE, "out"),
        _type("flow.wait", Kind.DELAY, "out"),
        _type("flow.stop", Kind.STOP),
        _type("input.approval", Kind.WAIT, "approved", "rejected", "expired"),
    )
}


class SmallCatalogue:
    """One type of each kind, and what a test adds."""

    def __init__(self, *more: NodeType) -> None:
        self._types = DECLARED | {each.type: each for each in more}

    def find(self, name: str) -> NodeType | None:
        return self._types.get(name)

    def types(self) -> tuple[NodeType, ...]:
        return tuple(self._types.values())


SHORT = {
    "start": "trigger.manual",
    "if": "flow.if",
    "switch": "flow.switch",
    "set": "data.set",
    "call": "http.request",
    "each": "flow.for_each",
    "while": "flow.while",
    "wait": "flow.wait",
    "stop": "flow.stop",
    "ask": "input.approval",
}


def draw(nodes: str, edges: str, **settings: JsonObject) -> Graph:
    """Draw `key:type` nodes (`loop/key:type` in a body) and `a.port>b` edges; settings by key."""
    drawn: list[JsonValue] = []
    for text in nodes.split():
        place, _, kind = text.partition(":")
        parent, _, key = place.rpartition("/")
        node: JsonObject = {"key": key, "type": SHORT.get(kind or "set", kind)}
        drawn.append(node | ({"parent": parent} if parent else {}) | settings.get(key, {}))
    ends: list[JsonValue] = []
    for text in edges.split():
        source, _, target = text.partition(">")
        key, _, port = source.partition(".")
        ends.append({"from": key, "port": port or "out", "to": target})
    return Graph.model_validate({"nodes": drawn, "edges": ends})


def compiled(graph: Graph, **options: object) -> Compiled:
    """Compile a drawn graph."""
    return compile_graph(graph, SmallCatalogue(), CompileOptions(**options))  # type: ignore[arg-type]


def states(text: str) -> dict[str, Any]:
    """All states of a definition by name, those of branches and iterations included."""
    found: dict[str, Any] = {}

    def collect(machine: Any) -> None:
        for name, state in machine["States"].items():
            assert name not in found, f"{name} stands twice"
            found[name] = state
            for branch in state.get("Branches", ()):
                collect(branch)
            if "ItemProcessor" in state:
                collect(state["ItemProcessor"])

    collect(json.loads(text))
    return found


def kinds(text: str) -> dict[str, int]:
    """How many states of each type a definition has."""
    count: dict[str, int] = {}
    for state in states(text).values():
        count[str(state["Type"])] = count.get(str(state["Type"]), 0) + 1
    return count
