"""The service of runs, as callers see it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import Attempt, Run, RunStatus, StepStatus, TaskStatus
from tests.runs.stage import FOREIGN, Crash, Power, Stage, fragile, graph

ASKING = graph({"start": "trigger", "ask": "input.approval", "b": "data.set"}, ["start ask"])


@pytest.fixture
def run(stage: Stage) -> Run:
    workflow = stage.publish(ASKING)
    assert workflow == "w-demo"
    return stage.start(payload=[1])


def test_runs_are_listed_counted_and_shown(stage: Stage, run: Run) -> None:
    runs = stage.assembly.runs
    assert runs.get(stage.scope, run.id) == runs.list(stage.scope).items[0]
    assert runs.list(stage.scope, status=RunStatus.FAILED).items == []
    assert runs.count(stage.scope, workflow=run.workflow)[RunStatus.RUNNING] == 1
    assert run.input is not None
    assert runs.value(stage.scope, run.input) == [1]


def test_steps_come_in_the_order_in_which_they_began(stage: Stage, run: Run) -> None:
    stage.write(run, "b", StepStatus.SKIPPED)
    for node in ("start", "ask"):
        stage.write(run, node, attempts=(Attempt(started=stage.clock.advance(seconds=1)),))
    steps = stage.assembly.runs.steps(stage.scope, run.id)
    assert [step.node for step in steps] == ["start", "ask", "b"]


def test_a_foreign_scope_sees_and_changes_nothing(stage: Stage, run: Run) -> None:
    runs = stage.assembly.runs
    assert runs.list(FOREIGN).items == []
    assert runs.count(FOREIGN)[RunStatus.RUNNING] == 0
    for act in (runs.get, runs.steps, runs.cancel, runs.continue_):
        with pytest.raises(NotFound):
            act(FOREIGN, run.id)
    assert runs.release_leases(FOREIGN, run.id) == 0
    assert stage.run(run) == run


def test_a_run_that_is_over_is_not_cancelled_or_continued(stage: Stage, run: Run) -> None:
    stage.assembly.runs.cancel(stage.scope, run.id)
    with pytest.raises(Conflict, match="is cancelled: it does not allow 'cancel'"):
        stage.assembly.runs.cancel(stage.scope, run.id)
    with pytest.raises(Conflict, match="is cancelled: it does not allow 'continue'"):
        stage.assembly.runs.continue_(stage.scope, run.id)


def test_continuing_starts_the_next_generation_with_its_tasks_intact(
    stage: Stage, run: Run
) -> None:
    task = stage.ask(run)
    again = stage.assembly.runs.continue_(stage.scope, run.id)
    assert again.generation == 2
    assert again.execution.endswith(f"{run.id}-g2")
    started = stage.executions.started[again.execution]["run"]
    assert isinstance(started, dict)
    assert (started["id"], started["execution"]) == (run.id, 2)
    assert stage.executions.stopped == [(run.execution, "continued anew")]
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.PENDING
    assert (again.status, again.waits) == (RunStatus.PAUSED, 1)
    stage.ask(run, token="token-2")
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    assert stage.executions.succeeded == [("token-2", {})]
    assert stage.run(run).waits == 0


def test_a_crash_at_any_call_of_continuing_is_repaired_by_the_next_try() -> None:
    crashes = 0
    for at in range(1, 12):
        case = Stage()
        case.publish(ASKING)
        run = case.start()
        try:
            Assembly.of(fragile(case.world, Power(at))).runs.continue_(case.scope, run.id)
        except Crash:
            crashes += 1
        again = case.assembly.runs.continue_(case.scope, run.id)
        assert again.execution.endswith(f"-g{again.generation}")
        assert case.executions.states[again.execution][0] == "RUNNING"
        alive = [arn for arn, state in case.executions.states.items() if state[0] == "RUNNING"]
        assert alive == [again.execution]
    assert crashes == 8


def test_continuing_a_run_that_was_being_ended_ends_it(stage: Stage, run: Run) -> None:
    ended = {"ended": stage.clock.now()}
    stage.world.runs.write(stage.scope, stage.run(run).model_copy(update=ended))
    assert stage.assembly.runs.continue_(stage.scope, run.id).status is RunStatus.COMPLETED


def test_released_leases_are_over_and_nothing_else_changes(stage: Stage, run: Run) -> None:
    now = stage.clock.now()
    later = now + timedelta(minutes=9)
    stage.write(run, "b", StepStatus.RUNNING, attempts=(Attempt(started=now),), lease=later)
    stage.write(run, "start", lease=later)
    assert stage.assembly.runs.release_leases(stage.scope, run.id) == 1
    assert stage.step(run, "b").lease == now
    assert stage.assembly.runs.release_leases(stage.scope, run.id) == 0
