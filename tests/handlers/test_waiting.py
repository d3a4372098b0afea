"""Nodes that wait: for a moment, for a person, for a child run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict, Forbidden, InvalidParameters, NotFound, RunCancelled
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.children import SubworkflowFailed
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import HumanTask, RunStatus, StepStatus, TaskStatus
from tests.handlers.floor import Floor

ASK: JsonObject = {"assignees": ["role:finance"], "title": "{{ 'Pay ' & $input & '?' }}"}


@pytest.fixture
def floor() -> Floor:
    return Floor()


def begin(floor: Floor, kind: str, given: JsonValue = 5, **node: JsonValue) -> None:
    nodes: dict[str, JsonObject] = {
        "start": {"type": "trigger.manual"},
        "node": {"type": kind, **node},
    }
    floor.publish(nodes, ["start node"])
    floor.start(given)
    floor.call("start")


def ask(floor: Floor, kind: str = "input.approval", **parameters: JsonValue) -> HumanTask:
    """Open and wait; return the task."""
    begin(floor, kind, parameters={**ASK, **parameters})
    floor.call("node", phase="open")
    floor.call("node", phase="wait", token="token-1")
    (task,) = floor.tasks()
    return task


def decide(floor: Floor, task: HumanTask, port: str, data: JsonValue = None) -> JsonObject:
    floor.assembly.tasks.decide(floor.scope, task.id, port, data)
    return floor.call("node", phase="close")


def test_a_wait_names_its_moment_once_and_hands_its_input_on(floor: Floor) -> None:
    begin(floor, "flow.wait", parameters={"duration": "P1DT2H"})
    until = floor.call("node", phase="open")["until"]
    assert until == "2026-11-03T11:00:00.000Z"
    floor.clock.advance(hours=3)
    assert floor.call("node", phase="open")["until"] == until
    assert floor.step("node").status is StepStatus.WAITING
    assert floor.call("node", phase="close")["port"] == "out"
    assert floor.value("node") == 5
    assert floor.call("node", phase="close")["port"] == "out"


def test_a_wait_until_a_moment_in_the_past_ends_at_once(floor: Floor) -> None:
    begin(floor, "flow.wait", parameters={"until": "2020-01-01T00:00:00Z"})
    assert floor.call("node", phase="open")["until"] == "2020-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "exactly one"),
        ({"duration": "P1D", "until": "2026-12-01T00:00:00Z"}, "exactly one"),
        ({"duration": "3 days"}, "no duration"),
        ({"duration": "P1M"}, "no duration"),
        ({"duration": "P9999999999999D"}, "more than 365 days"),
        ({"until": "P1D"}, "is a duration"),
        ({"until": "2026-12-01T00:00:00"}, "time zone"),
        ({"until": "tomorrow"}, "neither"),
    ],
)
def test_a_wait_that_cannot_be_is_refused(
    floor: Floor, parameters: JsonObject, reason: str
) -> None:
    begin(floor, "flow.wait", parameters=parameters)
    with pytest.raises(InvalidParameters, match=reason):
        floor.call("node", phase="open")
    assert floor.step("node").status is StepStatus.FAILED


def test_a_person_is_asked_and_the_answer_is_the_value(floor: Floor) -> None:
    task = ask(floor, due="P3D")
    assert task.title == "Pay 5?"
    assert task.assignees == ("role:finance",)
    assert task.ports == ("approved", "rejected")
    assert task.due == floor.clock.now() + timedelta(days=3)
    assert floor.assembly.runs.get(floor.scope, floor.run.id).status is RunStatus.PAUSED
    assert floor.call("node", phase="open")["seconds"] == 3 * 86400
    assert decide(floor, task, "approved", {"comment": "ok"})["port"] == "approved"
    assert ("token-1", {}) in floor.executions.succeeded
    assert floor.value("node") == {
        "decision": "approved",
        "data": {"comment": "ok"},
        "by": floor.scope.user,
        "at": "2026-11-02T09:00:00.000Z",
        "on_behalf_of": None,
        "comment": "",
        "votes": [],
    }
    assert floor.assembly.runs.get(floor.scope, floor.run.id).status is RunStatus.RUNNING
    assert floor.call("node", phase="close")["port"] == "approved"


def test_a_question_without_a_title_has_the_nodes_title(floor: Floor) -> None:
    begin(floor, "input.approval", title="Sign?", parameters={"assignees": ["user:anna"]})
    assert floor.call("node", phase="open")["seconds"] == 365 * 86400
    floor.call("node", phase="wait", token="t")
    assert floor.tasks()[0].title == "Sign?"


def test_a_retry_replaces_the_token_and_not_the_task(floor: Floor) -> None:
    ask(floor)
    floor.call("node", phase="wait", token="token-2")
    (task,) = floor.tasks()
    assert task.token == "token-2"
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 1


def test_a_wait_that_is_over_answers_its_token_at_once(floor: Floor) -> None:
    task = ask(floor)
    decide(floor, task, "approved")
    floor.call("node", phase="wait", token="token-late")
    assert ("token-late", {}) in floor.executions.succeeded


def test_a_task_that_was_decided_answers_a_new_token_at_once(floor: Floor) -> None:
    task = ask(floor)
    floor.assembly.tasks.decide(floor.scope, task.id, "rejected")
    floor.call("node", phase="wait", token="token-new")
    assert ("token-new", {}) in floor.executions.succeeded
    assert floor.call("node", phase="close")["port"] == "rejected"


def test_an_expired_question_goes_on_with_its_default(floor: Floor) -> None:
    task = ask(floor, due="PT1H", on_expire="default", default={"reason": "nobody"})
    floor.clock.advance(hours=2)
    assert floor.call("node", phase="close")["port"] == "expired"
    value = floor.value("node")
    assert isinstance(value, dict)
    assert (value["decision"], value["data"]) == ("expired", {"reason": "nobody"})
    assert floor.assembly.tasks.get(floor.scope, task.id).status is TaskStatus.EXPIRED


def test_an_expired_question_without_a_default_cancels_the_run(floor: Floor) -> None:
    ask(floor, due="PT1H")
    floor.clock.advance(hours=2)
    with pytest.raises(RunCancelled, match="expired"):
        floor.call("node", phase="close")
    run = floor.assembly.runs.get(floor.scope, floor.run.id)
    assert run.status is RunStatus.CANCELLED
    assert floor.step("node").status is StepStatus.CANCELLED


def test_a_decision_that_beats_the_timeout_by_a_hair_counts(floor: Floor) -> None:
    task = ask(floor, due="PT1H", on_expire="default")
    floor.assembly.tasks.decide(floor.scope, task.id, "approved")
    floor.clock.advance(hours=2)
    assert floor.call("node", phase="close")["port"] == "approved"


def test_a_question_whose_time_was_over_before_it_was_asked_expires(floor: Floor) -> None:
    begin(floor, "input.approval", parameters={**ASK, "due": "PT1S", "on_expire": "default"})
    floor.call("node", phase="open")
    floor.clock.advance(seconds=5)
    assert floor.call("node", phase="close")["port"] == "expired"
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 0


def test_a_disabled_question_asks_nobody(floor: Floor) -> None:
    begin(floor, "input.approval", disabled=True)
    assert floor.call("node", phase="open")["seconds"] == 1
    floor.call("node", phase="wait", token="t")
    assert floor.call("node", phase="close")["port"] == "approved"
    assert floor.value("node") == 5
    assert not floor.tasks()


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"assignees": []}, "assignees"),
        ({"form": {"type": "unknown"}}, "no JSON Schema"),
        ({"due": "P2W3X"}, "no duration"),
        ({"due": "P400D"}, "365 days"),
        ({"on_expire": "ask again"}, "on_expire"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    floor: Floor, parameters: JsonObject, reason: str
) -> None:
    begin(floor, "input.approval", parameters={**ASK, **parameters})
    with pytest.raises(InvalidParameters, match=reason):
        floor.call("node", phase="open")


CHILD: dict[str, JsonObject] = {
    "begin": {"type": "trigger.called"},
    "end": {"type": "data.set", "parameters": {"fields": {"rating": "A"}}},
}


def call_child(floor: Floor) -> str:
    """Publish a child, open and wait; return the child's run id."""
    floor.publish(CHILD, ["begin end"], slug="credit-check")
    parameters: JsonObject = {"workflow": "credit-check", "input": {"customer": "{{ $input }}"}}
    begin(floor, "flow.subworkflow", parameters=parameters)
    assert floor.call("node", phase="open")["seconds"] == 365 * 86400
    floor.call("node", phase="wait", token="token-1")
    child = floor.step("node").child
    assert child is not None
    return child


