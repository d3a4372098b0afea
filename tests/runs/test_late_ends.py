"""What is at work when its run ends goes on for a while: nothing of it is lost, or shown wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Attempt, Failure, Run, StepStatus
from tests.runs.stage import Stage, graph, key_of

NODES = {"start": "trigger", "bad": "data.set", "send": "mail.send", "read": "data.set"}
GRAPH = graph(NODES, ["start bad", "start send", "start read"])
LEASE = timedelta(seconds=30)


@pytest.fixture
def run(stage: Stage) -> Run:
    """A run that failed at `bad`; when it ended, nothing was known of `send` and `read`."""
    stage.publish(GRAPH)
    run = stage.start()
    stage.write(run, "start", value=stage.keep("start"))
    stage.fail(run, "bad")
    ended = Ended("FAILED", "Bad", "x")
    return stage.assembly.endings.execution_ended(stage.scope, stage.run(run), ended)


def _at_work(stage: Stage, run: Run, node: str, status: StepStatus = StepStatus.RUNNING) -> None:
    now = stage.clock.now()
    attempts = (Attempt(started=now),)
    stage.write(run, node, status, attempts=attempts, lease=now + LEASE)


def _ended(stage: Stage, run: Run, error: Failure | None) -> None:
    now = stage.clock.now()
    attempts = (Attempt(started=now, ended=now, error=error),)
    stage.write(run, "send", StepStatus.CANCELLED, attempts=attempts)


def _status(stage: Stage, run: Run, node: str, path: str = "") -> StepStatus:
    key = key_of(node, path)
    step = stage.assembly.runs.step(stage.scope, run.id, key)
    listed = {step.key: step for step in stage.assembly.runs.steps(stage.scope, run.id)}
    assert listed[key] == step
    return step.status


def test_nothing_in_a_run_that_is_over_seems_at_work(stage: Stage, run: Run) -> None:
    _at_work(stage, run, "read")
    stage.write_scope(run, "read", 0)
    assert _status(stage, run, "read") is StepStatus.CANCELLED
    assert _status(stage, run, "read", "read[0]") is StepStatus.CANCELLED


def test_a_write_that_began_late_and_never_ended_is_uncertain(stage: Stage, run: Run) -> None:
    _at_work(stage, run, "send")
    assert _status(stage, run, "send") is StepStatus.CANCELLED
    stage.clock.advance(seconds=LEASE.total_seconds())
    assert _status(stage, run, "send") is StepStatus.UNCERTAIN


@pytest.mark.parametrize("status", [StepStatus.RUNNING, StepStatus.CANCELLED])
@pytest.mark.parametrize("seconds", [0, 31])
def test_a_replay_asks_about_a_write_in_flight(
    stage: Stage, run: Run, status: StepStatus, seconds: int
) -> None:
    _at_work(stage, run, "send", status)
    stage.clock.advance(seconds=seconds)
    with pytest.raises(BadInput, match="may have happened: send"):
        stage.assembly.runs.replay(stage.scope, run.id)
    again = stage.assembly.runs.replay(stage.scope, run.id, repeat={"send"})
    assert again.origin == run.id


def test_a_replay_asks_about_a_write_that_ended_after_its_run(stage: Stage, run: Run) -> None:
    _ended(stage, run, None)
    with pytest.raises(BadInput, match="may have happened: send"):
        stage.assembly.runs.replay(stage.scope, run.id)
    again = stage.assembly.runs.replay(stage.scope, run.id, assume_done={"send": "sent"})
    sent = stage.assembly.runs.step(stage.scope, again.id, key_of("send"))
    assert sent.status is StepStatus.SUCCEEDED
    assert stage.value(sent.value) == "sent"


def test_a_write_that_failed_after_its_run_is_simply_done_again(stage: Stage, run: Run) -> None:
    _ended(stage, run, Failure(type="Refused", message="no"))
    assert stage.assembly.runs.replay(stage.scope, run.id).origin == run.id


def test_a_write_that_ended_late_and_in_doubt_is_asked_about(stage: Stage, run: Run) -> None:
    _ended(stage, run, Failure(type="Timeout", message="?", uncertain=True))
    with pytest.raises(BadInput, match="may have happened: send"):
        stage.assembly.runs.replay(stage.scope, run.id)


def test_a_read_that_was_cut_off_is_simply_done_again(stage: Stage, run: Run) -> None:
    _at_work(stage, run, "read", StepStatus.CANCELLED)
    assert stage.assembly.runs.replay(stage.scope, run.id).origin == run.id
