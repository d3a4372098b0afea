"""What errors leave behind while the run goes on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import RunCancelled
from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Attempt, Failure, Run, StepStatus, TaskStatus
from tests.runs.stage import Stage, graph

TIMEOUT = Failure(type="States.Timeout", message="too slow")


def _node(kind: str, **more: JsonValue) -> JsonObject:
    return {"type": kind, **more}


@pytest.fixture
def run(stage: Stage) -> Run:
    drawn = graph(
        {
            "start": "trigger",
            "send": _node("mail.send", on_error="branch"),
            "set": _node("flow.if", on_error="continue"),
            "ask": _node("input.approval", on_error="branch"),
            "each": "flow.for_each",
            "in": _node("data.set", parent="each"),
            "join": "data.set",
        },
        ["start send", "send.error join"],
    )
    stage.publish(drawn, watch={"send": ["join"]})
    return stage.start()


def _failed(stage: Stage, run: Run, node: str) -> str:
    return stage.assembly.scopes.node_failed(stage.scope, stage.level(run), NodeKey(node), TIMEOUT)


def test_a_node_that_branches_fires_error_with_the_journals_error(stage: Stage, run: Run) -> None:
    stage.fail(run, "send", "refused")
    assert _failed(stage, run, "send") == "error"
    step = stage.step(run, "send")
    assert (step.status, step.port) == (StepStatus.FAILED, "error")
    assert stage.value(step.value) == {
        "error": {
            "type": "PermanentError",
            "message": "refused",
            "node": "send",
            "uncertain": False,
        }
    }


def test_a_node_that_continues_fires_its_first_port(stage: Stage, run: Run) -> None:
    assert _failed(stage, run, "set") == "true"
    step = stage.step(run, "set")
    assert step.attempts[0].error == TIMEOUT.model_copy(update={"node": "set"})
    assert step.type == "flow.if"


def test_a_second_delivery_changes_nothing_and_looks_at_gates_again(stage: Stage, run: Run) -> None:
    stage.fail(run, "send")
    assert _failed(stage, run, "send") == "error"
    before = stage.step(run, "send")
    stage.assembly.gates.register(stage.scope, stage.level(run), NodeKey("join"), "gate")
    assert _failed(stage, run, "send") == "error"
    assert stage.step(run, "send") == before
    assert stage.executions.succeeded == [("gate", {"port": "live"})]


def test_a_write_that_was_in_flight_when_its_time_ran_out_is_uncertain(
    stage: Stage, run: Run
) -> None:
    now = stage.clock.now()
    stage.write(
        run,
        "send",
        StepStatus.RUNNING,
        attempts=(Attempt(started=now),),
        lease=now + timedelta(seconds=9),
    )
    assert _failed(stage, run, "send") == "error"
    step = stage.step(run, "send")
    assert step.status is StepStatus.UNCERTAIN
    assert step.attempts[0].ended == now
    value = stage.value(step.value)
    assert isinstance(value, dict)
    assert value["error"] == {
        "type": "States.Timeout",
        "message": "too slow",
        "node": "send",
        "uncertain": True,
    }


def test_a_step_that_was_uncertain_stays_so(stage: Stage, run: Run) -> None:
    error = Failure(type="EffectUncertain", message="may have happened")
    now = stage.clock.now()
    attempts = (Attempt(started=now, ended=now, error=error),)
    stage.write(run, "send", StepStatus.UNCERTAIN, attempts=attempts)
    _failed(stage, run, "send")
    assert stage.step(run, "send").status is StepStatus.UNCERTAIN
    assert stage.step(run, "send").attempts == attempts


def test_a_failed_wait_ends_its_task_and_is_not_counted(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    assert _failed(stage, run, "ask") == "error"
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert stage.run(run).waits == 0


def test_a_wait_that_failed_by_itself_ends_its_task_too(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    failed = {"status": StepStatus.FAILED}
    stage.world.journal.write(stage.scope, stage.step(run, "ask").model_copy(update=failed))
    assert _failed(stage, run, "ask") == "error"
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert stage.run(run).waits == 0


def test_a_node_of_a_closed_scope_does_not_go_on(stage: Stage, run: Run) -> None:
    stage.write(run, "send", StepStatus.CANCELLED)
    with pytest.raises(RunCancelled, match="scope of node 'send' is closed"):
        _failed(stage, run, "send")


def test_an_item_of_a_collecting_loop_is_marked_failed_with_its_error(
    stage: Stage, run: Run
) -> None:
    for index in range(2):
        stage.write_scope(run, "each", index, item=index)
    stage.fail(run, "in", "bad line", path="each[0]")
    stage.write(run, "in", StepStatus.RUNNING, path="each[1]")
    for _ in range(2):
        stage.assembly.scopes.closed(
            stage.scope, run.id, Path("each[0]"), TIMEOUT, collector=NodeKey("each")
        )
    scope = stage.step(run, "each", "each[0]")
    assert scope.status is StepStatus.FAILED
    assert scope.attempts[0].error is not None
    assert (scope.attempts[0].error.message, scope.attempts[0].error.node) == ("bad line", "in")
    assert stage.value(scope.value) == 0
    assert stage.step(run, "in", "each[1]").status is StepStatus.RUNNING


def test_an_item_without_an_error_of_its_own_has_the_one_that_was_caught(
    stage: Stage, run: Run
) -> None:
    stage.write_scope(run, "each", 0)
    stage.assembly.scopes.closed(
        stage.scope, run.id, Path("each[0]"), TIMEOUT, collector=NodeKey("each")
    )
    assert stage.step(run, "each", "each[0]").attempts[0].error == TIMEOUT


def test_a_closed_branch_marks_no_item(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    stage.assembly.scopes.closed(stage.scope, run.id, Path(""), TIMEOUT)
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert stage.run(run).status.open


def test_closing_a_loop_leaves_what_runs_beside_it(stage: Stage, run: Run) -> None:
    stage.write_scope(run, "each", 0, item=0)
    stage.write(run, "in", StepStatus.RUNNING, path="each[0]")
    stage.write(run, "each", StepStatus.RUNNING)
    stage.write(run, "other", StepStatus.RUNNING)
    stage.assembly.scopes.closed(stage.scope, run.id, Path(""), TIMEOUT, loop=NodeKey("each"))
    assert stage.step(run, "in", "each[0]").status is StepStatus.SKIPPED  # it had not begun
    assert stage.step(run, "each").status is StepStatus.RUNNING
    assert stage.step(run, "other").status is StepStatus.RUNNING
