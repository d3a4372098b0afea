"""Child runs: started once per step, waited for, answered once, and ended with their parent."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.children import ChildCall, SubworkflowFailed
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import ParentStep, Run, RunStatus, Step, StepStatus, TaskStatus
from stellwerk.workflows.model import VersionStatus
from tests.runs.stage import Crash, Power, Stage, fragile, graph, key_of

CHILD = graph({"called": "called", "ask": "input.approval"}, ["called ask"])
CALL: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}
PARENT = graph({"start": "trigger", "call": CALL}, ["start call"])


def _parent(stage: Stage) -> Run:
    stage.publish(CHILD, slug="child")
    stage.publish(PARENT)
    return stage.start()


@pytest.fixture
def parent(stage: Stage) -> Run:
    return _parent(stage)


def _open(stage: Stage, parent: Run, token: str = "wake", with_: Assembly | None = None) -> Step:
    key = key_of("call")
    known = stage.world.journal.read(stage.scope, parent.id, [key]).get(key)
    step = known or stage.write(parent, "call", StepStatus.RUNNING)
    call = ChildCall("child", {"n": 1})
    return (with_ or stage.assembly).children.open(stage.scope, step, call, token)


def _child(stage: Stage, step: Step) -> Run:
    return stage.world.runs.get(stage.scope, RunId(step.child or ""))


def _end(stage: Stage, run: Run, ended: Ended | None = None) -> None:
    current = stage.run(run)
    stage.assembly.endings.execution_ended(stage.scope, current, ended or Ended("SUCCEEDED"))


def test_the_parent_is_paused_while_its_child_runs(stage: Stage, parent: Run) -> None:
    step = _open(stage, parent)
    child = _child(stage, step)
    assert (step.status, step.token) == (StepStatus.WAITING, "wake")
    assert (stage.run(parent).status, stage.run(parent).waits) == (RunStatus.PAUSED, 1)
    assert child.parent is not None
    assert (child.parent.run, child.parent.node, child.parent.depth) == (parent.id, "call", 1)
    assert child.trigger.kind == "trigger.called"
    assert child.execution in stage.executions.started
    assert stage.value(child.input) == {"n": 1}


def test_the_end_of_the_child_wakes_the_parent(stage: Stage, parent: Run) -> None:
    child = _child(stage, _open(stage, parent))
    stage.write(child, "called", value=stage.keep(1))
    stage.write(child, "ask", port="approved", value=stage.keep("yes"))
    _end(stage, child)
    assert stage.executions.succeeded == [("wake", {})]
    assert (stage.run(parent).status, stage.run(parent).waits) == (RunStatus.RUNNING, 0)
    step = stage.assembly.children.close(stage.scope, stage.step(parent, "call"))
    assert step.status is StepStatus.RUNNING
    assert stage.assembly.children.outcome(stage.scope, step) == {"ask": "yes"}


def test_a_retry_of_the_state_finds_the_same_child_and_replaces_the_token(
    stage: Stage, parent: Run
) -> None:
    first = _open(stage, parent)
    second = _open(stage, parent, "wake again")
    assert second.child == first.child
    assert stage.run(parent).waits == 1
    _end(stage, _child(stage, second))
    assert stage.executions.succeeded == [("wake again", {})]


def test_a_child_that_is_over_already_is_answered_at_once(stage: Stage, parent: Run) -> None:
    child = _child(stage, _open(stage, parent))
    _end(stage, child)
    _open(stage, parent, "wake again")
    assert [token for token, _ in stage.executions.succeeded] == ["wake", "wake again"]
    assert stage.run(parent).waits == 0


def test_a_step_that_has_fired_opens_nothing_again(stage: Stage, parent: Run) -> None:
    child = _child(stage, _open(stage, parent))
    _end(stage, child)
    step = stage.step(parent, "call")
    done = {"status": StepStatus.SUCCEEDED, "port": "out"}
    stage.world.journal.write(stage.scope, step.model_copy(update=done))
    _open(stage, parent, "wake again")
    assert stage.run(parent).waits == 0
    assert len(stage.executions.succeeded) == 1


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (Ended("FAILED", "Forbidden", "not yours"), "failed with Forbidden: not yours"),
        (Ended("ABORTED", "", "stopped"), "was cancelled: stopped"),
    ],
)
def test_the_childs_error_is_told_to_the_parent(
    stage: Stage, parent: Run, ended: Ended, message: str
) -> None:
    step = _open(stage, parent)
    _end(stage, _child(stage, step), ended)
    with pytest.raises(SubworkflowFailed, match=message):
        stage.assembly.children.outcome(stage.scope, stage.step(parent, "call"))


def test_a_child_without_output_has_the_value_null(stage: Stage, parent: Run) -> None:
    step = _open(stage, parent)
    child = _child(stage, step)
    stage.world.runs.end(
        stage.scope, child.model_copy(update={"status": RunStatus.COMPLETED, "output": None})
    )
    assert stage.assembly.children.outcome(stage.scope, step) is None


def test_a_child_that_outlasts_its_parents_wait_is_cancelled(stage: Stage, parent: Run) -> None:
    step = stage.assembly.children.close(stage.scope, _open(stage, parent))
    assert _child(stage, step).status is RunStatus.CANCELLED
    assert stage.run(parent).waits == 0
    with pytest.raises(SubworkflowFailed, match="waited long enough"):
        stage.assembly.children.outcome(stage.scope, step)


def test_cancelling_the_parent_cancels_the_child_and_its_tasks(stage: Stage, parent: Run) -> None:
    child = _child(stage, _open(stage, parent))
    task = stage.ask(child)
    stage.assembly.runs.cancel(stage.scope, parent.id)
    assert stage.run(child).status is RunStatus.CANCELLED
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert stage.step(parent, "call").status is StepStatus.CANCELLED
    assert {arn for arn, _ in stage.executions.stopped} == {parent.execution, child.execution}


def test_the_child_has_the_version_that_was_pinned_when_the_parent_started(
    stage: Stage, parent: Run
) -> None:
    stage.publish(CHILD, slug="child")
    child = _child(stage, _open(stage, parent))
    assert child.version == 1
    assert child.pinned_versions == parent.pinned_versions


def test_a_child_that_is_not_published_is_refused(stage: Stage, parent: Run) -> None:
    stage.publish(CHILD, slug="draft", status=VersionStatus.DRAFT)
    step = stage.write(parent, "call", StepStatus.RUNNING)
    for name, error in (("draft", BadInput), ("nowhere", NotFound)):
        with pytest.raises(error):
            stage.assembly.children.open(stage.scope, step, ChildCall(name, None), "t")
    assert stage.run(parent).waits == 0


def test_a_workflow_without_a_called_trigger_cannot_be_a_child(stage: Stage, parent: Run) -> None:
    stage.publish(PARENT, slug="other")
    step = stage.write(parent, "call", StepStatus.RUNNING)
    with pytest.raises(BadInput, match=r"has no trigger\.called node"):
        stage.assembly.children.open(stage.scope, step, ChildCall("other", None), "t")


def test_more_than_ten_levels_are_refused(stage: Stage) -> None:
    stage.publish(CHILD, slug="child")
    stage.publish(PARENT)
    run = stage.start()
    place = ParentStep(run=run.id, path=key_of("x").path, node=key_of("x").node, depth=10)
    stage.world.runs.write(stage.scope, run.model_copy(update={"parent": place}))
    with pytest.raises(SubworkflowFailed, match="11 deep"):
        _open(stage, run)


def test_a_child_whose_parents_step_is_gone_ends_alone(stage: Stage, parent: Run) -> None:
    step = _open(stage, parent)
    child = _child(stage, step)
    cancelled = {"status": StepStatus.CANCELLED}
    stage.world.waits.close(stage.scope, step.model_copy(update=cancelled))
    _end(stage, child)
    assert stage.run(child).status is RunStatus.COMPLETED
    assert stage.executions.succeeded == []


def test_a_crash_at_any_call_of_opening_or_ending_a_child_loses_nothing() -> None:
    crashes = 0
    for at in range(1, 60):
        case = Stage()
        parent = _parent(case)
        case.write(parent, "call", StepStatus.RUNNING)
        broken = Assembly.of(fragile(case.world, Power(at)))
        try:
            child = _child(case, _open(case, parent, with_=broken))
            ended = case.run(child)
            broken.endings.execution_ended(case.scope, ended, Ended("SUCCEEDED"))
        except Crash:
            crashes += 1
        child = _child(case, _open(case, parent, "again"))
        case.executions.states[child.execution] = ("SUCCEEDED", "", "")
        case.clock.advance(minutes=5)
        case.assembly.sweeper.sweep(case.scope)
        assert case.run(child).status is RunStatus.COMPLETED
        assert case.run(parent).waits == 0
        assert "again" in [token for token, _ in case.executions.succeeded]
        assert len(case.assembly.runs.list(case.scope).items) == 2
    assert crashes > 15
