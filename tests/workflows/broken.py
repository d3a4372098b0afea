"""For each code of a fault a graph, or a text, that has it."""

from __future__ import annotations

from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.graph import Graph
from tests.workflows.graphs import graph, node, start

SET = '{"key": "a", "type": "data.set"}'
ASK: JsonObject = {"assignees": ["role:x"]}

TEXTS: dict[str, str] = {
    "not_json": '{"nodes": [}',
    "not_a_graph": "[1, 2, 3]",
    "document_too_large": " " * 20_000_001,
    "nested_too_deeply": '{"nodes": [{"key": "a", "parameters": {"x": '
    + "[" * 200
    + "]" * 200
    + "}}]}",
    "field_repeated": '{"nodes": [{"key": "a", "key": "b", "type": "data.set"}]}',
    "number_not_finite": '{"nodes": [{"key": "a", "type": "x", "parameters": {"x": 1e999}}]}',
    "text_not_unicode": '{"nodes": [{"key": "a", "type": "data.set", "title": "\\ud83d"}]}',
    "field_unknown": '{"nodes": [{"key": "a", "type": "data.set", "titel": "A"}]}',
    "field_missing": '{"nodes": [{"key": "a"}]}',
    "field_invalid": '{"nodes": [{"key": "a", "type": "data.set", "timeout": "soon"}]}',
}


def nested(depth: int) -> Graph:
    loops = [
        node(f"l{level}", "flow.for_each", {"items": []}, parent=f"l{level - 1}" if level else None)
        for level in range(depth)
    ]
    return graph([start(), *loops, node("end", parent=f"l{depth - 1}")], "start -> l0")


GRAPHS: dict[str, Graph] = {
    "key_malformed": graph([start(), node("Prüfung 1")], "start -> Prüfung 1"),
    "key_duplicate": graph([start(), node("a"), node("a")], "start -> a"),
    "type_unknown": graph([start(), node("a", "flow.iff")], "start -> a"),
    "type_not_a_node": graph([start(), node("a", "agent.only")], "start -> a"),
    "parameter_missing": graph([start(), node("a", "flow.if")], "start -> a"),
    "parameter_unknown": graph([start(), node("a", "data.set", {"fieds": {}})], "start -> a"),
    "parameter_invalid": graph([start(), node("a", "data.set", {"fields": 1})], "start -> a"),
    "value_cannot_fit": graph(
        [
            start(),
            node("text", "data.template"),
            node("a", "flow.for_each", {"items": "{{ $nodes.text }}"}),
            node("b", parent="a"),
        ],
        "start -> text",
        "text -> a",
    ),
    "edge_node_unknown": graph([start(), node("check")], "start -> chekc", "start -> check"),
    "edge_port_unknown": graph([start(), node("a")], "start:yes -> a", "start -> a"),
    "edge_duplicate": graph([start(), node("a")], "start -> a", "start -> a"),
    "edge_crosses_loop": graph(
        [start(), node("l", "flow.for_each", {"items": []}), node("a", parent="l")],
        "start -> l",
        "start -> a",
    ),
    "cycle": graph(
        [start(), node("a"), node("b"), node("c")], "start -> a", "a -> b", "b -> c", "c -> a"
    ),
    "trigger_missing": graph([node("a")]),
    "trigger_has_input": graph([start(), start("again")], "start -> again"),
    "trigger_in_loop": graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}),
            node("t", "trigger.manual", parent="l"),
        ],
        "start -> l",
    ),
    "trigger_has_error_port": graph(
        [node("start", "trigger.manual", on_error="branch"), node("a"), node("b")],
        "start -> a",
        "start:error -> b",
    ),
    "unreachable": graph([start(), node("a")]),
    "parent_unknown": graph([start(), node("a", parent="lines")], "start -> a"),
    "parent_not_a_loop": graph([start(), node("a"), node("b", parent="a")], "start -> a"),
    "parent_circular": graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}, parent="m"),
            node("m", "flow.for_each", {"items": []}, parent="l"),
        ]
    ),
    "loop_empty": graph([start(), node("l", "flow.for_each", {"items": []})], "start -> l"),
    "loop_too_deep": nested(6),
    "expression_malformed": graph(
        [start(), node("a", "data.set", {"value": "{{ 1 + }}"})], "start -> a"
    ),
    "expression_name_unknown": graph(
        [start(), node("a", "data.set", {"value": "{{ $imput }}"})], "start -> a"
    ),
    "reference_dynamic": graph(
        [start(), node("a", "data.set", {"value": "{{ $keys($nodes) }}"})], "start -> a"
    ),
    "reference_unknown": graph(
        [start(), node("a", "data.set", {"value": "{{ $nodes.strat }}"})], "start -> a"
    ),
    "reference_not_upstream": graph(
        [start(), node("a", "data.set", {"value": "{{ $nodes.b }}"}), node("b")],
        "start -> a",
        "a -> b",
    ),
    "reference_may_be_absent": graph(
        [
            start(),
            node("if", "flow.if", {"condition": True}),
            node("a"),
            node("b"),
            node("c", "data.set", {"value": "{{ $nodes.a }}"}),
        ],
        "start -> if",
        "if:true -> a",
        "if:false -> b",
        "a -> c",
        "b -> c",
    ),
    "reference_inside_loop": graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}),
            node("a", parent="l"),
            node("b", "data.set", {"value": "{{ $nodes.a }}"}),
        ],
        "start -> l",
        "l -> b",
    ),
    "reference_own_loop": graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}),
            node("a", "data.set", {"value": "{{ $nodes.l }}"}, parent="l"),
        ],
        "start -> l",
    ),
    "item_outside_loop": graph(
        [start(), node("a", "data.set", {"value": "{{ $item }}"})], "start -> a"
    ),
    "assignees_missing": graph(
        [start(), node("a", "input.approval", {"assignees": []})], "start -> a"
    ),
    "resource_missing": graph(
        [start(), node("a", "flow.subworkflow", {"workflow": "nope"})], "start -> a"
    ),
    "resource_wrong_kind": graph(
        [start(), node("a", "http.request", {"url": "https://x.y", "connection": "ok"})],
        "start -> a",
    ),
    "stop_success_twice": graph(
        [start(), node("a", "flow.stop"), node("b", "flow.stop")], "start -> a", "start -> b"
    ),
    "stop_success_in_loop": graph(
        [start(), node("l", "flow.for_each", {"items": []}), node("a", "flow.stop", parent="l")],
        "start -> l",
    ),
    "error_port_open": graph([start(), node("a", on_error="branch")], "start -> a"),
    "port_never_fires": graph(
        [start(), node("a", "input.approval", {**ASK, "due": "P1D"}), node("b")],
        "start -> a",
        "a:expired -> b",
    ),
    "retry_of_write": graph(
        [start(), node("a", "http.request", {"url": "https://x.y"}, retry={})], "start -> a"
    ),
}
ELSEWHERE = {"budget_exceeded"}
"""Codes that the compiler gives, whose tests are there."""
