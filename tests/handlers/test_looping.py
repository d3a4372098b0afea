"""Containers: items and passes in the journal, and the values that come of them."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import InvalidParameters, LoopLimitExceeded
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Attempt, Failure, StepStatus
from tests.handlers.floor import ARN, Floor

LOOP: JsonObject = {"type": "flow.for_each", "parameters": {"items": "{{ $input }}"}}


@pytest.fixture
def floor() -> Floor:
    return Floor()


def lines(floor: Floor, given: JsonValue, *, body: str = "{{ $item * 2 }}", **more: int) -> None:
    """Publish a loop whose body has one node, and begin."""
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "lines": {**LOOP, "parameters": {"items": "{{ $input }}", **more}},
            "one": {
                "type": "data.set",
                "parent": "lines",
                "parameters": {"fields": {"x": body, "i": "{{ $index }}"}},
            },
        },
        ["start lines"],
    )
    floor.start(given)
    floor.call("start")


def test_every_item_has_a_scope_and_the_values_keep_the_order(floor: Floor) -> None:
    lines(floor, [5, 7])
    assert floor.call("lines", phase="open")["size"] == 2
    for index in (1, 0):
        floor.call("one", f"lines[{index}]")
    assert floor.call("lines", phase="close")["port"] == "out"
    items: JsonValue = [{"x": 10, "i": 0}, {"x": 14, "i": 1}]
    assert floor.value("lines") == {"items": items, "errors": [None, None]}


def test_the_entry_of_a_body_is_given_the_item(floor: Floor) -> None:
    lines(floor, [{"a": 1}, None], body="{{ $input }}")
    floor.call("lines", phase="open")
    floor.call("one", "lines[0]")
    floor.call("one", "lines[1]")
    assert floor.value("one", "lines[0]") == {"x": {"a": 1}, "i": 0}
    assert floor.value("one", "lines[1]") == {"x": None, "i": 1}


def test_opening_again_changes_nothing(floor: Floor) -> None:
    lines(floor, [5, 7])
    first = floor.call("lines", phase="open")
    floor.meter.calls.clear()
    assert floor.call("lines", phase="open") == first
    assert floor.meter.calls == ["journal.read"]


def test_no_items_make_an_empty_value(floor: Floor) -> None:
    lines(floor, [])
    assert floor.call("lines", phase="open")["size"] == 0
    floor.call("lines", phase="close")
    assert floor.value("lines") == {"items": [], "errors": []}


def test_more_items_than_allowed_are_an_error(floor: Floor) -> None:
    lines(floor, [1, 2, 3], max_items=2)
    with pytest.raises(LoopLimitExceeded, match="3 items; it allows 2"):
        floor.call("lines", phase="open")
    assert floor.step("lines").status is StepStatus.FAILED


def test_what_is_no_list_is_refused(floor: Floor) -> None:
    lines(floor, {"a": 1})
    with pytest.raises(InvalidParameters, match="items"):
        floor.call("lines", phase="open")


def test_a_failed_item_is_null_and_its_error_is_listed(floor: Floor) -> None:
    lines(floor, [5, 7])
    floor.call("lines", phase="open")
    floor.call("one", "lines[1]")
    now = floor.clock.now()
    error = Failure(type="NotFound", message="no such article", node="one", path="lines[0]")
    attempt = Attempt(started=now, ended=now, error=error)
    scope = floor.step("lines", "lines[0]")
    floor.world.journal.write(
        floor.scope,
        scope.model_copy(update={"status": StepStatus.FAILED, "attempts": (attempt,)}),
    )
    floor.call("lines", phase="close")
    told = {"type": "NotFound", "message": "no such article", "node": "one", "uncertain": False}
    assert floor.value("lines") == {
        "items": [None, {"x": 14, "i": 1}],
        "errors": [{"error": told}, None],
    }


def test_several_end_nodes_make_an_object_and_skipped_ones_are_left_out(floor: Floor) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "lines": LOOP,
            "a": {"type": "data.set", "parent": "lines"},
            "b": {"type": "data.set", "parent": "lines"},
            "c": {"type": "data.set", "parent": "lines"},
        },
        ["start lines"],
    )
    floor.start([1, 2, 3])
    floor.call("start")
    floor.call("lines", phase="open")
    floor.call("a", "lines[0]")
    floor.call("b", "lines[0]")
    floor.call("c", "lines[1]")
    floor.call("lines", phase="close")
    value = floor.value("lines")
    assert isinstance(value, dict)
    assert value["items"] == [{"a": {}, "b": {}}, {}, None]


def test_a_disabled_loop_passes_its_input_on(floor: Floor) -> None:
    floor.publish(
        {"start": {"type": "trigger.manual"}, "lines": {**LOOP, "disabled": True}},
        ["start lines"],
    )
    floor.start([1])
    floor.call("start")
    assert floor.call("lines", phase="open")["size"] == 0
    assert floor.call("lines", phase="close")["port"] == "out"
    assert floor.value("lines") == [1]


def test_nested_loops_see_outer_values_and_the_nearest_item(floor: Floor) -> None:
    fields: JsonObject = {"item": "{{ $item }}", "outer": "{{ $nodes.name.n }}"}
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "orders": LOOP,
            "name": {
                "type": "data.set",
                "parent": "orders",
                "parameters": {"fields": {"n": "{{ $item.name }}"}},
            },
            "lines": {
                "type": "flow.for_each",
                "parent": "orders",
                "parameters": {"items": "{{ $item.lines }}"},
            },
            "line": {"type": "data.set", "parent": "lines", "parameters": {"fields": fields}},
        },
        ["start orders", "name lines"],
    )
    floor.start([{"name": "first", "lines": [1]}, {"name": "second", "lines": [2, 3]}])
    floor.call("start")
    floor.call("orders", phase="open")
    floor.call("name", "orders[1]")
    assert floor.call("lines", "orders[1]", phase="open")["size"] == 2
    floor.call("line", "orders[1].lines[1]")
    assert floor.value("line", "orders[1].lines[1]") == {"item": 3, "outer": "second"}


def test_chunks_start_their_own_machine_once(floor: Floor) -> None:
    lines(floor, list(range(25)))
    reply = floor.call("lines", phase="open", chunk_size=10)
    assert (reply["size"], reply["chunks"]) == (25, 3)
    for token in ("t1", "t2"):
        floor.call("lines", phase="chunk", chunk=2, chunk_size=10, token=token)
    started = [data for arn, data in floor.executions.started.items() if "demo-lines" in arn]
    assert len(started) == 1
    assert (started[0]["from"], started[0]["to"], started[0]["chunk"]) == (20, 25, 2)
    entry = floor.step("lines@chunk2")
    assert (entry.token, entry.status) == ("t2", StepStatus.WAITING)
    assert entry.child is not None and ARN.split(":")[0] in entry.child
    key = floor.step("lines").key
    floor.assembly.chunks.finish(floor.scope, floor.run.id, key, 2, None)
    floor.call("lines", phase="chunk", chunk=2, chunk_size=10, token="t3")
    assert ("t3", {}) in floor.executions.succeeded


def counting(floor: Floor, condition: str = "$input < 3", **more: int) -> None:
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "loop": {"type": "flow.while", "parameters": {"condition": condition, **more}},
            "step": {
                "type": "data.transform",
                "parent": "loop",
                "parameters": {"expression": "$input + 1"},
            },
        },
        ["start loop"],
    )
    floor.start(1)
    floor.call("start")


def test_a_while_checks_before_every_pass(floor: Floor) -> None:
    counting(floor)
    for index in range(2):
        reply = floor.call("loop", phase="check", index=index)
        assert (reply["port"], reply["path"]) == ("again", f"loop[{index}]")
        floor.call("step", f"loop[{index}]")
    assert floor.call("loop", phase="resume")["port"] == "again"
    assert floor.call("loop", phase="check", index=2)["port"] == "out"
    assert floor.value("loop") == {"value": 3, "passes": 2}
    assert floor.call("loop", phase="resume")["port"] == "out"
    assert floor.step("loop", "loop[2]").port == "out"
    assert floor.call("loop", phase="check", index=2)["port"] == "out"


def test_no_pass_leaves_the_input(floor: Floor) -> None:
    counting(floor, "false")
    assert floor.call("loop", phase="check", index=0)["port"] == "out"
    assert floor.value("loop") == {"value": 1, "passes": 0}


def test_a_check_that_was_recorded_is_not_made_again(floor: Floor) -> None:
    counting(floor)
    floor.call("loop", phase="check", index=0)
    floor.meter.calls.clear()
    assert floor.call("loop", phase="check", index=0)["port"] == "again"
    assert floor.meter.calls == ["journal.read"]


def test_too_many_passes_are_an_error(floor: Floor) -> None:
    counting(floor, "true", max_passes=1)
    floor.call("loop", phase="check", index=0)
    floor.call("step", "loop[0]")
    with pytest.raises(LoopLimitExceeded, match="1 passes"):
        floor.call("loop", phase="check", index=1)
    assert floor.step("loop").status is StepStatus.FAILED


def test_a_condition_must_say_true_or_false(floor: Floor) -> None:
    counting(floor, "$input")
    with pytest.raises(InvalidParameters, match="not true or false"):
        floor.call("loop", phase="check", index=0)


def test_the_condition_knows_the_number_of_the_pass(floor: Floor) -> None:
    counting(floor, "$index < 1")
    assert floor.call("loop", phase="check", index=0)["port"] == "again"
    floor.call("step", "loop[0]")
    assert floor.call("loop", phase="check", index=1)["port"] == "out"


def test_a_disabled_while_makes_no_pass(floor: Floor) -> None:
    loop: JsonObject = {"type": "flow.while", "disabled": True}
    floor.publish({"start": {"type": "trigger.manual"}, "loop": loop}, ["start loop"])
    floor.start(1)
    floor.call("start")
    assert floor.call("loop", phase="check", index=0)["port"] == "out"
    assert floor.value("loop") == 1


def test_a_chunk_of_passes_is_bounded_by_its_number(floor: Floor) -> None:
    counting(floor)
    floor.call("loop", phase="chunk", chunk=1, chunk_size=50, token="t")
    (data,) = [data for arn, data in floor.executions.started.items() if "demo-loop" in arn]
    assert (data["from"], data["to"]) == (50, 100)
