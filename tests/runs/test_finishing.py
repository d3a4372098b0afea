"""The end of a run: recorded once, closed in full, told to its parent, whatever comes twice."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Run, RunStatus, StepStatus, TaskStatus
from tests.runs.stage import Crash, Power, Stage, fragile, graph

BODY: JsonObject = {"type": "data.set", "parent": "each"}
GRAPH = graph(
    {
        "start": "trigger",
        "if": "flow.if",
        "yes": "data.set",
        "no": "data.set",
        "each": "flow.for_each",
        "in": BODY,
        "ask": "input.approval",
    },
    ["start if", "if.true yes", "if.false no", "start each", "start ask"],
)
SUCCEEDED = Ended("SUCCEEDED")


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(GRAPH)
    return stage.start()


def _end(stage: Stage, run: Run, ended: Ended = SUCCEEDED) -> Run:
    return stage.assembly.endings.execution_ended(stage.scope, stage.run(run), ended)


def test_the_output_is_an_object_of_the_live_end_nodes(stage: Stage, run: Run) -> None:
    stage.write(run, "start")
    stage.write(run, "if", port="true")
    stage.write(run, "yes", value=stage.keep({"a": 1}))
    stage.write(run, "each")
    ended = _end(stage, run)
    assert ended.status is RunStatus.COMPLETED
    assert stage.value(ended.output) == {"each": None, "yes": {"a": 1}}
    assert (ended.ended, ended.error) == (stage.clock.now(), None)


def test_a_node_that_only_an_error_handler_follows_is_an_end(stage: Stage) -> None:
    nodes = {"start": "trigger", "a": "data.set", "b": "data.set", "fix": "data.set"}
    stage.publish(graph(nodes, ["start a", "start b", "a.error fix", "b.error fix"]))
    run = stage.start()
    stage.write(run, "start")
    stage.write(run, "a", value=stage.keep(7))
    stage.write(run, "b", StepStatus.FAILED, port="error", value=stage.keep("bad"))
    stage.write(run, "fix", value=stage.keep(8))
    assert stage.value(_end(stage, run).output) == {"a": 7, "fix": 8}


def test_a_stop_that_ran_sets_the_output(stage: Stage) -> None:
    stage.publish(
        graph({"start": "trigger", "a": "data.set", "stop": "flow.stop"}, ["start a", "start stop"])
    )
    run = stage.start()
    for node, value in (("start", 0), ("a", 1), ("stop", 42)):
        stage.write(run, node, value=stage.keep(value))
    assert stage.value(_end(stage, run).output) == 42


def test_nodes_that_did_not_run_are_skipped_also_in_passes_that_ran(stage: Stage, run: Run) -> None:
    stage.write(run, "start")
    stage.write(run, "if", port="true")
    stage.write(run, "yes")
    stage.write(run, "each", size=2)
    stage.write_scope(run, "each", 0)
    stage.write(run, "each", StepStatus.FAILED, path="each[1]", type="scope")
    _end(stage, run)
    assert stage.step(run, "no").status is StepStatus.SKIPPED
    assert stage.step(run, "in", "each[0]").status is StepStatus.SKIPPED
    assert not stage.has_step(run, "in", "each[1]")
    assert stage.step(run, "each", "each[0]").status is StepStatus.RUNNING


def test_the_last_check_of_a_while_is_no_pass(stage: Stage) -> None:
    stage.publish(
        graph(
            {
                "start": "trigger",
                "loop": "flow.while",
                "in": {"type": "data.set", "parent": "loop"},
            },
            ["start loop"],
        )
    )
    run = stage.start()
    for index, port in ((0, "again"), (1, "out")):
        path = f"loop[{index}]"
        stage.write(run, "loop", StepStatus.RUNNING, path=path, type="scope", port=port)
    _end(stage, run)
    assert stage.has_step(run, "in", "loop[0]")
    assert not stage.has_step(run, "in", "loop[1]")


def test_a_failed_run_has_the_first_error_that_nothing_handled(stage: Stage, run: Run) -> None:
    stage.fail(run, "yes", "later", after=2)
    stage.fail(run, "no", "first", after=1)
    stage.write(run, "if", StepStatus.FAILED, port="error")
    stage.write(run, "each", StepStatus.FAILED, path="each[0]", type="scope")
    stage.fail(run, "in", "collected", path="each[0]")
    ended = _end(stage, run, Ended("FAILED", "Whatever", "x"))
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert (ended.error.message, ended.error.node) == ("first", "no")
    assert ended.output is None


def test_without_an_error_in_the_journal_the_execution_says_why(stage: Stage, run: Run) -> None:
    cause = json.dumps({"errorMessage": "out of memory", "errorType": "Runtime.ExitError"})
    ended = _end(stage, run, Ended("FAILED", "Runtime.ExitError", cause))
    assert ended.error is not None
    assert (ended.error.type, ended.error.message) == ("Runtime.ExitError", "out of memory")


def test_an_execution_that_timed_out_without_a_word_fails_the_run(stage: Stage, run: Run) -> None:
    ended = _end(stage, run, Ended("TIMED_OUT"))
    assert ended.error is not None
    assert ended.error.type == "TIMED_OUT"
    assert ended.error.message == "The execution ended without a reason."


@pytest.mark.parametrize(
    "ended",
    [Ended("ABORTED", "", "stopped in the console"), Ended("FAILED", "RunCancelled", "expired")],
)
def test_a_stopped_execution_cancels_the_run(stage: Stage, run: Run, ended: Ended) -> None:
    found = _end(stage, run, ended)
    assert found.status is RunStatus.CANCELLED
    assert found.error is not None
    assert found.error.message == ended.cause


def test_the_end_closes_all_that_is_open(stage: Stage, run: Run) -> None:
    task = stage.ask(run)
    stage.write(run, "yes", StepStatus.RUNNING)
    _end(stage, run, Ended("FAILED", "Bad", "broken"))
    assert stage.run(run).waits == 0
    assert stage.assembly.tasks.get(stage.scope, task.id).status is TaskStatus.CANCELLED
    assert stage.step(run, "ask").status is StepStatus.CANCELLED
    assert list(stage.world.tasks.unanswered(stage.scope)) == []


def test_a_second_delivery_changes_nothing(stage: Stage, run: Run) -> None:
    stage.write(run, "start", value=stage.keep(1))
    first = _end(stage, run)
    steps = list(stage.world.journal.steps(stage.scope, run.id))
    stage.clock.advance(minutes=1)
    again = _end(stage, run, Ended("FAILED", "Bad", "too late"))
    assert again == first
    assert list(stage.world.journal.steps(stage.scope, run.id)) == steps


def test_a_crash_at_any_call_of_an_ending_is_repaired_by_the_next_delivery() -> None:
    _crash_everywhere(_end)


def test_a_crash_at_any_call_of_an_ending_is_repaired_by_the_sweeper() -> None:
    def sweep(case: Stage, run: Run) -> None:
        case.executions.states[run.execution] = ("SUCCEEDED", "", "")
        case.clock.advance(minutes=5)
        case.assembly.sweeper.sweep(case.scope)

    _crash_everywhere(sweep)


def _crash_everywhere(repair: Callable[[Stage, Run], object]) -> None:
    crashes = 0
    for at in range(1, 60):
        case = Stage()
        case.publish(GRAPH)
        run = case.start()
        case.write(run, "start", value=case.keep(1))
        case.write(run, "if", port="true")
        case.write(run, "yes", value=case.keep(2))
        task = case.ask(run)
        broken = Assembly.of(fragile(case.world, Power(at)))
        try:
            broken.endings.execution_ended(case.scope, case.run(run), Ended("SUCCEEDED"))
        except Crash:
            crashes += 1
            repair(case, run)
        ended = case.run(run)
        assert (ended.status, ended.waits) == (RunStatus.COMPLETED, 0)
        assert case.value(ended.output) == {"yes": 2}
        assert case.step(run, "no").status is StepStatus.SKIPPED
        assert case.assembly.tasks.get(case.scope, task.id).status is TaskStatus.CANCELLED
        case.assembly.sweeper.sweep(case.scope)
        assert list(case.world.tasks.unanswered(case.scope)) == []
    assert crashes > 10


def test_cancelling_stops_the_execution_and_a_late_success_is_ignored(
    stage: Stage, run: Run
) -> None:
    cancelled = stage.assembly.runs.cancel(stage.scope, run.id)
    assert cancelled.status is RunStatus.CANCELLED
    assert cancelled.error is not None
    assert cancelled.error.message == "u-demo cancelled the run."
    assert stage.executions.stopped[0][0] == run.execution
    assert _end(stage, run).status is RunStatus.CANCELLED


def test_whoever_records_the_outcome_first_decides_it(stage: Stage, run: Run) -> None:
    half = stage.run(run)
    recorded = stage.world.runs.write(
        stage.scope, half.model_copy(update={"ended": stage.clock.now()})
    )
    stage.assembly.endings.cancel(stage.scope, run.id, cause="too late")
    assert stage.run(run).status is RunStatus.COMPLETED
    assert stage.run(run).ended == recorded.ended