def run_child(floor: Floor, child: str) -> None:
    """Let the child do its work and end."""
    mine, run = floor.run, floor.assembly.runs.get(floor.scope, type(floor.run.id)(child))
    floor.run = run
    floor.call("begin")
    floor.call("end")
    floor.assembly.endings.execution_ended(floor.scope, run, Ended("SUCCEEDED"))
    floor.run = mine


def test_a_child_run_is_started_once_and_its_output_is_the_value(floor: Floor) -> None:
    child = call_child(floor)
    assert floor.assembly.runs.get(floor.scope, floor.run.id).status is RunStatus.PAUSED
    floor.call("node", phase="wait", token="token-2")
    assert floor.step("node").child == child
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 1
    run_child(floor, child)
    assert ("token-2", {}) in floor.executions.succeeded
    assert floor.call("node", phase="close")["port"] == "out"
    assert floor.value("node") == {"end": {"rating": "A"}}
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 0


def test_a_child_run_that_fails_fails_the_node(floor: Floor) -> None:
    child = call_child(floor)
    floor.assembly.runs.cancel(floor.scope, type(floor.run.id)(child))
    with pytest.raises(SubworkflowFailed, match="was cancelled"):
        floor.call("node", phase="close")
    assert floor.step("node").status is StepStatus.FAILED
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 0


