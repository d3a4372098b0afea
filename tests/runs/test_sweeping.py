"""The sweeper repairs what is broken and leaves alone what is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import Decision, Run, RunStatus, TaskStatus
from stellwerk.runs.sweeping import Swept
from tests.runs.stage import FOREIGN, QUESTION, Crash, Power, Stage, fragile, graph

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(ASKING)
    return stage.start()


def _sweep(stage: Stage, *, minutes: int = 5, limit: int = 100) -> Swept:
    stage.clock.advance(minutes=minutes)
    return stage.assembly.sweeper.sweep(stage.scope, limit=limit)


def test_where_nothing_is_broken_nothing_is_done(stage: Stage, run: Run) -> None:
    stage.ask(run)
    assert _sweep(stage) == Swept()
    assert stage.run(run).status is RunStatus.PAUSED


def test_an_answer_that_step_functions_did_not_take_is_sent_again(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    decision = Decision(port="approved", by=stage.scope.user, at=stage.clock.now())
    stage.world.tasks.close(stage.scope, task.id, TaskStatus.COMPLETED, decision)
    assert _sweep(stage).counts() == {
        "answered": 1,
        "started": 0,
        "ended": 0,
        "expired": 0,
        "retired": 0,
        "tended": 0,
        "failed": 0,
        "told": 0,
    }
    assert stage.executions.succeeded == [("token-1", {})]
    assert _sweep(stage) == Swept()


def test_a_run_whose_execution_ended_without_an_event_is_ended(stage: Stage, run: Run) -> None:
    stage.executions.states[run.execution] = ("FAILED", "Forbidden", "no")
    assert _sweep(stage) == Swept(ended=1)
    assert stage.run(run).status is RunStatus.FAILED


def test_a_run_whose_execution_is_unknown_is_started_anew(stage: Stage, run: Run) -> None:
    del stage.executions.states[run.execution]
    assert _sweep(stage) == Swept(started=1)
    assert stage.run(run).execution.endswith("-g2")


def test_a_run_that_was_recorded_and_never_started_is_started(stage: Stage) -> None:
    stage.publish(ASKING)
    with pytest.raises(Crash):
        Assembly.of(fragile(stage.world, Power(2))).runs.start(stage.scope, "demo")
    assert _sweep(stage, minutes=1) == Swept()  # the regular way still has time
    assert _sweep(stage, minutes=5) == Swept(started=1)
    found = stage.assembly.runs.list(stage.scope).items[0]
    assert found.execution in stage.executions.started


def test_a_run_that_is_just_being_ended_is_left_to_it(stage: Stage, run: Run) -> None:
    ended = {"ended": stage.clock.now()}
    stage.world.runs.write(stage.scope, stage.run(run).model_copy(update=ended))
    assert _sweep(stage, minutes=1) == Swept()
    assert _sweep(stage, minutes=5) == Swept(ended=1)
    assert stage.run(run).status is RunStatus.COMPLETED


def test_an_overdue_task_whose_state_is_gone_expires(stage: Stage, run: Run) -> None:
    due = stage.clock.now() + timedelta(minutes=10)
    task = stage.ask(run, question=replace(QUESTION, due=due))
    assert _sweep(stage, minutes=11) == Swept()
    assert _sweep(stage, minutes=2) == Swept(expired=1)
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.EXPIRED
    assert stage.run(run).waits == 0


def test_an_overdue_task_of_a_run_that_is_over_is_cancelled(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, due=stage.clock.now()))
    stage.world.runs.end(
        stage.scope, stage.run(run).model_copy(update={"status": RunStatus.FAILED})
    )
    assert _sweep(stage) == Swept(expired=1)
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED


def test_one_call_makes_no_more_repairs_than_its_limit(stage: Stage) -> None:
    stage.publish(ASKING)
    for _ in range(3):
        stage.executions.states[stage.start().execution] = ("SUCCEEDED", "", "")
    assert _sweep(stage, limit=2) == Swept(ended=2)
    assert _sweep(stage, limit=2) == Swept(ended=1)


def test_a_repair_that_fails_does_not_stop_the_others(stage: Stage) -> None:
    stage.publish(ASKING)
    runs = [stage.start() for _ in range(2)]
    for run in runs:
        stage.executions.states[run.execution] = ("SUCCEEDED", "", "")
    broken = _Unavailable(stage, runs[0])
    world = replace(stage.world, executions=broken)  # type: ignore[arg-type]
    stage.clock.advance(minutes=5)
    assert Assembly.of(world).sweeper.sweep(stage.scope) == Swept(ended=1, failed=1)
    assert _sweep(stage) == Swept(ended=1)


def test_a_foreign_scope_repairs_nothing(stage: Stage, run: Run) -> None:
    stage.executions.states[run.execution] = ("SUCCEEDED", "", "")
    assert stage.assembly.sweeper.sweep(FOREIGN) == Swept()
    assert stage.run(run).status.open


class _Unavailable:
    """Step Functions that does not answer for one execution."""

    def __init__(self, stage: Stage, run: Run) -> None:
        self._stage = stage
        self._run = run

    def status(self, scope: object, execution: str) -> tuple[str, str, str]:
        if execution == self._run.execution:
            raise ServiceUnavailable("Step Functions does not answer")
        return self._stage.executions.status(self._stage.scope, execution)
