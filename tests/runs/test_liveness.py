"""Whether a node will run, by the meaning of tokens."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.runs.liveness import Verdict, ancestors, decided
from stellwerk.runs.model import Step, StepStatus
from stellwerk.workflows.graph import Graph
from tests.runs.stage import graph

DIAMOND = graph(
    {"start": "trigger", "other": "trigger", "if": "flow.if", "a": "s", "b": "s", "join": "s"},
    ["start if", "if.true a", "if.false b", "a join", "b join", "other b"],
)


def _entry(node: str, port: str | None, status: StepStatus = StepStatus.SUCCEEDED) -> Step:
    return Step(run=RunId("r"), node=NodeKey(node), type="t", status=status, port=port)


def _decided(
    drawn: Graph, ports: Mapping[str, str | None], node: str, trigger: str = "start"
) -> Verdict | None:
    entries = {NodeKey(key): _entry(key, port) for key, port in ports.items()}
    return decided(drawn, entries, NodeKey(node), trigger=NodeKey(trigger))


@pytest.mark.parametrize(
    ("ports", "verdict"),
    [
        ({}, None),
        ({"start": "out"}, None),
        ({"start": "out", "if": "true"}, None),
        ({"start": "out", "if": "true", "a": "out"}, Verdict.LIVE),
        ({"start": "out", "if": "false"}, None),
        ({"start": "out", "if": "false", "b": "out"}, Verdict.LIVE),
        ({"start": "out", "if": "true", "a": "error"}, Verdict.DEAD),
        ({"start": "out", "if": "none"}, Verdict.DEAD),
    ],
)
def test_a_join_is_decided_once_all_its_edges_are(
    ports: dict[str, str | None], verdict: Verdict | None
) -> None:
    assert _decided(DIAMOND, ports, "join") == verdict


def test_edges_from_ports_that_a_disabled_node_never_fires_are_dead_before_it_has_run() -> None:
    passes = {NodeKey("if"): "true"}
    entries = {NodeKey("start"): _entry("start", "out")}
    start = NodeKey("start")
    assert decided(DIAMOND, entries, NodeKey("b"), trigger=start, passes=passes) is Verdict.DEAD
    assert decided(DIAMOND, entries, NodeKey("a"), trigger=start, passes=passes) is None


def test_a_trigger_that_is_not_the_runs_own_is_dead() -> None:
    assert _decided(DIAMOND, {}, "other") is Verdict.DEAD
    assert _decided(DIAMOND, {}, "start") is Verdict.LIVE
    assert _decided(DIAMOND, {"other": "out", "b": "out"}, "join", "other") is Verdict.LIVE


def test_a_node_recorded_as_skipped_makes_its_edges_dead() -> None:
    entries = {
        NodeKey("a"): _entry("a", None, StepStatus.SKIPPED),
        NodeKey("b"): _entry("b", None, StepStatus.SKIPPED),
    }
    verdict = decided(DIAMOND, entries, NodeKey("join"), trigger=NodeKey("start"))
    assert verdict is Verdict.DEAD


def test_a_node_that_failed_the_run_decides_nothing() -> None:
    entries = {NodeKey("start"): _entry("start", None, StepStatus.FAILED)}
    assert decided(DIAMOND, entries, NodeKey("if"), trigger=NodeKey("start")) is None


def test_the_first_nodes_of_a_body_always_run() -> None:
    body = graph(
        {
            "each": "flow.for_each",
            "first": {"type": "s", "parent": "each"},
            "next": {"type": "s", "parent": "each"},
        },
        ["first next"],
    )
    assert _decided(body, {}, "first") is Verdict.LIVE
    assert _decided(body, {}, "next") is None
    assert _decided(body, {"first": "out"}, "next") is Verdict.LIVE


def test_ancestors_are_all_nodes_before_on_the_same_level() -> None:
    assert ancestors(DIAMOND, NodeKey("join")) == ("a", "b", "if", "other", "start")
    assert ancestors(DIAMOND, NodeKey("start")) == ()
