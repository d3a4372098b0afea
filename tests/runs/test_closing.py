"""Closing a scope: what is inside ends, what is outside goes on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.closing import Closing
from stellwerk.runs.model import Attempt, Failure, Run, RunStatus, Step, StepStatus, TaskStatus
from tests.runs.stage import Stage, graph

LOOPS: dict[str, str | JsonObject] = {
    "start": "trigger",
    "send": "mail.send",
    "get": "http.request",
    "set": "data.set",
    "each": "flow.for_each",
    "ask": {"type": "input.approval", "parent": "each"},
    "inner": {"type": "flow.while", "parent": "each"},
    "deep": {"type": "mail.send", "parent": "inner"},
}
GRAPH = graph(LOOPS, ["start send", "start get", "start set", "start each", "ask inner"])


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(GRAPH)
    return stage.start()


@pytest.fixture
def closing(stage: Stage) -> Closing:
    return stage.assembly.endings.closing


def _flying(
    stage: Stage, run: Run, node: str, *, path: str = "", lease: int = -1, given: JsonValue = None
) -> Step:
    now = stage.clock.now()
    return stage.write(
        run,
        node,
        StepStatus.RUNNING,
        path=path,
        attempts=(Attempt(started=now),),
        lease=now + timedelta(seconds=lease),
        input=stage.keep(given),
    )


def test_a_write_in_flight_whose_process_died_is_uncertain(
    stage: Stage, run: Run, closing: Closing
) -> None:
    _flying(stage, run, "send")
    _flying(stage, run, "get", given={"method": "GET"})
    _flying(stage, run, "set")
    closing.close(stage.scope, run, ROOT, cause="over")
    assert stage.step(run, "send").status is StepStatus.UNCERTAIN
    assert stage.step(run, "get").status is StepStatus.CANCELLED
    assert stage.step(run, "set").status is StepStatus.CANCELLED


def test_a_write_that_still_holds_its_lease_is_cancelled(
    stage: Stage, run: Run, closing: Closing
) -> None:
    _flying(stage, run, "send", lease=60)
    closing.close(stage.scope, run, ROOT, cause="over")
    assert stage.step(run, "send").status is StepStatus.CANCELLED


def test_a_write_that_ended_and_waits_for_a_retry_is_not_uncertain(
    stage: Stage, run: Run, closing: Closing
) -> None:
    now = stage.clock.now()
    attempt = Attempt(started=now, ended=now, error=Failure(type="RateLimited", message=""))
    stage.write(run, "send", StepStatus.RUNNING, attempts=(attempt,))
    closing.close(stage.scope, run, ROOT, cause="over")
    assert stage.step(run, "send").status is StepStatus.CANCELLED


def test_a_step_that_never_began_is_skipped(stage: Stage, run: Run, closing: Closing) -> None:
    stage.write(run, "send", StepStatus.RUNNING)
    closing.close(stage.scope, run, ROOT, cause="over")
    assert stage.step(run, "send").status is StepStatus.SKIPPED


def test_only_what_is_inside_the_scope_is_closed(stage: Stage, run: Run, closing: Closing) -> None:
    stage.write(run, "each", StepStatus.RUNNING, size=2)
    tasks = []
    for index in range(2):
        stage.write_scope(run, "each", index)
        path = f"each[{index}]"
        tasks.append(stage.ask(run, path=path, token=f"t{index}"))
        stage.write(run, "inner", StepStatus.RUNNING, path=path)
        for turn in range(2):
            inside = f"{path}.inner[{turn}]"
            stage.write(run, "inner", StepStatus.RUNNING, path=inside, type="scope", port="again")
            _flying(stage, run, "deep", path=inside)
    chunk = stage.write(
        run, "inner@chunk0", StepStatus.WAITING, path="each[0]", type="chunk", child=run.execution
    )
    stage.write(run, "set", StepStatus.RUNNING)
    closing.close(stage.scope, run, Path("each[0]"), cause="item failed")
    found = [stage.assembly.tasks.get(stage.scope, task.id).status for task in tasks]
    assert found == [TaskStatus.CANCELLED, TaskStatus.PENDING]
    assert stage.run(run).waits == 1
    assert stage.step(run, "ask", "each[0]").status is StepStatus.CANCELLED
    assert stage.step(run, "ask", "each[1]").status is StepStatus.WAITING
    for turn in range(2):
        assert stage.step(run, "deep", f"each[0].inner[{turn}]").status is StepStatus.UNCERTAIN
        assert stage.step(run, "deep", f"each[1].inner[{turn}]").status is StepStatus.RUNNING
    assert stage.step(run, chunk.node, "each[0]").status is StepStatus.CANCELLED
    assert stage.executions.stopped == [(run.execution, "item failed")]
    assert stage.step(run, "set").status is StepStatus.RUNNING
    assert stage.step(run, "each", "each[0]").status is StepStatus.RUNNING


def test_a_waiting_step_that_nothing_counts_is_cancelled_without_counting(
    stage: Stage, run: Run, closing: Closing
) -> None:
    stage.ask(run, path="each[1]")
    stage.write(run, "set", StepStatus.WAITING)
    closing.close(stage.scope, run, Path("each[0]"), cause="x")
    assert stage.run(run).waits == 1
    closing.close(stage.scope, run, ROOT, cause="x")
    assert stage.run(run).waits == 0
    assert stage.run(run).status is RunStatus.RUNNING
    assert stage.step(run, "set").status is StepStatus.CANCELLED


def test_a_task_that_ends_at_the_same_moment_keeps_its_decision(
    stage: Stage, run: Run, closing: Closing
) -> None:
    task = stage.ask(run, path="each[0]")
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    closing.close_task(stage.scope, task)
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.COMPLETED


def test_a_loop_of_many_passes_is_closed_to_its_end(
    stage: Stage, run: Run, closing: Closing
) -> None:
    stage.write_scope(run, "each", 0)
    stage.write(run, "inner", StepStatus.RUNNING, path="each[0]")
    for turn in range(130):
        inside = f"each[0].inner[{turn}]"
        stage.write(run, "inner", StepStatus.RUNNING, path=inside, type="scope", port="again")
    _flying(stage, run, "deep", path="each[0].inner[129]")
    closing.close(stage.scope, run, Path("each[0]"), cause="x")
    assert stage.step(run, "deep", "each[0].inner[129]").status is StepStatus.UNCERTAIN


def test_releasing_a_waiting_step_ends_its_task(stage: Stage, run: Run, closing: Closing) -> None:
    task = stage.ask(run, path="each[0]")
    stage.ask(run, path="each[1]", token="other")
    step = stage.step(run, NodeKey("ask"), "each[0]")
    released = closing.release(stage.scope, step, cause="failed")
    assert released.status is StepStatus.RUNNING
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert closing.release(stage.scope, released, cause="failed") == released
    assert stage.run(run).waits == 1
