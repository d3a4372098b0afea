"""Gates: whoever comes second answers, and nobody waits for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from stellwerk.kernel.errors import TransientError
from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.liveness import Verdict
from stellwerk.runs.model import Run, Step, StepKey, StepStatus
from stellwerk.tenancy.scope import Scope
from tests.runs.stage import Stage, graph, race

GATED = NodeKey("join")
NODES = {
    "start": "trigger",
    "a": "flow.if",
    "b": "data.set",
    "join": "data.set",
    "late": "data.set",
}
EDGES = ["start a", "start b", "a.true join", "b join", "b late"]


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(graph(NODES, EDGES), watch={"a": ["join"], "b": ["join", "late"]})
    run = stage.start()
    stage.write(run, "start")
    return run


def test_a_gate_waits_until_its_last_ancestor_has_finished(stage: Stage, run: Run) -> None:
    gates, level = stage.assembly.gates, stage.level(run)
    gates.register(stage.scope, level, GATED, "token")
    assert stage.step(run, "join@gate").status is StepStatus.WAITING
    stage.write(run, "a", port="true")
    gates.check(stage.scope, level, NodeKey("a"))
    assert stage.executions.succeeded == []
    with pytest.raises(TransientError, match="not decided yet"):
        gates.verdict(stage.scope, level, GATED)
    stage.write(run, "b")
    gates.check(stage.scope, level, NodeKey("b"))
    assert stage.executions.succeeded == [("token", {"port": "live"})]
    assert stage.step(run, "join@gate").port == "live"
    assert gates.verdict(stage.scope, level, GATED) is Verdict.LIVE


def test_a_gate_that_is_decided_already_is_answered_when_it_registers(
    stage: Stage, run: Run
) -> None:
    stage.write(run, "a", port="false")
    stage.write(run, "b", StepStatus.SKIPPED)
    stage.assembly.gates.register(stage.scope, stage.level(run), GATED, "token")
    assert stage.executions.succeeded == [("token", {"port": "dead"})]


def test_a_second_check_answers_nothing_again(stage: Stage, run: Run) -> None:
    gates, level = stage.assembly.gates, stage.level(run)
    stage.write(run, "a", port="true")
    stage.write(run, "b")
    gates.register(stage.scope, level, GATED, "token")
    gates.check(stage.scope, level, NodeKey("b"))
    gates.check(stage.scope, level, NodeKey("start"))
    assert len(stage.executions.succeeded) == 1


def test_a_gate_that_waits_anew_is_answered_under_its_new_token(stage: Stage, run: Run) -> None:
    gates, level = stage.assembly.gates, stage.level(run)
    gates.register(stage.scope, level, GATED, "old")
    gates.register(stage.scope, level, GATED, "new")
    stage.write(run, "a", port="true")
    stage.write(run, "b")
    gates.check(stage.scope, level, NodeKey("b"))
    gates.register(stage.scope, level, GATED, "newest")
    assert [token for token, _ in stage.executions.succeeded] == ["new", "newest"]


def test_a_check_takes_one_read_for_all_gates_that_it_looks_at(stage: Stage, run: Run) -> None:
    counting = _Counting(stage)
    world = replace(stage.world, journal=counting)  # type: ignore[arg-type]
    Assembly.of(world).gates.check(stage.scope, stage.level(run), NodeKey("b"))
    Assembly.of(world).gates.check(stage.scope, stage.level(run), NodeKey("late"))
    assert counting.reads == [5]  # a, b, start, and two gates


def test_a_gate_in_a_loop_looks_at_its_own_pass_only(stage: Stage) -> None:
    body: dict[str, str | JsonObject] = {
        key: {"type": "data.set", "parent": "each"} for key in ("x", "y", "z")
    }
    drawn = graph({"start": "trigger", "each": "flow.for_each", **body}, ["x z", "y z"])
    stage.publish(drawn, slug="loop", watch={"x": ["z"], "y": ["z"]})
    run = stage.start("loop")
    for node, path in (("x", "each[0]"), ("y", "each[0]"), ("x", "each[1]")):
        stage.write(run, node, path=path)
    for index in range(2):
        level = stage.level(run, f"each[{index}]")
        stage.assembly.gates.register(stage.scope, level, NodeKey("z"), f"token-{index}")
    assert stage.executions.succeeded == [("token-0", {"port": "live"})]


def test_registering_and_finishing_at_once_never_leaves_a_gate_unanswered() -> None:
    for _ in range(40):
        case = Stage()
        case.publish(graph(NODES, EDGES), watch={"a": ["join"], "b": ["join"]})
        run = case.start()
        case.write(run, "start")
        failures = race(
            partial(case.assembly.gates.register, case.scope, case.level(run), GATED, "t"),
            partial(_finish, case, run, "a", "true"),
            partial(_finish, case, run, "b", "out"),
        )
        assert failures == [None, None, None]
        assert case.executions.succeeded == [("t", {"port": "live"})]


def _finish(case: Stage, run: Run, node: str, port: str) -> None:
    case.write(run, node, port=port)
    case.assembly.gates.check(case.scope, case.level(run), NodeKey(node))


class _Counting:
    """A journal that notes how many keys each read asks for."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.reads: list[int] = []

    def read(self, scope: Scope, run: RunId, keys: Sequence[StepKey]) -> dict[StepKey, Step]:
        self.reads.append(len(keys))
        return self._stage.world.journal.read(scope, run, keys)
