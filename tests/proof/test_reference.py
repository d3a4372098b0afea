"""The reference interpreter, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.graph import Edge, Graph, Node, OnError
from tests.proof.outcome import Failed, Fired, Outcome
from tests.reference import Reference

T, U = NodeKey("t"), NodeKey("u")


def _type(name: str, kind: Kind, *ports: str) -> NodeType:
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
        ports_from="cases",
    )


@dataclass
class Types:
    def find(self, name: str) -> NodeType | None:
        known = {
            "trigger": _type("trigger", Kind.TRIGGER, "out"),
            "step": _type("step", Kind.STEP, "out"),
            "switch": _type("switch", Kind.STEP, "default"),
            "each": _type("each", Kind.FOR_EACH, "out"),
            "while": _type("while", Kind.WHILE, "out"),
            "stop": _type("stop", Kind.STOP),
        }
        return known[name]

    def types(self) -> tuple[NodeType, ...]:
        return ()


def _node(key: str, kind: str = "step", **fields: object) -> Node:
    return Node.model_validate({"key": key, "type": kind, **fields})


def _graph(nodes: list[Node], *edges: str) -> Graph:
    """An edge is written `from.port>to` or `from>to`."""
    found = []
    for edge in edges:
        start, target = edge.split(">")
        source, _, port = start.partition(".")
        found.append(Edge.model_validate({"from": source, "port": port or "out", "to": target}))
    return Graph(nodes=tuple(nodes), edges=tuple(found))


def _run(graph: Graph, plan: dict[str, Fired | Failed] | None = None, at: NodeKey = T) -> Outcome:
    """Run; a node without a plan fires `out` with its own key as value; a plan may name a path."""

    def behaviour(key: NodeKey, path: Path, given: JsonValue, index: int) -> Fired | Failed:
        places = [f"{path}.{key}#{index}", f"{path}.{key}", f"{key}#{index}", key]
        found = [(plan or {})[place] for place in places if place in (plan or {})]
        return found[0] if found else ("out", key)

    return Reference(graph, Types(), behaviour).run(at, "payload")


def _keys(outcome: Outcome) -> set[str]:
    return {f"{path}.{key}" if path else key for path, key in outcome.ran}


def test_a_run_starts_at_one_trigger_and_the_others_are_dead() -> None:
    graph = _graph([_node("t", "trigger"), _node("u", "trigger"), _node("a")], "t>a", "u>a")
    outcome = _run(graph)
    assert _keys(outcome) == {"t", "a"}
    assert outcome.ran[Path(""), NodeKey("a")].input == "payload"


def test_only_the_fired_port_is_live_and_skipping_spreads() -> None:
    graph = _graph(
        [_node("t", "trigger"), _node("s", "switch"), _node("a"), _node("b"), _node("c")],
        *("t>s", "s.x>a", "s.y>b", "b>c"),
    )
    assert _keys(_run(graph, {"s": ("x", 1)})) == {"t", "s", "a"}


def test_a_port_without_edges_fires_nothing() -> None:
    graph = _graph([_node("t", "trigger"), _node("s", "switch"), _node("a")], "t>s", "s.x>a")
    outcome = _run(graph, {"s": ("nowhere", 1)})
    assert (_keys(outcome), outcome.output) == ({"t", "s"}, {})


def test_a_join_waits_for_live_branches_only_and_keys_its_input_by_predecessor() -> None:
    graph = _graph(
        [_node("t", "trigger"), _node("s", "switch"), *map(_node, "abcj")],
        *("t>s", "t>a", "s.x>b", "s.y>c", "a>j", "b>j", "c>j"),
    )
    outcome = _run(graph, {"s": ("x", 1)})
    assert outcome.ran[Path(""), NodeKey("j")].input == {"a": "a", "b": "b"}
    assert outcome.output == {"j": "j"}


def test_two_edges_from_one_predecessor_are_one_input() -> None:
    graph = _graph(
        [_node("t", "trigger"), _node("s", "switch"), _node("j")], "t>s", "s.x>j", "s.y>j"
    )
    assert _run(graph, {"s": ("y", 7)}).ran[Path(""), NodeKey("j")].input == 7


def test_for_each_gives_values_in_order_and_null_where_an_item_failed() -> None:
    loop = _node("l", "each", parameters={"on_item_error": "collect"})
    graph = _graph([_node("t", "trigger"), loop, _node("b", parent="l")], "t>l")
    failed = Failed("Bad", "no")
    outcome = _run(graph, {"l": ("items", [5, 6, 7]), "l[1].b": failed})
    report = {"error": {"type": "Bad", "message": "no", "node": "b"}}
    assert outcome.output == {"l": {"items": ["b", None, "b"], "errors": [None, report, None]}}
    assert outcome.ran[Path("l[2]"), NodeKey("b")].input == 7


def test_no_items_run_no_body() -> None:
    graph = _graph([_node("t", "trigger"), _node("l", "each"), _node("b", parent="l")], "t>l")
    outcome = _run(graph, {"l": ("items", [])})
    assert (_keys(outcome), outcome.output) == ({"t", "l"}, {"l": {"items": [], "errors": []}})


@pytest.mark.parametrize(("width", "first"), [(1, {0}), (2, {0, 2}), (9, {0, 2, 3})])
def test_items_that_fail_can_be_first_as_far_as_concurrency_reaches(
    width: int, first: set[int]
) -> None:
    loop = _node("l", "each", parameters={"concurrency": width})
    graph = _graph([_node("t", "trigger"), loop, _node("b", parent="l")], "t>l")
    plan: dict[str, Fired | Failed] = {f"l[{i}].b": Failed("Bad") for i in (0, 2, 3)}
    outcome = _run(graph, {"l": ("items", [1, 2, 3, 4]), **plan})
    assert not outcome.completed
    assert {error.place[0] for error in outcome.errors} == {f"l[{i}]" for i in first}


def test_while_hands_on_the_value_of_the_pass_before() -> None:
    graph = _graph([_node("t", "trigger"), _node("w", "while"), _node("b", parent="w")], "t>w")
    again: Fired = ("again", None)
    outcome = _run(
        graph, {"w": again, "w#2": ("out", None), "w[0].b": ("out", 1), "w[1].b": ("out", 2)}
    )
    assert outcome.ran[Path("w[0]"), NodeKey("b")].input == "payload"
    assert outcome.ran[Path("w[1]"), NodeKey("b")].input == 1
    assert outcome.output == {"w": {"value": 2, "passes": 2}}


def test_too_many_passes_are_an_error() -> None:
    loop = _node("w", "while", parameters={"max_passes": 2})
    graph = _graph([_node("t", "trigger"), loop, _node("b", parent="w")], "t>w")
    outcome = _run(graph, {"w": ("again", None)})
    assert [error.type for error in outcome.errors] == ["LoopLimitExceeded"]


@pytest.mark.parametrize(("on_error", "ran"), [("branch", "e"), ("continue", "a")])
def test_a_handled_failure_fires_a_port_with_the_error_as_value(on_error: str, ran: str) -> None:
    failing = _node("f", on_error=OnError(on_error))
    graph = _graph(
        [_node("t", "trigger"), failing, _node("a"), _node("e")], "t>f", "f>a", "f.error>e"
    )
    outcome = _run(graph, {"f": Failed("Bad", "no")})
    assert outcome.completed
    report: JsonObject = {"type": "Bad", "message": "no", "node": "f"}
    assert outcome.ran[Path(""), NodeKey(ran)].input == {"error": report}
    assert _keys(outcome) == {"t", "f", ran}


def test_a_failing_body_is_the_failure_of_its_loop() -> None:
    loop = _node("l", "each", on_error=OnError.BRANCH)
    graph = _graph(
        [_node("t", "trigger"), loop, _node("b", parent="l"), _node("e")], "t>l", "l.error>e"
    )
    outcome = _run(graph, {"l": ("items", [1, 2]), "l[1].b": Failed("Bad")})
    assert outcome.completed
    assert outcome.certain == {("", "t"), ("", "l"), ("", "e"), ("l[0]", "b")}


def test_every_failure_that_nothing_else_precedes_can_be_the_first() -> None:
    graph = _graph([_node("t", "trigger"), *map(_node, "abc")], "t>a", "t>b", "b>c")
    outcome = _run(graph, {"a": Failed("A"), "b": Failed("B"), "c": Failed("C")})
    assert not outcome.completed
    assert {error.type for error in outcome.errors} == {"A", "B"}
    assert outcome.certain == set()


def test_a_stop_gives_the_output_and_the_other_branch_finishes() -> None:
    graph = _graph([_node("t", "trigger"), _node("s", "stop"), _node("a")], "t>s", "t>a")
    outcome = _run(graph, {"s": ("", "the end")})
    assert (outcome.output, _keys(outcome)) == ("the end", {"t", "s", "a"})


def test_a_stop_with_error_fails_the_run_through_a_collecting_loop() -> None:
    loop = _node("l", "each", parameters={"on_item_error": "collect"}, on_error=OnError.BRANCH)
    graph = _graph([_node("t", "trigger"), loop, _node("s", "stop", parent="l")], "t>l")
    outcome = _run(graph, {"l": ("items", [1]), "s": Failed("StoppedWithError")})
    assert [error.type for error in outcome.errors] == ["StoppedWithError"]
    assert not outcome.ambiguous


def test_a_stop_beside_a_collected_failure_may_or_may_not_come_first() -> None:
    loop = _node("l", "each", parameters={"on_item_error": "collect"})
    body = [_node("s", "stop", parent="l"), _node("b", parent="l")]
    graph = _graph([_node("t", "trigger"), loop, *body], "t>l")
    plan: dict[str, Fired | Failed] = {"s": Failed("StoppedWithError"), "b": Failed("Bad")}
    assert _run(graph, {"l": ("items", [1]), **plan}).ambiguous


def test_a_disabled_node_passes_its_input_through() -> None:
    nodes = [
        _node("t", "trigger"),
        _node("d", "each", disabled=True),
        _node("b", parent="d"),
        _node("a"),
    ]
    outcome = _run(_graph(nodes, "t>d", "d>a"))
    assert outcome.ran[Path(""), NodeKey("a")].input == "payload"
    assert _keys(outcome) == {"t", "d", "a"}


def test_nothing_waits_for_a_port_that_a_disabled_node_never_fires() -> None:
    off = _node("d", "switch", disabled=True)
    nodes = [_node("t", "trigger"), *map(_node, "faj"), off]
    failing: dict[str, Fired | Failed] = {"f": Failed("Bad")}
    outcome = _run(_graph(nodes, "t>f", "t>a", "f>d", "a>j", "d.other>j"), failing)
    assert "j" in _keys(outcome)
    outcome = _run(_graph(nodes, "t>f", "t>a", "f>d", "a>j", "d.default>j"), failing)
    assert "j" not in _keys(outcome)


def test_loops_nest_and_a_body_with_several_ends_gives_an_object() -> None:
    nodes = [
        _node("t", "trigger"),
        _node("l", "each"),
        _node("m", "each", parent="l"),
        _node("a", parent="m"),
        _node("b", parent="m"),
    ]
    outcome = _run(_graph(nodes, "t>l"), {"l": ("items", [1, 2]), "m": ("items", [3])})
    inner = {"items": [{"a": "a", "b": "b"}], "errors": [None]}
    assert outcome.output == {"l": {"items": [inner, inner], "errors": [None, None]}}
    assert "l[1].m[0].b" in _keys(outcome)
