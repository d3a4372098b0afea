"""The wrapper around a node that is done in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from stellwerk.handlers.declare import Fired, Given, Parameters
from stellwerk.handlers.step import StepHandler, step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import (
    InvalidParameters,
    InvalidResult,
    ReferenceNotAvailable,
    RunCancelled,
    StillRunning,
)
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.calls import RunRef
from stellwerk.runs.model import StepStatus
from stellwerk.runs.names import run_ref
from tests.handlers.floor import Context, Floor, single


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_a_computation_reads_the_journal_once_and_writes_it_once(floor: Floor) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "a": {"type": "data.set", "parameters": {"fields": {"x": "{{ $input.n + 1 }}"}}},
            "b": {"type": "data.set", "parameters": {"fields": {"y": "{{ $nodes.a.x * 10 }}"}}},
        },
        ["start a", "a b"],
    )
    floor.start({"n": 1})
    floor.call("start")
    floor.call("a")
    floor.meter.calls.clear()
    reply = floor.call("b")
    assert floor.meter.calls == ["journal.read", "journal.write"]
    assert reply == {
        "port": "out",
        "preview": '{"y":20}',
        "step": f"{floor.run.id}/b",
    }
    assert floor.value("b") == {"y": 20}
    assert floor.input("b") == {"fields": {"y": 20}}
    step = floor.step("b")
    assert step.status is StepStatus.SUCCEEDED
    assert len(step.attempts) == 1
    assert step.attempts[0].ended is not None
    assert step.lease is None


def test_a_step_that_acts_writes_the_journal_before_and_after(floor: Floor) -> None:
    single(floor, "data.store", 5, key="n", operation="set")
    writes = [call for call in floor.meter.calls if call == "journal.write"]
    assert len(writes) == 3, "the trigger's end, the step's begin and end"


def test_of_two_computations_at_once_the_first_end_counts(floor: Floor) -> None:
    quick = _made(lambda work: Given(1))

    def slow(work: Work) -> Given:
        quick.serve(floor.event("node"), Context(), floor)
        return Given(2)

    with pytest.raises(StillRunning):
        _serve(floor, _made(slow))
    assert (floor.value("node"), len(floor.step("node").attempts)) == (1, 1)


def test_a_finished_step_reports_its_port_and_does_not_run(floor: Floor) -> None:
    single(floor, "flow.if", 5, condition="{{ $input > 3 }}")
    floor.meter.calls.clear()
    assert floor.call("node")["port"] == "true"
    assert floor.meter.calls == ["journal.read"]


def test_a_port_that_the_node_lacks_is_the_developers_fault(floor: Floor) -> None:
    with pytest.raises(InvalidResult, match="fired port 'large'"):
        made = _made(lambda work: Fired("large", Given(1)))
        _serve(floor, made)


def test_a_result_of_another_model_is_the_developers_fault(floor: Floor) -> None:
    with pytest.raises(InvalidResult, match="Parameters instead of Given"):
        _serve(floor, _made(lambda work: Parameters()))
    assert floor.step("node").status is StepStatus.FAILED


def _made(result: Callable[[Work], object]) -> StepHandler[Parameters]:
    def handler(parameters: Parameters, work: Work) -> Given:
        return cast("Given", result(work))

    return step(title="Faulty")(handler)


def _serve(floor: Floor, handler: StepHandler[Parameters]) -> None:
    floor.publish({"start": {"type": "trigger.manual"}, "node": {"type": "data.set"}})
    floor.start()
    handler.serve(floor.event("node"), Context(), floor)


def test_a_cancelled_step_does_not_run(floor: Floor) -> None:
    single(floor, "data.set", 5)
    step = floor.step("node")
    floor.write("node", status=StepStatus.CANCELLED, port=None, attempts=step.attempts)
    with pytest.raises(RunCancelled):
        floor.call("node")


def test_all_parameters_that_are_wrong_are_named_and_journaled(floor: Floor) -> None:
    with pytest.raises(InvalidParameters) as caught:
        single(floor, "data.filter", items="{{ 'x' }}", condition=7, other=1)
    for name in ("items", "condition", "other"):
        assert f"parameter {name}" in caught.value.message
    step = floor.step("node")
    assert step.status is StepStatus.FAILED
    assert step.port is None
    assert step.attempts[0].error is not None
    assert step.attempts[0].error.type == "InvalidParameters"


def test_a_failed_step_fails_again_with_the_same_error_and_does_not_run(floor: Floor) -> None:
    with pytest.raises(InvalidParameters):
        single(floor, "data.filter", items=1)
    floor.meter.calls.clear()
    with pytest.raises(InvalidParameters, match="parameter items"):
        floor.call("node")
    assert floor.meter.calls == ["journal.read"]


def test_the_value_of_a_node_that_did_not_run_is_absent(floor: Floor) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "other": {"type": "data.set"},
            "node": {"type": "data.set", "parameters": {"fields": {"x": "{{ $nodes.other.y }}"}}},
        },
        ["start other", "start node"],
    )
    floor.start()
    floor.call("start")
    with pytest.raises(ReferenceNotAvailable, match="other"):
        floor.call("node")


def test_a_disabled_node_passes_its_input_on_at_its_first_port(floor: Floor) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "node": {"type": "flow.if", "disabled": True, "parameters": {"condition": "broken {{"}},
        },
        ["start node"],
    )
    floor.start([1, None, {"a": 2.5}])
    floor.call("start")
    assert floor.call("node")["port"] == "true"
    assert floor.value("node") == [1, None, {"a": 2.5}]


def test_values_over_32_kib_are_kept_by_reference_and_read_back_exactly(floor: Floor) -> None:
    large: JsonObject = {"text": "ä" * 40_000, "none": None, "number": 2**60}
    reply = single(floor, "data.transform", large, expression="$input")
    stored = floor.step("node").value
    assert stored is not None and stored.ref is not None and stored.text is None
    assert floor.value("node") == large
    assert "bytes" in str(reply["preview"])


def test_a_finished_step_opens_the_gates_that_it_has_decided(floor: Floor) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "first": {"type": "data.set"},
            "gated": {"type": "data.set"},
        },
        ["start first", "first gated"],
        watch={"first": ["gated"]},
    )
    floor.start()
    floor.call("start")
    level = floor.assembly.level(
        floor.scope, RunRef.model_validate(run_ref(floor.run)), floor.step("start").path
    )
    floor.assembly.gates.register(floor.scope, level, NodeKey("gated"), "token-gate")
    assert not floor.executions.succeeded
    floor.call("first")
    assert floor.executions.succeeded == [("token-gate", {"port": "live"})]
    floor.call("first")
    assert len(floor.executions.succeeded) == 1


def test_names_of_the_run_stand_for_what_they_say(floor: Floor) -> None:
    fields: JsonObject = {
        "run": "{{ $run.id }}",
        "version": "{{ $run.version }}",
        "trigger": "{{ $trigger.n }}",
        "vars": "{{ $vars }}",
    }
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "between": {"type": "data.set"},
            "node": {"type": "data.set", "parameters": {"fields": fields}},
        },
        ["start between", "between node"],
    )
    floor.start({"n": 7})
    for key in ("start", "between", "node"):
        floor.call(key)
    expected = {"run": floor.run.id, "version": 1, "trigger": 7, "vars": {}}
    assert floor.value("node") == expected


def test_a_value_that_is_no_json_fails_the_step(floor: Floor) -> None:
    floor.publish(
        {"start": {"type": "trigger.manual"}, "node": {"type": "data.store"}}, ["start node"]
    )
    floor.start()
    floor.call("start")
    graph = floor.world.blueprints.of(floor.scope, floor.run.workflow, 1).graph
    graph.by_key[NodeKey("node")].parameters["key"] = "x"
    floor.key_values.put(floor.scope, floor.run.workflow, "x", float("nan"))
    with pytest.raises(InvalidResult, match="not JSON"):
        floor.call("node")
    assert floor.step("node").status is StepStatus.FAILED
