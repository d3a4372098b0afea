"""Parallel and Map: frames, variables, failures of one among many."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.localcloud.machines import Bench, Desk, branch, machine, passing, task, token_task


def test_a_parallel_hands_the_ports_of_its_branches_out_by_output_and_assign(
    bench: Bench,
) -> None:
    def arm(name: str) -> Any:
        step = task(
            "echo", {"port": name}, Assign={"p_" + name: "{% $states.result.Payload.port %}"}
        )
        return branch(
            {
                f"step {name}": step | {"Next": f"end {name}"},
                f"end {name}": passing({f"n_{name}": f"{{% $p_{name} %}}"}),
            }
        )

    for state in (arms := [arm("a"), arm("b")]):
        state["States"][next(iter(state["States"]))].pop("End")
    states: dict[str, Any] = {
        "fork": {
            "Type": "Parallel",
            "Branches": arms,
            "Assign": {
                "n_a": "{% $states.result[0].n_a %}",
                "n_b": "{% $states.result[1].n_b %}",
            },
            "Output": {},
            "Next": "choose",
        },
        "choose": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $n_a = 'a' and $n_b = 'b' %}", "Next": "right"}],
            "Default": "wrong",
        },
        "right": passing("{% $n_a & $n_b %}"),
        "wrong": {"Type": "Fail", "Error": "Wrong"},
    }
    assert bench.run(machine(states)).output == "ab"


def test_output_reads_the_variables_of_before_the_assignment(bench: Bench) -> None:
    states = {
        "init": passing(Assign={"x": "old"}, Next="set"),
        "set": passing("{% $x %}", Assign={"x": "new"}, Next="say"),
        "say": passing({"before": "{% $states.input %}", "after": "{% $x %}"}),
    }
    assert bench.run(machine(states)).output == {"before": "old", "after": "new"}


def test_parallels_nest_and_read_what_is_assigned_outside(bench: Bench) -> None:
    inner = {
        "Type": "Parallel",
        "Branches": [branch({"deep": passing("{% $x & '!' %}")})],
        "End": True,
    }
    states = {
        "init": passing(Assign={"x": "hello"}, Next="outer"),
        "outer": {"Type": "Parallel", "Branches": [branch({"inner": inner})], "End": True},
    }
    assert bench.run(machine(states)).output == [["hello!"]]


def test_a_failing_branch_ends_the_others_and_their_tokens(bench: Bench, desk: Desk) -> None:
    waited = threading.Event()

    def refuse_later(event: Any, context: Any) -> None:
        desk.token()
        waited.set()
        raise ValueError("enough")

    bench.handlers["refuse_later"] = refuse_later
    fork = {
        "Type": "Parallel",
        "Branches": [
            branch({"ask": token_task("desk")}),
            branch({"fail": task("refuse_later")}),
            branch({"sleep": {"Type": "Wait", "Seconds": 86_400, "End": True}}),
        ],
        "Catch": [
            {"ErrorEquals": ["ValueError"], "Output": "{% $states.errorOutput %}", "Next": "end"}
        ],
        "Next": "end",
    }
    ended = bench.run(machine({"fork": fork, "end": passing("{% $states.input.Error %}")}))
    assert ended.output == "ValueError"
    with pytest.raises(bench.sfn.exceptions.TaskTimedOut):
        bench.sfn.send_task_success(taskToken=desk.token(), output="{}")


def test_a_caught_failure_is_told_and_raised_again(bench: Bench) -> None:
    fork = {
        "Type": "Parallel",
        "Branches": [branch({"fail": task("refuse")})],
        "Catch": [
            {
                "ErrorEquals": ["States.ALL"],
                "Assign": {"error": "{% $states.errorOutput %}"},
                "Output": "{% $states.errorOutput %}",
                "Next": "close",
            }
        ],
        "End": True,
    }
    states = {
        "fork": fork,
        "close": task(
            "echo", {"error": "{% $error %}"}, Output="{% $states.input %}", Next="raise"
        ),
        "raise": {
            "Type": "Fail",
            "Error": "{% $states.input.Error %}",
            "Cause": "{% $states.input.Cause %}",
        },
    }
    states["close"].pop("End", None)
    ended = bench.run(machine(states))
    assert (ended.status, ended.error) == ("FAILED", "Refused")
    assert "not today" in (ended.cause or "")


def test_a_time_out_keeps_its_name_through_parallel_and_fail(bench: Bench) -> None:
    fork = {
        "Type": "Parallel",
        "Branches": [branch({"ask": token_task("desk", TimeoutSeconds=1)})],
        "Catch": [
            {"ErrorEquals": ["States.Timeout"], "Output": "{% $states.errorOutput %}", "Next": "f"}
        ],
        "End": True,
    }
    fail = {"Type": "Fail", "Error": "{% $states.input.Error %}"}
    assert bench.run(machine({"fork": fork, "f": fail})).error == "States.Timeout"


def test_a_parallel_is_retried_as_a_whole(bench: Bench) -> None:
    def second(event: Any, context: Any) -> Any:
        bench.calls.append(("second", event))
        if len(bench.calls) == 1:
            raise ConnectionError("busy")
        return event

    bench.handlers["second"] = second
    fork = {
        "Type": "Parallel",
        "Arguments": {"x": "{% $states.input.x %}"},
        "Branches": [branch({"one": task("second", "{% $states.input %}")})],
        "Retry": [{"ErrorEquals": ["ConnectionError"], "MaxAttempts": 1}],
        "Output": "{% $states.result[0].Payload %}",
        "End": True,
    }
    assert bench.run(machine({"fork": fork}), {"x": 7}).output == {"x": 7}


def loop(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "Type": "Map",
        "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, **branch(body)},
        **({"End": True} if "Next" not in more else {}),
        **more,
    }


def test_a_map_runs_its_body_for_each_item_in_order(bench: Bench) -> None:
    body = {
        "one": task(
            "echo",
            {"index": "{% $states.context.Map.Item.Index %}", "item": "{% $states.input.item %}"},
            Output="{% $states.result.Payload %}",
        )
    }
    items = loop(
        body,
        Items="{% [0..$states.input.size - 1] %}",
        ItemSelector={"item": "{% $states.context.Map.Item.Value * 2 %}"},
        MaxConcurrency="{% 3 %}",
    )
    output = bench.run(machine({"loop": items}), {"size": 25}).output
    assert output == [{"index": number, "item": number * 2} for number in range(25)]


def test_a_map_without_items_runs_nothing(bench: Bench) -> None:
    items = loop({"one": task("refuse")}, Items="{% [0..$states.input.size - 1] %}")
    assert bench.run(machine({"loop": items}), {"size": 0}).output == []


def test_a_map_of_more_than_a_thousand_items_runs(bench: Bench) -> None:
    items = loop({"one": passing(0)}, Items="{% [1..1500] %}", MaxConcurrency=1)
    assert bench.run(machine({"loop": items})).output == [0] * 1500


def test_maps_nest_each_with_its_own_variables(bench: Bench) -> None:
    inner = loop(
        {"mul": passing("{% $row * $states.input %}")},
        Items="{% [1..3] %}",
    )
    outer = loop(
        {"keep": passing(Assign={"row": "{% $states.input %}"}, Next="inner"), "inner": inner},
        Items="{% [1..3] %}",
        MaxConcurrency=3,
    )
    assert bench.run(machine({"outer": outer})).output == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]


def test_one_failing_item_ends_the_map_and_those_that_run(bench: Bench, desk: Desk) -> None:
    choose = {
        "Type": "Choice",
        "Choices": [{"Condition": "{% $states.input = 1 %}", "Next": "fail"}],
        "Default": "ask",
    }
    body = {"choose": choose, "ask": token_task("desk"), "fail": task("refuse")}
    items = loop(
        body,
        Items=[0, 1, 2],
        MaxConcurrency=2,
        Catch=[{"ErrorEquals": ["Refused"], "Next": "end"}],
        Next="end",
    )
    execution = bench.start(machine({"loop": items, "end": passing("over")}))
    assert bench.end(execution).output == "over"
    assert "MapStateFailed" in bench.events(execution)


def test_a_map_runs_at_most_forty_items_at_once(bench: Bench) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def count(event: Any, context: Any) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    bench.handlers["count"] = count
    items = loop({"one": task("count", Output=0)}, Items="{% [1..100] %}")
    assert bench.run(machine({"loop": items})).output == [0] * 100
    assert 1 < most <= 40


def test_items_that_are_no_array_fail_the_state(bench: Bench) -> None:
    items = loop({"one": passing()}, Items="{% $states.input.size %}")
    assert bench.run(machine({"loop": items}), {"size": 3}).error == "States.QueryEvaluationError"


def test_a_collecting_body_goes_on_after_a_failed_item(bench: Bench) -> None:
    guarded = {
        "Type": "Parallel",
        "Branches": [branch({"work": task("refuse")})],
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "noted"}],
        "Next": "noted",
    }
    items = loop({"guard": guarded, "noted": passing("noted")}, Items=[1, 2, 3])
    assert bench.run(machine({"loop": items})).output == ["noted"] * 3