def test_a_workflow_that_is_not_there_fails_the_node(floor: Floor) -> None:
    begin(floor, "flow.subworkflow", parameters={"workflow": "nothing"})
    floor.call("node", phase="open")
    with pytest.raises(Exception, match="nothing"):
        floor.call("node", phase="wait", token="t")
    assert floor.step("node").status is StepStatus.FAILED
    assert floor.assembly.runs.get(floor.scope, floor.run.id).waits == 0


def test_a_child_run_that_cannot_be_started_is_not_waited_for(floor: Floor) -> None:
    floor.publish(CHILD, ["begin end"], slug="credit-check")
    begin(floor, "flow.subworkflow", parameters={"workflow": "credit-check"})
    floor.call("node", phase="open")
    floor.executions.machines_gone = True
    with pytest.raises(NotFound):
        floor.call("node", phase="wait", token="t")
    assert floor.step("node").status is StepStatus.FAILED
    run = floor.assembly.runs.get(floor.scope, floor.run.id)
    assert (run.status, run.waits) == (RunStatus.RUNNING, 0)


def test_nobody_is_asked_once_the_run_is_over(floor: Floor) -> None:
    begin(floor, "input.approval", parameters=ASK)
    floor.call("node", phase="open")
    floor.assembly.runs.cancel(floor.scope, floor.run.id)
    with pytest.raises((RunCancelled, Conflict)):
        floor.call("node", phase="wait", token="t")
    assert not floor.tasks()


def test_a_sub_workflow_whose_owner_may_not_run_it_fails_the_node(floor: Floor) -> None:
    floor.publish(CHILD, ["begin end"], slug="credit-check")
    begin(floor, "flow.subworkflow", parameters={"workflow": "credit-check"})
    floor.call("node", phase="open")
    floor.actors.refused.add(floor.scope.user)
    with pytest.raises(Forbidden, match="'credit-check' would run in the name of its owner"):
        floor.call("node", phase="wait", token="t")
    step = floor.step("node")
    error = step.attempts[-1].error
    assert (step.status, step.child) == (StepStatus.FAILED, None)
    assert error is not None
    assert error.type == "Forbidden"
    assert "transfer the workflow" in error.remedy
    run = floor.assembly.runs.get(floor.scope, floor.run.id)
    assert (run.status, run.waits) == (RunStatus.RUNNING, 0)
