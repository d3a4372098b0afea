"""What happens when someone else is faster, between a read and the write that follows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stellwerk.kernel.ids import ROOT, NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.children import ChildCall
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Run, RunStatus, StepStatus, TaskStatus
from stellwerk.runs.world import World
from tests.runs.stage import Stage, graph

CALL: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}


class Overtaken:
    """A store before whose method `name` something happens, once."""

    def __init__(self, store: object, name: str, event: Callable[[], object]) -> None:
        self._store = store
        self._name = name
        self._event: Callable[[], object] | None = event

    def __getattr__(self, name: str) -> object:
        if name == self._name and self._event is not None:
            event, self._event = self._event, None
            event()
        return getattr(self._store, name)


def _overtaken(world: World, store: str, name: str, event: Callable[[], object]) -> Assembly:
    found = Overtaken(getattr(world, store), name, event)
    return Assembly.of(replace(world, **{store: found}))  # type: ignore[arg-type]


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(graph({"called": "called"}), slug="child")
    nodes: dict[str, str | JsonObject] = {
        "start": "trigger",
        "ask": "input.approval",
        "set": "data.set",
        "call": CALL,
    }
    stage.publish(graph(nodes, ["start ask", "start set", "start call"]))
    return stage.start()


def test_a_decision_that_beats_the_expiry_by_a_hair_counts(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    late = _overtaken(
        stage.world,
        "tasks",
        "close",
        lambda: stage.assembly.tasks.decide(stage.scope, task.id, "approved"),
    )
    decision = late.tasks.settle(stage.scope, task.id, stage.clock.now()).decision
    assert decision is not None
    assert decision.port == "approved"
    assert stage.run(run).status is RunStatus.RUNNING


def test_a_gate_that_waits_anew_while_it_is_answered_stays_registered(
    stage: Stage, run: Run
) -> None:
    gates, level = stage.assembly.gates, stage.level(run)
    node = NodeKey("set")
    gates.register(stage.scope, level, node, "old")
    stage.write(run, "start")
    late = _overtaken(
        stage.world,
        "executions",
        "succeed",
        lambda: gates.register(stage.scope, level, node, "new"),
    )
    late.gates.register(stage.scope, level, node, "mine")
    assert [token for token, _ in stage.executions.succeeded] == ["new", "mine"]
    assert stage.step(run, "set@gate").token == "new"


def test_a_step_that_ends_while_its_scope_is_closed_keeps_its_end(stage: Stage, run: Run) -> None:
    step = stage.write(run, "set", StepStatus.RUNNING)
    done = {"status": StepStatus.SUCCEEDED, "port": "out"}
    late = _overtaken(
        stage.world,
        "journal",
        "write",
        lambda: stage.world.journal.write(stage.scope, step.model_copy(update=done)),
    )
    late.endings.closing.close(stage.scope, run, ROOT, cause="over")
    assert stage.step(run, "set").port == "out"


def test_a_failed_wait_for_a_child_ends_the_child(stage: Stage, run: Run) -> None:
    step = stage.write(run, "call", StepStatus.RUNNING)
    waiting = stage.assembly.children.open(stage.scope, step, ChildCall("child", None), "wake")
    closing = stage.assembly.endings.closing
    assert closing.release(stage.scope, waiting, cause="x").status is StepStatus.RUNNING
    children = [found for found in stage.assembly.runs.list(stage.scope).items if found.parent]
    assert [found.status for found in children] == [RunStatus.CANCELLED]
    assert stage.run(run).waits == 0


def test_a_run_that_is_ended_by_two_at_once_is_ended_once(stage: Stage, run: Run) -> None:
    late = _overtaken(
        stage.world,
        "runs",
        "write",
        lambda: stage.assembly.runs.cancel(stage.scope, run.id),
    )
    ended = late.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
    assert ended.status is stage.run(run).status is RunStatus.CANCELLED


def test_a_run_that_ends_while_it_is_continued_is_not_started_again(stage: Stage, run: Run) -> None:
    late = _overtaken(
        stage.world,
        "executions",
        "stop",
        lambda: stage.assembly.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED")),
    )
    assert late.runs.continue_(stage.scope, run.id).status is RunStatus.COMPLETED
    assert list(stage.executions.started) == [run.execution]


def test_a_task_that_opens_while_its_run_ends_is_cancelled(stage: Stage, run: Run) -> None:
    late = _overtaken(stage.world, "runs", "end", lambda: stage.ask(run))
    late.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
    tasks = stage.world.tasks.of_run(stage.scope, run.id)
    assert [task.status for task in tasks] == [TaskStatus.CANCELLED]
    assert stage.step(run, "ask").status is StepStatus.CANCELLED
    assert stage.run(run).waits == 0


def test_an_execution_noted_by_someone_else_stays_as_it_was_noted(stage: Stage, run: Run) -> None:
    bare = stage.world.runs.write(stage.scope, run.model_copy(update={"execution": ""}))
    late = _overtaken(
        stage.world,
        "executions",
        "start",
        lambda: stage.assembly.starting.launch(stage.scope, bare),
    )
    assert late.starting.launch(stage.scope, bare).execution == run.execution


def test_a_lease_that_ends_by_itself_is_not_released_again(stage: Stage, run: Run) -> None:
    later = stage.clock.now().replace(hour=23)
    step = stage.write(run, "set", StepStatus.RUNNING, lease=later)
    done = {"status": StepStatus.SUCCEEDED, "port": "out", "lease": None}
    late = _overtaken(
        stage.world,
        "journal",
        "read",
        lambda: stage.world.journal.write(stage.scope, step.model_copy(update=done)),
    )
    late.runs.release_leases(stage.scope, run.id)
    assert stage.step(run, "set").lease is None
