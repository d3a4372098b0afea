"""The end of a loop's chunk is told to the loop, once and whoever tells it."""

from __future__ import annotations

import pytest

from stellwerk.runs.model import Failure, Run, StepStatus
from tests.runs.stage import Stage, graph, key_of

BROKEN = Failure(type="Forbidden", message="no")
KEY = "each@chunk2"


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(graph({"start": "trigger", "each": "flow.for_each"}, ["start each"]))
    return stage.start()


def _finish(stage: Stage, run: Run, failure: Failure | None = None) -> None:
    stage.assembly.chunks.finish(stage.scope, run.id, key_of("each"), 2, failure)


def _waiting(stage: Stage, run: Run) -> None:
    stage.write(run, KEY, StepStatus.WAITING, type="chunk", token="wake")


def test_success_answers_the_loops_token(stage: Stage, run: Run) -> None:
    _waiting(stage, run)
    _finish(stage, run)
    _finish(stage, run)
    assert stage.executions.succeeded == [("wake", {})]
    assert stage.step(run, KEY).port == "out"


def test_failure_fails_the_loops_token_under_its_own_name(stage: Stage, run: Run) -> None:
    _waiting(stage, run)
    _finish(stage, run, BROKEN)
    assert stage.executions.failed == [("wake", BROKEN)]
    assert stage.step(run, KEY).status is StepStatus.FAILED


def test_what_is_told_first_counts(stage: Stage, run: Run) -> None:
    _waiting(stage, run)
    _finish(stage, run)
    _finish(stage, run, BROKEN)
    assert stage.executions.failed == []
    assert stage.step(run, KEY).port == "out"


def test_an_end_before_the_token_is_registered_is_kept(stage: Stage, run: Run) -> None:
    _finish(stage, run)
    assert stage.step(run, KEY).port == "out"
    assert stage.executions.succeeded == []


def test_a_chunk_of_a_closed_scope_answers_nothing(stage: Stage, run: Run) -> None:
    stage.write(run, KEY, StepStatus.CANCELLED, type="chunk", token="wake")
    _finish(stage, run)
    assert stage.executions.succeeded == []
    assert stage.step(run, KEY).status is StepStatus.CANCELLED
