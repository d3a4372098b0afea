"""The wrapper around a node that is done in one call."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import (
    InvalidParameters,
    ReferenceNotAvailable,
    RunCancelled,
)
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import StepStatus
from tests.handlers.floor import Floor, single


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_a_step_reads_the_journal_once_and_writes_it_twice(floor: Floor) -> None:
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
    assert floor.meter.calls == ["journal.read", "journal.write", "journal.write"]
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


def test_a_finished_step_reports_its_port_and_does_not_run(floor: Floor) -> None:
    single(floor, "flow.if", 5, condition="{{ $input > 3 }}")
    floor.meter.calls.clear()
    assert floor.call("node")["port"] == "true"
    assert floor.meter.calls == ["journal.read"]


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
