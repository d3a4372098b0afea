"""Expressions, Choice, Wait, Pass and Fail."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.localcloud.machines import Bench, machine, passing


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$states.input.x", 'a "b" {% c %}'),
        ("$states.input.none", None),
        ("$states.input.none = null", True),
        ("$states.input.list[0]", 1),
        ("[1..3]", [1, 2, 3]),
        ("[]", []),
        ("$states.input.list", [1, None, {"k": None}]),
        ("$count($states.input.list)", 3),
        ("$states.context.Execution.Input.x", 'a "b" {% c %}'),
        ("$states.context.State.Name", "only"),
        ("$partition([1..5], 2)", [[1, 2], [3, 4], [5]]),
        ("($y := 2; $y * 2)", 4),
        ("$map([1,2], function($v) { $v + 1 })", [2, 3]),
        ("$exists($states.input.nothing)", False),
    ],
)
def test_expressions(bench: Bench, expression: str, expected: Any) -> None:
    value = {"x": 'a "b" {% c %}', "none": None, "list": [1, None, {"k": None}]}
    ended = bench.run(machine({"only": passing(f"{{% {expression} %}}")}), value)
    assert (ended.status, ended.output) == ("SUCCEEDED", expected)


@pytest.mark.parametrize(
    "expression",
    ["$states.input.nothing", "$states.input.x / 0", "$number('x')", "$error('no')", "$sum"],
)
def test_an_expression_without_a_result_fails_the_state(bench: Bench, expression: str) -> None:
    ended = bench.run(machine({"only": passing(f"{{% {expression} %}}")}), {"x": 1})
    assert ended.error == "States.QueryEvaluationError"
    assert "only" in (ended.cause or "")


def test_a_variable_that_only_the_other_way_assigns_fails_at_run_time(bench: Bench) -> None:
    states = {
        "choose": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $states.input.x %}", "Next": "set"}],
            "Default": "read",
        },
        "set": passing(Assign={"v": 1}, Next="read"),
        "read": passing("{% $v %}"),
    }
    assert bench.run(machine(states), {"x": True}).output == 1
    assert bench.run(machine(states), {"x": False}).error == "States.QueryEvaluationError"


def test_no_variable_hides_states_and_one_may_hide_a_function(bench: Bench) -> None:
    states = {
        "set": passing(Assign={"count": 5}, Next="read"),
        "read": passing("{% $count %}"),
    }
    assert bench.run(machine(states)).output == 5


def test_a_choice_without_a_match_has_its_own_error(bench: Bench) -> None:
    choose = {
        "Type": "Choice",
        "Choices": [{"Condition": "{% $states.input.x = 'a' %}", "Next": "a"}],
    }
    ended = bench.run(machine({"choose": choose, "a": passing()}), {"x": "b"})
    assert ended.error == "States.NoChoiceMatched"


def test_a_condition_must_be_a_boolean(bench: Bench) -> None:
    choose = {
        "Type": "Choice",
        "Choices": [{"Condition": "{% $states.input.x %}", "Next": "a"}],
        "Default": "a",
    }
    ended = bench.run(machine({"choose": choose, "a": passing()}), {"x": "b"})
    assert ended.error == "States.QueryEvaluationError"


@pytest.mark.parametrize(("x", "said"), [("a", "rule"), ("b", "default")])
def test_a_rule_and_the_default_assign_for_themselves(bench: Bench, x: str, said: str) -> None:
    choose = {
        "Type": "Choice",
        "Choices": [
            {
                "Condition": "{% $states.input.x = 'a' %}",
                "Next": "end",
                "Assign": {"by": "rule"},
                "Output": "rule",
            }
        ],
        "Default": "end",
        "Assign": {"by": "default"},
        "Output": "default",
    }
    end = passing(["{% $by %}", "{% $states.input %}"])
    assert bench.run(machine({"choose": choose, "end": end}), {"x": x}).output == [said, said]


def test_a_wait_ends_at_the_moment_named(bench: Bench) -> None:
    text = (datetime.now(UTC) + timedelta(seconds=0.3)).isoformat(timespec="milliseconds")
    moment = datetime.fromisoformat(text)
    text = text.replace("+00:00", "Z")
    wait = {"Type": "Wait", "Timestamp": "{% $states.input.until %}", "End": True}
    assert bench.run(machine({"wait": wait}), {"until": text}).status == "SUCCEEDED"
    assert timedelta() <= datetime.now(UTC) - moment < timedelta(seconds=5)


@pytest.mark.parametrize("until", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00+02:00"])
def test_a_wait_for_a_moment_that_is_past_does_not_wait(bench: Bench, until: str) -> None:
    wait = {"Type": "Wait", "Timestamp": until, "End": True}
    wait["Timestamp"] = "{% $states.input.until %}"
    assert bench.run(machine({"wait": wait}), {"until": until}).status == "SUCCEEDED"


def test_a_wait_for_what_is_no_moment_fails(bench: Bench) -> None:
    wait = {"Type": "Wait", "Timestamp": "{% $states.input.until %}", "End": True}
    assert bench.run(machine({"wait": wait}), {"until": "soon"}).error == "States.Runtime"


def test_a_year_long_wait_is_ended_by_a_stop(bench: Bench) -> None:
    wait = {"Type": "Wait", "Seconds": "{% $states.input.s %}", "End": True}
    execution = bench.start(machine({"wait": wait}), {"s": 31_536_000})
    while "WaitStateEntered" not in bench.events(execution):
        time.sleep(0.002)
    bench.sfn.stop_execution(executionArn=execution, error="Enough", cause="of this")
    ended = bench.end(execution, seconds=1)
    assert (ended.status, ended.error, ended.cause) == ("ABORTED", "Enough", "of this")
    assert bench.events(execution)[-1] == "ExecutionAborted"


def test_a_fail_state_evaluates_error_and_cause(bench: Bench) -> None:
    fail = {
        "Type": "Fail",
        "Error": "{% $states.input.e %}",
        "Cause": "{% 'by ' & $states.input.e %}",
    }
    ended = bench.run(machine({"fail": fail}), {"e": "Mine"})
    assert (ended.error, ended.cause) == ("Mine", "by Mine")


def test_a_fail_state_needs_neither(bench: Bench) -> None:
    ended = bench.run(machine({"fail": {"Type": "Fail"}}))
    assert (ended.status, ended.error, ended.cause) == ("FAILED", None, None)


def test_a_machine_may_end_in_time_or_not(bench: Bench) -> None:
    wait = {"Type": "Wait", "Seconds": 60, "End": True}
    execution = bench.start(machine({"wait": wait}, TimeoutSeconds=1))
    ended = bench.end(execution)
    assert ended.status == "TIMED_OUT"
    assert "stopDate" in bench.sfn.describe_execution(executionArn=execution)


def test_a_machine_in_jsonpath_mode_runs_as_moto_knows_it(bench: Bench) -> None:
    definition = {
        "StartAt": "call",
        "States": {
            "call": {
                "Type": "Task",
                "Resource": "arn:aws:lambda:eu-central-1:123456789012:function:echo",
                "ResultPath": "$.got",
                "Next": "choose",
            },
            "choose": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.got.x", "NumericEquals": 1, "Next": "end"}],
                "Default": "wrong",
            },
            "end": {"Type": "Pass", "Result": True, "ResultPath": "$.ended", "End": True},
            "wrong": {"Type": "Fail"},
        },
    }
    assert bench.run(definition, {"x": 1}).output == {"x": 1, "got": {"x": 1}, "ended": True}


def test_a_definition_that_does_not_parse_is_refused_where_it_fails(bench: Bench) -> None:
    with pytest.raises(bench.sfn.exceptions.InvalidDefinition, match="Nope"):
        bench.create(machine({"a": {"Type": "Pass", "Nope": 1, "End": True}}))
