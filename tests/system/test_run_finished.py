"""`run_finished`: the end of an execution ends its run, once, and only if it is the present one."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.runs.names import chunk_name
from system.run_finished.handler import handler
from tests.runs.stage import Stage, key_of
from tests.system.events import CONTEXT, ended


def _serve(stage: Stage, event: JsonValue) -> JsonObject:
    return handler.serve(event, CONTEXT, stage.assembly)


def test_a_succeeded_execution_completes_its_run(stage: Stage, run: Run) -> None:
    for _ in range(2):
        assert _serve(stage, ended(run, "SUCCEEDED")) == {}
    assert stage.run(run).status is RunStatus.COMPLETED


def test_a_failed_execution_fails_its_run(stage: Stage, run: Run) -> None:
    _serve(stage, ended(run, "FAILED"))
    error = stage.run(run).error
    assert error is not None
    assert (error.type, error.message) == ("Forbidden", "not yours")


def test_an_execution_that_is_not_the_present_one_changes_nothing(stage: Stage, run: Run) -> None:
    late = ended(run, "ABORTED")
    stage.assembly.runs.continue_(stage.scope, run.id)
    _serve(stage, late)
    assert stage.run(run).status is RunStatus.RUNNING


def test_an_execution_that_only_begins_changes_nothing(stage: Stage, run: Run) -> None:
    _serve(stage, ended(run, "RUNNING"))
    assert stage.run(run).status is RunStatus.RUNNING


def test_a_strangers_execution_or_an_unknown_run_is_ignored(stage: Stage, run: Run) -> None:
    _serve(stage, ended(run, "FAILED", name="somebody-elses"))
    stranger: JsonObject = {"detail": {"name": f"{run.id}-g1", "status": "FAILED", "input": "{}"}}
    _serve(stage, stranger)
    gone = run.model_copy(update={"id": RunId("01m6dqs9m0tcbxptd6w9kpye10")})
    _serve(stage, ended(gone, "FAILED"))
    assert stage.run(run).status is RunStatus.RUNNING


@pytest.mark.parametrize(
    ("status", "expected"), [("SUCCEEDED", StepStatus.SUCCEEDED), ("FAILED", StepStatus.FAILED)]
)
def test_the_end_of_a_chunk_is_told_to_its_loop(
    stage: Stage, run: Run, status: str, expected: StepStatus
) -> None:
    stage.write(run, "each@chunk1", StepStatus.WAITING, type="chunk", token="wake")
    name = chunk_name(run.id, 1, key_of("each"), 1)
    _serve(stage, ended(run, status, name=name, node="each", path="", chunk=1))
    assert stage.step(run, "each@chunk1").status is expected
    assert len(stage.executions.succeeded) == (status == "SUCCEEDED")
    assert [failure.type for _, failure in stage.executions.failed] == (
        [] if status == "SUCCEEDED" else ["Forbidden"]
    )
    assert stage.run(run).status is RunStatus.RUNNING


def test_a_chunk_that_timed_out_fails_its_loop_with_that_name(stage: Stage, run: Run) -> None:
    stage.write(run, "each@chunk1", StepStatus.WAITING, type="chunk", token="wake")
    name = chunk_name(run.id, 1, key_of("each"), 1)
    _serve(stage, ended(run, "TIMED_OUT", name=name, node="each", path="", chunk=1))
    assert [failure.type for _, failure in stage.executions.failed] == ["TIMED_OUT"]


def test_an_event_that_cannot_be_read_is_refused(stage: Stage) -> None:
    with pytest.raises(BadInput, match=r"detail: Field required"):
        _serve(stage, {"source": "aws.states"})
