"""What AWS refuses, the local cloud refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from localcloud.stepfunctions.history import EVENTS
from tests.localcloud.machines import (
    ROLE,
    Bench,
    Definition,
    branch,
    machine,
    passing,
    task,
    token_task,
)

KIB = 1024


def refused(bench: Bench, definition: Definition) -> str:
    with pytest.raises(bench.sfn.exceptions.InvalidDefinition) as caught:
        bench.create(definition)
    return str(caught.value)


def test_a_definition_of_more_than_a_megabyte(bench: Bench) -> None:
    assert "bytes" in refused(bench, machine({"a": passing()}, Comment="x" * 1024 * 1024))


@pytest.mark.parametrize("text", ["no json", "[]", "{}"])
def test_what_is_no_definition(bench: Bench, text: str) -> None:
    with pytest.raises(bench.sfn.exceptions.InvalidDefinition):
        bench.sfn.create_state_machine(name="m", definition=text, roleArn=ROLE)


@pytest.mark.parametrize("name", ["x" * 81, "with space", "a/b"])
def test_names_of_machines_and_executions(bench: Bench, name: str) -> None:
    definition = json.dumps(machine({"a": passing()}))
    with pytest.raises(ClientError):
        bench.sfn.create_state_machine(name=name, definition=definition, roleArn=ROLE)
    arn = bench.create(machine({"a": passing()}))
    with pytest.raises(ClientError):
        bench.sfn.start_execution(stateMachineArn=arn, name=name, input="{}")


def test_eighty_characters_are_allowed(bench: Bench) -> None:
    arn = bench.create(machine({"s" * 80: passing()}))
    bench.sfn.start_execution(stateMachineArn=arn, name="x" * 80, input="{}")


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ({"s" * 81: passing()}, "STATE_NAME_TOO_LONG"),
        ({"a": passing(Next="b")}, "'b' is no state"),
        ({"a": passing(Next="b"), "b": passing(), "c": passing()}, "'c' is not reachable"),
        ({"a": {"Type": "Pass"}}, "either Next or End"),
        ({"a": passing("{% $x %}")}, "'$x' in 'a' is assigned on no way"),
        ({"a": passing("{% $x %}", Assign={"x": 1})}, "'$x' in 'a'"),
        ({"a": passing("{% 1 + %}")}, "INVALID_JSONATA_EXPRESSION"),
        ({"a": passing("{% $$ %}")}, "INVALID_JSONATA_EXPRESSION"),
        ({"a": passing(Assign={"states": 1})}, "RESERVED_VARIABLE"),
        ({"a": passing(ResultPath="$.x")}, "ResultPath"),
        ({"a": task("echo", TimeoutSeconds=0)}, "TimeoutSeconds"),
        ({"a": task("echo", Catch=[{"ErrorEquals": [], "Next": "a"}])}, "ErrorEquals"),
        (
            {
                "a": task(
                    "echo",
                    Retry=[{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["Other"]}],
                )
            },
            "stand alone and last",
        ),
    ],
)
def test_faults_of_a_definition(bench: Bench, states: dict[str, Any], said: str) -> None:
    assert said in refused(bench, machine(states))


def fork(*branches: Definition, **more: Any) -> Definition:
    return {"Type": "Parallel", "Branches": list(branches), "End": True, **more}


def test_a_state_name_used_twice_in_different_branches(bench: Bench) -> None:
    twice = fork(branch({"a": passing()}), branch({"a": passing()}))
    assert "2 states are called 'a'" in refused(bench, machine({"fork": twice}))


def test_a_target_in_another_branch(bench: Bench) -> None:
    astray = fork(branch({"a": passing(Next="b")}), branch({"b": passing()}))
    assert "'b' is no state beside 'a'" in refused(bench, machine({"fork": astray}))


def test_an_outer_variable_assigned_inside(bench: Bench) -> None:
    states = {
        "set": passing(Assign={"x": 1}, Next="fork"),
        "fork": fork(branch({"inner": passing(Assign={"x": 2})})),
    }
    assert "OUTER_VARIABLE" in refused(bench, machine(states))


def test_an_inner_variable_read_outside(bench: Bench) -> None:
    inner = branch({"inner": passing(Assign={"x": 2})})
    states = {"fork": fork(inner) | {"Next": "read"}, "read": passing("{% $x %}")}
    states["fork"].pop("End")
    assert "'$x' in 'read'" in refused(bench, machine(states))


def test_all_faults_are_said_at_once(bench: Bench) -> None:
    states = {"a": passing("{% $x %}", Next="b"), "b": passing("{% $y %}", Next="nowhere")}
    said = refused(bench, machine(states))
    assert all(part in said for part in ("$x", "$y", "nowhere"))


def test_an_input_of_more_than_256_kib(bench: Bench) -> None:
    arn = bench.create(machine({"a": passing()}))
    with pytest.raises(bench.sfn.exceptions.InvalidExecutionInput):
        bench.sfn.start_execution(stateMachineArn=arn, input=json.dumps("x" * 256 * KIB))
    with pytest.raises(bench.sfn.exceptions.InvalidExecutionInput):
        bench.sfn.start_execution(stateMachineArn=arn, input="no json")


CAUGHT = [
    {"ErrorEquals": ["States.DataLimitExceeded"], "Next": "caught"},
    {"ErrorEquals": ["States.ALL"], "Next": "caught"},
]


@pytest.mark.parametrize(("size", "status"), [(255, "SUCCEEDED"), (257, "FAILED")])
def test_a_state_output_of_more_than_256_kib_fails_past_every_catch(
    bench: Bench, size: int, status: str
) -> None:
    bench.handlers["large"] = lambda event, context: "ü" * (size * KIB // 2 - 100)
    one = task("large", Catch=CAUGHT, Next="caught", Output="{% $states.result.Payload %}")
    ended = bench.run(machine({"one": one, "caught": passing(0)}))
    assert ended.status == status
    assert ended.error == (None if status == "SUCCEEDED" else "States.DataLimitExceeded")


def test_a_task_input_of_more_than_256_kib_fails_past_every_catch(bench: Bench) -> None:
    text = {"text": "{% $join($map([1..300], function($i) { $pad('', 1024, 'x') })) %}"}
    one = task("echo", text, Catch=CAUGHT, Next="caught", Output=0)
    ended = bench.run(machine({"one": one, "caught": passing(0)}))
    assert ended.error == "States.DataLimitExceeded"


def test_a_parallel_whose_results_are_too_large_together_fails(bench: Bench) -> None:
    large = "{% $pad('', 100000, 'x') %}"
    arms = [branch({f"b{number}": passing(large)}) for number in range(3)]
    states = {"fork": fork(*arms, Catch=CAUGHT, Next="caught"), "caught": passing(0)}
    states["fork"].pop("End")
    assert bench.run(machine(states)).error == "States.DataLimitExceeded"


def test_more_than_25_000_events_fail_past_every_catch(bench: Bench) -> None:
    items = {
        "Type": "Map",
        "Items": "{% [1..10000] %}",
        "ItemProcessor": branch({"one": passing(0)}),
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "caught"}],
        "Output": 0,
        "Next": "caught",
    }
    execution = bench.start(machine({"loop": items, "caught": passing("caught")}))
    ended = bench.end(execution, seconds=120)
    assert (ended.status, ended.error) == ("FAILED", "States.Runtime")
    assert str(EVENTS) in (ended.cause or "")
    assert len(bench.cloud.machines.execution(execution).events()) <= EVENTS


@pytest.mark.parametrize("expression", ["$pad('', 262144, 'x')"])
def test_a_variable_of_more_than_256_kib(bench: Bench, expression: str) -> None:
    states = {
        "set": passing(0, Assign={"x": f"{{% {expression} %}}"}, Next="read"),
        "read": passing("{% $length($x) %}"),
    }
    assert bench.run(machine(states)).error == "States.DataLimitExceeded"


def test_more_than_ten_mebibytes_of_variables(bench: Bench) -> None:
    large = "{% $pad('', 250000, 'x') %}"
    states: dict[str, Definition] = {
        f"s{number}": passing(0, Assign={f"x{number}": large}, Next=f"s{number + 1}")
        for number in range(45)
    }
    ended = bench.run(machine(states | {"s45": passing(0)}))
    assert ended.error == "States.DataLimitExceeded"


def test_an_answer_for_a_token_of_more_than_256_kib(bench: Bench, desk: Any) -> None:
    bench.start(machine({"one": token_task("desk")}))
    with pytest.raises(bench.sfn.exceptions.InvalidOutput):
        bench.sfn.send_task_success(taskToken=desk.token(), output=json.dumps("x" * 256 * KIB))
