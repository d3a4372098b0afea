"""Partial runs: from a node on, or one node alone, on what an earlier run has recorded."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.runs.partial import Partial, partial_of
from stellwerk.workflows.graph import Graph
from tests.runs.stage import FOREIGN, Stage, graph

NODES = {
    "start": "trigger",
    "if": "flow.if",
    "no": "data.set",
    "a": "data.set",
    "b": "data.set",
    "c": "mail.send",
    "d": "data.set",
    "aside": "flow.stop",
}
EDGES = ["start if", "if.true a", "if.true b", "if.false no", "a c", "b d", "c d", "start aside"]
"""Of `a`, `b` and `c`, `c` follows `a`, and `d` joins `b` and `c`; `aside` is beside all of it."""


def drawn(**changes: str) -> Graph:
    return graph({**NODES, **changes}, EDGES)


def earlier(stage: Stage, *nodes: str) -> Run:
    """Start a live run, and record that these nodes have succeeded."""
    run = stage.start(payload={"of": "earlier"})
    for node in nodes:
        port = "true" if node == "if" else "out"
        stage.write(run, node, port=port, value=stage.keep(f"{node} before"))
    return run


def begun(
    stage: Stage, part: Partial, pinned: dict[NodeKey, JsonValue] | None = None, **more: JsonValue
) -> Run:
    return stage.assembly.runs.start(
        stage.scope, "demo", mode="test", partial=part, pinned=pinned, payload=more.get("payload")
    )


def entries(stage: Stage, run: Run) -> dict[str, str]:
    return {step.node: step.status.value for step in stage.assembly.runs.steps(stage.scope, run.id)}


def part(node: str, source: Run | None = None, *, alone: bool = False) -> Partial:
    return Partial(NodeKey(node), alone, source.id if source else None)


def test_from_a_node_what_leads_there_is_recorded_and_what_is_beside_it_left_out(
    stage: Stage,
) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a", "b", "aside")
    run = begun(stage, part("c", source))
    assert entries(stage, run) == {
        "start": "succeeded",
        "if": "succeeded",
        "a": "succeeded",
        "b": "succeeded",
        "no": "skipped",
        "aside": "skipped",
    }
    assert stage.step(run, "if").port == "true"
    assert stage.value(stage.step(run, "a").value) == "a before"
    assert stage.step(run, "a").recorded_from == source.id
    assert stage.step(run, "aside").done
    assert stage.value(run.input) == {"of": "earlier"}
    assert (run.status, run.mode, run.origin) == (RunStatus.RUNNING, "test", None)


def test_large_values_stay_when_the_earlier_run_goes(stage: Stage) -> None:
    stage.publish(drawn())
    large = "x" * 100_000
    source = stage.start(payload=large)
    kept = stage.world.values.keep(stage.scope, source.id, large)
    stage.write(source, "start", value=kept, input=kept)
    run = begun(stage, part("if", source))
    step = stage.step(run, "start")
    for stored in (run.input, step.input, step.value):
        assert stored is not None
        assert stored.ref is not None
        assert stored.ref.key.startswith(f"runs/{run.id}/")
        assert stage.value(stored) == large


def test_only_a_node_leaves_out_what_follows_it(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a")
    run = begun(stage, part("c", source, alone=True), payload={"of": "now"})
    skipped = dict.fromkeys(("aside", "b", "d", "no"), "skipped")
    recorded = dict.fromkeys(("start", "if", "a"), "succeeded")
    assert entries(stage, run) == {**skipped, **recorded}
    assert stage.value(run.input) == {"of": "now"}


def test_the_output_of_a_partial_run_is_what_its_last_nodes_made(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a")
    run = begun(stage, part("c", source, alone=True))
    stage.write(run, "c", value=stage.keep("sent"))
    ended = stage.assembly.endings.execution_ended(stage.scope, stage.run(run), Ended("SUCCEEDED"))
    assert stage.value(ended.output) == {"c": "sent"}


def test_nodes_without_a_recorded_value_are_all_named(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if")
    stage.fail(source, "a")
    with pytest.raises(BadInput, match=rf"no value in run {source.id}, .* since: a, b\."):
        begun(stage, part("c", source))
    with pytest.raises(BadInput, match=r"no value in any run that is named, .*: start\."):
        begun(stage, part("c"))
    run = begun(stage, part("c", source), {NodeKey("a"): 1, NodeKey("b"): 2, NodeKey("no"): 3})
    assert stage.value(stage.step(run, "a").value) == 1
    assert stage.step(run, "no").status is StepStatus.SKIPPED
    assert {each.id for each in stage.assembly.runs.list(stage.scope).items} == {run.id, source.id}


def test_a_node_that_has_changed_since_has_no_recorded_value(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a", "b")
    stage.publish(drawn(a="http.request"))
    with pytest.raises(BadInput, match=r"changed since: a\."):
        begun(stage, part("c", source))
    assert begun(stage, part("c", source), {NodeKey("a"): 1}).version == 2


def test_the_values_of_a_partial_run_serve_the_next_but_not_those_left_out(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a")
    run = begun(stage, part("c", source, alone=True))
    stage.write(run, "c", value=stage.keep("sent"))
    with pytest.raises(BadInput, match=r"changed since: b\."):
        begun(stage, part("d", run))
    again = begun(stage, part("d", run), {NodeKey("b"): 1})
    assert stage.step(again, "a").recorded_from == source.id
    assert stage.step(again, "c").recorded_from == run.id


def test_a_branch_whose_turn_it_was_not_does_not_run(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a", "b")
    with pytest.raises(BadInput, match="Nothing leads to 'no' with these values"):
        begun(stage, part("no", source))


def test_a_node_that_follows_can_be_pinned_and_the_first_cannot(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start", "if", "a", "b")
    run = begun(stage, part("a", source), {NodeKey("c"): "not sent"})
    assert stage.value(stage.step(run, "c").value) == "not sent"
    assert not stage.has_step(run, "a")
    with pytest.raises(BadInput, match="'a' is to run, and has a pinned value"):
        begun(stage, part("a", source), {NodeKey("a"): 1})


def test_from_a_trigger_all_runs_that_it_starts(stage: Stage) -> None:
    stage.publish(graph({"one": "trigger", "two": "trigger", "x": "data.set"}, ["two x"]))
    run = begun(stage, part("two"))
    assert run.trigger.node == "two"
    assert entries(stage, run) == {"one": "skipped"}


def test_a_loop_runs_whole_and_its_recorded_value_stands_for_it(stage: Stage) -> None:
    loop = {"start": "trigger", "each": "flow.for_each", "x": "data.set"}
    stage.publish(
        graph({**loop, "in": {"type": "data.set", "parent": "each"}}, ["start each", "each x"])
    )
    source = earlier(stage, "start", "each")
    assert entries(stage, begun(stage, part("x", source))).keys() == {"start", "each"}
    assert entries(stage, begun(stage, part("each", source))).keys() == {"start"}
    with pytest.raises(BadInput, match=r"begin at 'in'\. Nodes outside loops are: each, start, x"):
        begun(stage, part("in", source))


def test_live_runs_and_runs_of_other_workflows_are_refused(stage: Stage) -> None:
    stage.publish(drawn())
    stage.publish(drawn(), slug="other")
    source = earlier(stage, "start")
    with pytest.raises(BadInput, match="A live run starts at its trigger"):
        stage.assembly.runs.start(stage.scope, "demo", partial=part("if", source))
    with pytest.raises(BadInput, match="not one of this workflow"):
        stage.assembly.runs.start(stage.scope, "other", mode="dry", partial=part("if", source))


def test_a_run_of_strangers_is_as_one_that_is_not_there(stage: Stage) -> None:
    stage.publish(drawn())
    source = earlier(stage, "start")
    stranger = Stage(memory=stage.memory, scope=FOREIGN)
    stranger.publish(drawn())
    with pytest.raises(NotFound):
        begun(stranger, part("if", source))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("a", "b", None), "not both"),
        ((None, None, "run-1"), "It is not said which part"),
    ],
)
def test_what_contradicts_itself_is_refused(asked: tuple[str | None, ...], told: str) -> None:
    first, only, source = asked
    with pytest.raises(BadInput, match=told):
        partial_of(
            NodeKey(first) if first else None,
            NodeKey(only) if only else None,
            RunId(source) if source else None,
        )


def test_what_is_asked_for_is_one_part() -> None:
    assert partial_of(None, None, None) is None
    assert partial_of(NodeKey("a"), None, RunId("r")) == Partial(NodeKey("a"), False, RunId("r"))
    assert partial_of(None, NodeKey("a"), None) == Partial(NodeKey("a"), alone=True)
