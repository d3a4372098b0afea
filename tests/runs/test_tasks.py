"""Human tasks: ended once, by whoever is first; nobody loses an answer and nobody gets two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound, RunCancelled
from stellwerk.kernel.ids import TaskId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.asking import Question
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.forms import FormRefused
from stellwerk.runs.model import Decision, HumanTask, Run, RunStatus, StepStatus, TaskStatus
from tests.runs.stage import FOREIGN, QUESTION, Crash, Power, Stage, fragile, graph, race

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
FORM: JsonObject = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "note": {"type": "string", "maxLength": 3}},
    "required": ["amount"],
}


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(ASKING)
    return stage.start()


def test_opening_a_task_pauses_the_run_and_lets_the_step_wait(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    assert stage.run(run).status is RunStatus.PAUSED
    assert stage.run(run).waits == 1
    assert (stage.step(run, "ask").status, stage.step(run, "ask").token) == (
        StepStatus.WAITING,
        "token-1",
    )
    assert stage.assembly.tasks.list(stage.scope).items == [task]


def test_a_retry_of_the_state_replaces_the_token_and_not_the_task(stage: Stage, run: Run) -> None:
    first = stage.ask(run)
    second = stage.ask(run, token="token-2")
    assert (second.id, second.token) == (first.id, "token-2")
    assert stage.run(run).waits == 1
    stage.assembly.tasks.decide(stage.scope, first.id, "approved")
    assert stage.executions.succeeded == [("token-2", {})]


def test_deciding_ends_the_task_and_wakes_the_run(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    decided = stage.assembly.tasks.decide(stage.scope, task.id, "approved", {"note": "ok"})
    assert decided.status is TaskStatus.COMPLETED
    assert decided.decision == Decision(
        port="approved", data={"note": "ok"}, by=stage.scope.user, at=stage.clock.now()
    )
    assert stage.executions.succeeded == [("token-1", {})]
    assert stage.assembly.tasks.get(stage.scope, task.id).answered
    assert stage.run(run).status is RunStatus.RUNNING
    settled = stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now())
    assert settled.decision == decided.decision


def test_a_second_answer_is_told_who_decided_when_and_how(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    with pytest.raises(Conflict, match="u-demo chose 'approved' at 2026-11-02T09:00:00"):
        stage.assembly.tasks.decide(stage.scope, task.id, "rejected")
    with pytest.raises(Conflict, match="is completed"):
        stage.assembly.tasks.cancel(stage.scope, task.id)
    assert len(stage.executions.succeeded) == 1


def test_an_outcome_that_the_task_does_not_have_is_refused(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    with pytest.raises(BadInput, match=r"no outcome 'expired'\. It has: approved, rejected"):
        stage.assembly.tasks.decide(stage.scope, task.id, "expired")
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.PENDING


def test_data_is_checked_against_the_form_and_all_faults_are_named(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, form=FORM))
    with pytest.raises(FormRefused) as refused:
        stage.assembly.tasks.decide(stage.scope, task.id, "approved", {"note": "long"})
    assert len(refused.value.faults) == 2
    with pytest.raises(FormRefused, match="'amount' is a required property"):
        stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    stage.assembly.tasks.decide(stage.scope, task.id, "approved", {"amount": 3})


def test_a_form_of_which_nothing_is_required_may_be_left_out(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, form={"type": "object"}))
    decided = stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    assert decided.decision is not None
    assert decided.decision.data == {}


@pytest.mark.parametrize(("port", "value"), [("accepted", {"amount": 3}), ("rejected", {})])
def test_a_review_without_data_is_of_the_value_as_shown(
    stage: Stage, run: Run, port: str, value: JsonObject
) -> None:
    """What is rejected need not fit the form."""
    ports = ("accepted", "rejected")
    question = Question("review", "Right?", ("role:x",), ports, form=FORM, value=value)
    task = stage.ask(run, question=question)
    decided = stage.assembly.tasks.decide(stage.scope, task.id, port)
    assert decided.decision is not None
    assert decided.decision.data == value


def test_data_of_unreasonable_size_is_refused(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    with pytest.raises(BadInput, match="may have 262144 bytes"):
        stage.assembly.tasks.decide(stage.scope, task.id, "approved", "x" * 300_000)


def test_a_wrong_token_decides_nothing(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    with pytest.raises(Forbidden, match="does not belong to task"):
        stage.assembly.tasks.decide(stage.scope, task.id, "approved", token="guessed")
    stage.assembly.tasks.decide(stage.scope, task.id, "approved", token="token-1")


def test_a_token_replaced_at_the_last_moment_decides_nothing(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    world = replace(stage.world, tasks=_Renewing(stage, run))  # type: ignore[arg-type]
    with pytest.raises(Forbidden, match="does not belong to task"):
        Assembly.of(world).tasks.decide(stage.scope, task.id, "approved", token="token-1")
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.PENDING


def test_a_foreign_scope_sees_and_changes_nothing(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    tasks = stage.assembly.tasks
    assert tasks.list(FOREIGN).items == []
    acts: tuple[Callable[[], HumanTask], ...] = (
        lambda: tasks.get(FOREIGN, task.id),
        lambda: tasks.decide(FOREIGN, task.id, "approved"),
        lambda: tasks.cancel(FOREIGN, task.id),
        lambda: tasks.settle(FOREIGN, task.id, stage.clock.now()),
    )
    for act in acts:
        with pytest.raises(NotFound):
            act()
    assert tasks.get(stage.scope, task.id).status is TaskStatus.PENDING


def test_cancelling_a_task_cancels_its_run(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    cancelled = stage.assembly.tasks.cancel(stage.scope, task.id)
    assert cancelled.status is TaskStatus.CANCELLED
    ended = stage.run(run)
    assert (ended.status, ended.waits) == (RunStatus.CANCELLED, 0)
    assert ended.error is not None
    assert ended.error.message == "Task 'Approve the invoice' of node 'ask' was cancelled."
    assert stage.step(run, "ask").status is StepStatus.CANCELLED
    assert [arn for arn, _ in stage.executions.stopped] == [run.execution]


def test_an_expired_task_with_a_default_goes_on_at_port_expired(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, on_expire="default", default={"x": 1}))
    settled = stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now()).decision
    assert settled is not None
    assert (settled.port, settled.data, settled.by) == ("expired", {"x": 1}, None)
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.EXPIRED
    assert stage.run(run).status is RunStatus.RUNNING
    again = stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now())
    assert again.decision == settled


def test_an_expired_task_without_a_default_cancels_the_run(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    for _ in range(2):
        with pytest.raises(RunCancelled, match="node 'ask' expired"):
            stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now())
    assert stage.run(run).status is RunStatus.CANCELLED
    with pytest.raises(Conflict, match="is expired: nobody had answered at"):
        stage.assembly.tasks.decide(stage.scope, task.id, "approved")


def test_a_step_whose_task_was_cancelled_cancels_the_run_too(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    decision = Decision(port="cancelled", by=stage.scope.user, at=stage.clock.now())
    stage.world.tasks.close(stage.scope, task.id, TaskStatus.CANCELLED, decision)
    with pytest.raises(RunCancelled, match="was cancelled"):
        stage.assembly.tasks.settle(stage.scope, task.id, stage.clock.now())
    assert stage.run(run).status is RunStatus.CANCELLED


def test_a_task_decided_before_its_state_waits_again_is_answered_at_once(
    stage: Stage, run: Run
) -> None:
    task = stage.ask(run)
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    reopened = stage.ask(run, token="token-2")
    assert reopened.status is TaskStatus.COMPLETED
    assert ("token-2", {}) in stage.executions.succeeded
    assert stage.assembly.tasks.get(stage.scope, task.id).answered
    assert stage.run(run).waits == 0


def test_no_task_opens_on_a_run_that_is_over(stage: Stage, run: Run) -> None:
    step = stage.write(run, "ask", StepStatus.RUNNING)
    stage.assembly.runs.cancel(stage.scope, run.id)
    with pytest.raises(Conflict):
        stage.assembly.tasks.open_task(stage.scope, step, QUESTION, "t")
    assert stage.assembly.tasks.list(stage.scope).items == []


def test_of_two_people_who_decide_at_once_one_wins() -> None:
    for _ in range(30):
        case = Stage()
        case.publish(ASKING)
        task = case.ask(case.start())
        results = race(_decide(case, task.id, "approved"), _decide(case, task.id, "rejected"))
        winners = [found for found in results if isinstance(found, HumanTask)]
        losers = [found for found in results if isinstance(found, Conflict)]
        assert (len(winners), len(losers)) == (1, 1)
        decision = winners[0].decision
        assert decision is not None
        assert f"u-demo chose '{decision.port}'" in losers[0].message
        assert case.executions.succeeded == [("token-1", {})]


def test_a_decision_at_the_moment_of_expiry_counts_or_is_told_that_it_is_late() -> None:
    outcomes = set()
    for _ in range(40):
        case = Stage()
        case.publish(ASKING)
        run = case.start()
        question = replace(QUESTION, on_expire="default", default=0, due=case.clock.now())
        task = case.ask(run, question=question)
        decided, settled = race(_decide(case, task.id, "approved"), _settle(case, task.id))
        assert isinstance(settled, HumanTask)
        stored = case.assembly.tasks.get(case.scope, task.id)
        assert settled.decision == stored.decision
        assert isinstance(decided, HumanTask) == (stored.status is TaskStatus.COMPLETED)
        assert case.run(run).waits == 0
        outcomes.add(stored.status)
    assert outcomes <= {TaskStatus.COMPLETED, TaskStatus.EXPIRED}


def test_of_a_decision_and_a_cancellation_at_once_one_wins() -> None:
    for _ in range(30):
        case = Stage()
        case.publish(ASKING)
        run = case.start()
        task = case.ask(run)
        results = race(_decide(case, task.id, "approved"), _cancel(case, task.id))
        assert sum(isinstance(found, HumanTask) for found in results) == 1
        status = case.assembly.tasks.get(case.scope, task.id).status
        cancelled = case.run(run).status is RunStatus.CANCELLED
        assert cancelled == (status is TaskStatus.CANCELLED)


def test_a_crash_at_any_call_of_a_decision_is_repaired_by_the_sweeper() -> None:
    crashes = 0
    for at in range(1, 9):
        case = Stage()
        case.publish(ASKING)
        run = case.start()
        task = case.ask(run)
        broken = Assembly.of(fragile(case.world, Power(at)))
        try:
            broken.tasks.decide(case.scope, task.id, "approved")
        except Crash:
            crashes += 1
        case.assembly.sweeper.sweep(case.scope)
        stored = case.assembly.tasks.get(case.scope, task.id)
        woken = ("token-1", {}) in case.executions.succeeded
        assert woken == (stored.status is TaskStatus.COMPLETED)
        assert stored.answered == woken
    assert crashes == 4


def test_a_crash_at_any_call_of_a_cancellation_is_repaired_by_step_or_sweeper() -> None:
    crashes = 0
    for at in range(1, 40):
        case = Stage()
        case.publish(ASKING)
        run = case.start()
        task = case.ask(run)
        try:
            Assembly.of(fragile(case.world, Power(at))).tasks.cancel(case.scope, task.id)
        except Crash:
            crashes += 1
        if case.assembly.tasks.get(case.scope, task.id).status is TaskStatus.PENDING:
            case.assembly.tasks.cancel(case.scope, task.id)
        case.clock.advance(minutes=5)
        case.assembly.sweeper.sweep(case.scope)
        if ("token-1", {}) in case.executions.succeeded and case.run(run).status.open:
            with pytest.raises(RunCancelled):
                case.assembly.tasks.settle(case.scope, task.id, case.clock.now())
        assert case.run(run).status is RunStatus.CANCELLED
        assert case.run(run).waits == 0
        assert case.step(run, "ask").status is StepStatus.CANCELLED
    assert crashes > 10


def test_a_task_that_expires_late_is_as_it_was_decided(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, due=stage.clock.now() + timedelta(hours=1)))
    stage.assembly.tasks.decide(stage.scope, task.id, "rejected")
    found = stage.assembly.tasks.expire(stage.scope, task.id, stage.clock.now())
    assert found.status is TaskStatus.COMPLETED


def _decide(case: Stage, task: TaskId, port: str) -> Callable[[], object]:
    return lambda: case.assembly.tasks.decide(case.scope, task, port)


def _settle(case: Stage, task: TaskId) -> Callable[[], object]:
    return lambda: case.assembly.tasks.settle(case.scope, task, case.clock.now())


def _cancel(case: Stage, task: TaskId) -> Callable[[], object]:
    return lambda: case.assembly.tasks.cancel(case.scope, task)


class _Renewing:
    """Task store in which the state waits anew, just before a decision is written."""

    def __init__(self, stage: Stage, run: Run) -> None:
        self._stage = stage
        self._run = run

    def __getattr__(self, name: str) -> object:
        if name == "close":
            self._stage.ask(self._run, token="token-2")
        return getattr(self._stage.world.tasks, name)
