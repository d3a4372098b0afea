"""The Lambdas that states of a machine call, and the sweeper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.errors import BadInput, TransientError
from stellwerk.kernel.ids import MandateId
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.runs.rounds import NotSwept
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, of_platform
from system.chunk_finished.handler import handler as chunk_finished
from system.gate.handler import handler as gate
from system.node_failed.handler import handler as node_failed
from system.scope_closed.handler import handler as scope_closed
from system.sweeper.handler import RESERVE
from system.sweeper.handler import handler as sweeper
from tests.fakes.platform import FakePlaces
from tests.runs.stage import Stage
from tests.system.events import CONTEXT, Context, place

ERROR = {"Error": "Forbidden", "Cause": '{"errorMessage": "not yours"}'}


def test_a_gate_registers_under_its_token_and_later_says_what_was_decided(
    stage: Stage, run: Run
) -> None:
    asking = place(run, node="join")
    with pytest.raises(TransientError):
        gate.serve(asking, CONTEXT, stage.assembly)
    waiting = place(run, node="join", token="wake")
    assert gate.serve(waiting, CONTEXT, stage.assembly) == {}
    stage.fail(run, "send")
    failed = place(run, node="send", error=ERROR)
    assert node_failed.serve(failed, CONTEXT, stage.assembly) == {"port": "error"}
    assert stage.executions.succeeded == [("wake", {"port": "live"})]
    assert gate.serve(asking, CONTEXT, stage.assembly) == {"port": "live"}


def test_an_error_that_no_lambda_journaled_is_the_one_that_was_caught(
    stage: Stage, run: Run
) -> None:
    failed = place(run, node="send", error=ERROR)
    assert node_failed.serve(failed, CONTEXT, stage.assembly) == {"port": "error"}
    value = stage.value(stage.step(run, "send").value)
    assert isinstance(value, dict)
    assert value["error"] == {
        "type": "Forbidden",
        "message": "not yours",
        "node": "send",
        "uncertain": False,
    }


def test_a_closed_item_is_marked_failed(stage: Stage, run: Run) -> None:
    stage.write_scope(run, "each", 0)
    event = place(run, node="each", error=ERROR) | {"path": "each[0]"}
    assert scope_closed.serve(event, CONTEXT, stage.assembly) == {}
    scope = stage.step(run, "each", "each[0]")
    assert scope.status is StepStatus.FAILED
    error = scope.attempts[0].error
    assert error is not None
    assert (error.type, error.message) == ("Forbidden", "not yours")


def test_a_closed_branch_needs_no_node_and_no_error(stage: Stage, run: Run) -> None:
    stage.write(run, "send", StepStatus.WAITING)
    assert scope_closed.serve(place(run), CONTEXT, stage.assembly) == {}
    assert stage.step(run, "send").status is StepStatus.CANCELLED


def test_a_chunks_last_state_wakes_its_loop(stage: Stage, run: Run) -> None:
    stage.write(run, "each@chunk3", StepStatus.WAITING, type="chunk", token="wake")
    event = place(run, node="each", chunk=3)
    assert chunk_finished.serve(event, CONTEXT, stage.assembly) == {}
    assert stage.executions.succeeded == [("wake", {})]


def test_the_sweeper_returns_its_counts(stage: Stage, run: Run) -> None:
    stage.executions.states[run.execution] = ("SUCCEEDED", "", "")
    stage.clock.advance(minutes=5)
    counts = sweeper.serve({"time": "now"}, CONTEXT, stage.assembly)
    assert counts["ended"] == 1
    assert stage.run(run).status is RunStatus.COMPLETED


def test_the_sweeper_leaves_time_to_write_down_how_far_it_came(stage: Stage, run: Run) -> None:
    stage.executions.states[run.execution] = ("SUCCEEDED", "", "")
    stage.clock.advance(minutes=5)
    assert sweeper.serve({}, Context(seconds=RESERVE), stage.assembly)["ended"] == 0
    assert stage.marks.read(of_platform()) is not None
    assert sweeper.serve({}, CONTEXT, stage.assembly)["ended"] == 1


def test_the_sweeper_fails_at_the_end_where_a_mandate_could_not_be_swept(
    stage: Stage, run: Run
) -> None:
    stage.executions.states[run.execution] = ("SUCCEEDED", "", "")
    stage.clock.advance(minutes=5)
    broken = MandateId("m-broken")
    places = FakePlaces({broken: [], SEEDED_MANDATE: [SEEDED_INSTANCE]}, broken={broken})
    assembly = stage.with_world(replace(stage.world, places=places))
    with pytest.raises(NotSwept, match="m-broken"):
        sweeper.serve({}, CONTEXT, assembly)
    assert stage.run(run).status is RunStatus.COMPLETED


def test_an_event_without_its_run_is_refused(stage: Stage) -> None:
    with pytest.raises(BadInput, match="run: Field required"):
        node_failed.serve({"node": "send"}, CONTEXT, stage.assembly)
