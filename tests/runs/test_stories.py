"""Whole stories, in memory and on DynamoDB: what one service writes, the others understand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.children import ChildCall
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Run, RunStatus, StepStatus, TaskStatus
from tests.contracts.stores import Moto
from tests.runs.stage import Stage, graph

CALL: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}
ASKING = graph(
    {"start": "trigger", "ask": "input.approval", "send": "mail.send"}, ["start ask", "ask send"]
)


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()


@pytest.fixture(params=["memory", "dynamo"])
def stage(request: pytest.FixtureRequest) -> Stage:
    if request.param == "memory":
        return Stage()
    moto: Moto = request.getfixturevalue("moto")
    return Stage(stores=moto.stores()[0])


def _end(stage: Stage, run: Run, ended: Ended) -> Run:
    return stage.assembly.endings.execution_ended(stage.scope, stage.run(run), ended)


def test_a_run_that_is_asked_answered_and_completed(stage: Stage) -> None:
    stage.publish(ASKING)
    run = stage.assembly.runs.start(stage.scope, "demo", delivery="mail-1", payload={"n": 1})
    assert stage.assembly.runs.start(stage.scope, "demo", delivery="mail-1").id == run.id
    stage.write(run, "start", value=stage.keep(1))
    task = stage.ask(run)
    assert stage.run(run).status is RunStatus.PAUSED
    stage.assembly.tasks.decide(stage.scope, task.id, "approved", {"note": "ok"})
    with pytest.raises(Conflict, match="u-demo chose 'approved'"):
        stage.assembly.tasks.decide(stage.scope, task.id, "rejected")
    decision = stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now()).decision
    assert decision is not None
    step = stage.step(run, "ask")
    done = {"status": StepStatus.SUCCEEDED, "port": decision.port}
    stage.world.journal.write(stage.scope, step.model_copy(update=done))
    stage.write(run, "send", value=stage.keep("x" * 40_000))
    ended = _end(stage, run, Ended("SUCCEEDED"))
    assert (ended.status, ended.waits) == (RunStatus.COMPLETED, 0)
    assert stage.value(ended.output) == {"send": "x" * 40_000}
    assert stage.assembly.runs.count(stage.scope)[RunStatus.COMPLETED] == 1
    stage.clock.advance(minutes=5)
    assert stage.assembly.sweeper.sweep(stage.scope).counts()["failed"] == 0
    assert list(stage.world.runs.open_runs(stage.scope)) == []


def test_a_run_that_failed_and_is_replayed(stage: Stage) -> None:
    stage.publish(ASKING)
    run = stage.start()
    stage.write(run, "start", value=stage.keep(1))
    task = stage.ask(run)
    _end(stage, run, Ended("FAILED", "Forbidden", "no"))
    assert stage.run(run).status is RunStatus.FAILED
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    again = stage.assembly.runs.replay(stage.scope, run.id)
    assert stage.value(stage.step(again, "start").value) == 1
    assert stage.run(again).execution == again.execution
    onward = stage.assembly.runs.continue_(stage.scope, again.id)
    assert onward.generation == 2
    assert stage.assembly.runs.cancel(stage.scope, again.id).status is RunStatus.CANCELLED


def test_a_run_that_waits_for_another_and_is_cancelled_with_it(stage: Stage) -> None:
    stage.publish(graph({"called": "called", "ask": "input.approval"}), slug="child")
    stage.publish(graph({"start": "trigger", "call": CALL}, ["start call"]))
    parent = stage.start()
    step = stage.write(parent, "call", StepStatus.RUNNING)
    waiting = stage.assembly.children.open(stage.scope, step, ChildCall("child", 1), "wake")
    child = stage.world.runs.get(stage.scope, RunId(waiting.child or ""))
    stage.ask(child)
    assert stage.run(parent).waits == 1
    stage.assembly.runs.cancel(stage.scope, parent.id)
    assert [stage.run(run).status for run in (parent, child)] == [RunStatus.CANCELLED] * 2


def test_a_run_whose_child_wakes_it(stage: Stage) -> None:
    stage.publish(graph({"called": "called"}), slug="child")
    stage.publish(graph({"start": "trigger", "call": CALL}, ["start call"]))
    parent = stage.start()
    step = stage.write(parent, "call", StepStatus.RUNNING)
    waiting = stage.assembly.children.open(stage.scope, step, ChildCall("child", 1), "wake")
    child = stage.world.runs.get(stage.scope, RunId(waiting.child or ""))
    stage.write(child, "called", value=stage.keep(5))
    _end(stage, child, Ended("SUCCEEDED"))
    closed = stage.assembly.children.close(stage.scope, stage.step(parent, "call"))
    assert stage.assembly.children.outcome(stage.scope, closed) == {"called": 5}
    assert stage.run(parent).waits == 0
    assert stage.executions.succeeded == [("wake", {})]


def test_a_gate_and_a_node_that_handles_its_error(stage: Stage) -> None:
    send: JsonObject = {"type": "mail.send", "on_error": "branch"}
    drawn = graph(
        {"start": "trigger", "send": send, "fix": "data.set"}, ["start send", "send.error fix"]
    )
    stage.publish(drawn, watch={"send": ["fix"]})
    run = stage.start()
    stage.write(run, "start")
    level = stage.level(run)
    stage.assembly.gates.register(stage.scope, level, NodeKey("fix"), "gate")
    failure = stage.fail(run, "send").attempts[0].error
    assert failure is not None
    port = stage.assembly.scopes.node_failed(stage.scope, level, NodeKey("send"), failure)
    assert port == "error"
    assert stage.executions.succeeded == [("gate", {"port": "live"})]
