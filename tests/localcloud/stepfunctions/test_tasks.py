"""Tasks: Lambdas, errors, tokens, time-outs, retries."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from tests.localcloud.machines import Bench, Desk, machine, passing, task, token_task


def test_a_task_gets_its_payload_and_hands_its_result_on(bench: Bench) -> None:
    states = {
        "one": task(
            "echo",
            {"given": "{% $states.input.x %}", "text": "{% not evaluated"},
            Output="{% $states.result.Payload %}",
        )
    }
    assert bench.run(machine(states), {"x": 'a "quote" and \\'}).output == {
        "given": 'a "quote" and \\',
        "text": "{% not evaluated",
    }


def test_a_failing_lambda_fails_the_state_with_its_class_and_the_whole_error(bench: Bench) -> None:
    ended = bench.run(machine({"one": task("refuse")}))
    assert (ended.status, ended.error) == ("FAILED", "Refused")
    cause = json.loads(ended.cause or "")
    assert cause["errorMessage"] == "not today"
    assert cause["errorType"] == "Refused"
    assert "refuse" in cause["stackTrace"][-1]


def test_an_unknown_function_fails_as_lambda_says(bench: Bench) -> None:
    ended = bench.run(machine({"one": task("nobody")}))
    assert ended.error == "Lambda.ResourceNotFoundException"


def test_a_catch_takes_up_the_error_and_keeps_what_it_assigns(bench: Bench) -> None:
    caught = {
        "ErrorEquals": ["Refused"],
        "Next": "after",
        "Output": "{% $states.errorOutput %}",
        "Assign": {"port": "error"},
    }
    states = {
        "one": task("refuse", Catch=[caught], Next="after"),
        "after": passing({"port": "{% $port %}", "error": "{% $states.input.Error %}"}),
    }
    assert bench.run(machine(states)).output == {"port": "error", "error": "Refused"}


def test_a_catch_may_lead_back_to_its_own_state(bench: Bench) -> None:
    def once(event: Any, context: Any) -> Any:
        bench.calls.append(("once", event))
        if len(bench.calls) == 1:
            raise ValueError("first")
        return "done"

    bench.handlers["once"] = once
    one = task(
        "once",
        Catch=[{"ErrorEquals": ["States.ALL"], "Next": "one"}],
        Output="{% $states.result.Payload %}",
    )
    assert bench.run(machine({"one": one})).output == "done"


def test_a_retry_runs_again_until_it_succeeds_and_counts_itself(bench: Bench) -> None:
    def third(event: Any, context: Any) -> Any:
        bench.calls.append(("third", event["retries"]))
        if len(bench.calls) < 3:
            raise ConnectionError("busy")
        return "done"

    bench.handlers["third"] = third
    one = task(
        "third",
        {"retries": "{% $states.context.State.RetryCount %}"},
        Retry=[
            {"ErrorEquals": ["Other"], "MaxAttempts": 9},
            {"ErrorEquals": ["ConnectionError"], "IntervalSeconds": 1, "MaxAttempts": 2},
        ],
        Output="{% $states.result.Payload %}",
    )
    assert bench.run(machine({"one": one})).output == "done"
    assert [count for _, count in bench.calls] == [0, 1, 2]


def test_a_retry_that_is_exhausted_fails_with_the_last_error(bench: Bench) -> None:
    one = task("refuse", Retry=[{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}])
    execution = bench.start(machine({"one": one}))
    assert bench.end(execution).error == "Refused"
    assert bench.events(execution).count("TaskFailed") == 2


def test_stopping_an_execution_ends_the_pause_before_a_retry(bench: Bench) -> None:
    one = task("refuse", Retry=[{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 86_400}])
    execution = bench.start(machine({"one": one}))
    while "TaskFailed" not in bench.events(execution):
        time.sleep(0.002)
    bench.sfn.stop_execution(executionArn=execution)
    assert bench.end(execution).status == "ABORTED"


def test_a_state_time_out_goes_on_while_the_lambda_still_runs(bench: Bench) -> None:
    release, ended = threading.Event(), threading.Event()

    def slow(event: Any, context: Any) -> None:
        release.wait(5)
        ended.set()

    bench.handlers["slow"] = slow
    caught = {"ErrorEquals": ["States.Timeout"], "Next": "late"}
    states = {
        "one": task("slow", TimeoutSeconds=1, Catch=[caught], Next="late"),
        "late": passing("late"),
    }
    assert bench.run(machine(states)).output == "late"
    assert not ended.is_set()
    release.set()
    assert ended.wait(5)


def test_the_time_out_may_be_an_expression(bench: Bench, desk: Desk) -> None:
    one = token_task("desk", TimeoutSeconds="{% $states.input.seconds %}")
    assert bench.run(machine({"one": one}), {"seconds": 1}).error == "States.Timeout"


def test_a_token_ends_its_task_with_a_result(bench: Bench, desk: Desk) -> None:
    execution = bench.start(
        machine({"one": token_task("desk", Output="{% $states.result.port %}")})
    )
    bench.sfn.send_task_success(taskToken=desk.token(), output='{"port":"approved"}')
    assert bench.end(execution).output == "approved"


def test_a_token_answered_before_the_lambda_returns_counts(bench: Bench) -> None:
    def at_once(event: Any, context: Any) -> None:
        bench.sfn.send_task_success(taskToken=event["token"], output='"quick"')

    bench.handlers["at_once"] = at_once
    assert bench.run(machine({"one": token_task("at_once")})).output == "quick"


def test_a_token_ends_its_task_with_error_and_cause(bench: Bench, desk: Desk) -> None:
    execution = bench.start(machine({"one": token_task("desk")}))
    bench.sfn.send_task_failure(taskToken=desk.token(), error="Declined", cause="too late")
    ended = bench.end(execution)
    assert (ended.error, ended.cause) == ("Declined", "too late")


def test_a_second_answer_and_an_invented_token_are_refused(bench: Bench, desk: Desk) -> None:
    execution = bench.start(machine({"one": token_task("desk")}))
    token = desk.token()
    bench.sfn.send_task_success(taskToken=token, output="{}")
    bench.end(execution)
    with pytest.raises(bench.sfn.exceptions.TaskTimedOut):
        bench.sfn.send_task_success(taskToken=token, output="{}")
    with pytest.raises(bench.sfn.exceptions.InvalidToken):
        bench.sfn.send_task_success(taskToken="invented", output="{}")
    with pytest.raises(bench.sfn.exceptions.InvalidOutput):
        bench.sfn.send_task_success(taskToken=token, output="no json")


def test_each_attempt_has_a_token_of_its_own(bench: Bench, desk: Desk) -> None:
    one = token_task("desk", Retry=[{"ErrorEquals": ["Again"]}])
    execution = bench.start(machine({"one": one}))
    first = desk.token(0)
    bench.sfn.send_task_failure(taskToken=first, error="Again")
    second = desk.token(1)
    assert first != second
    with pytest.raises(bench.sfn.exceptions.TaskTimedOut):
        bench.sfn.send_task_success(taskToken=first, output='"old"')
    bench.sfn.send_task_success(taskToken=second, output='"new"')
    assert bench.end(execution).output == "new"


def test_only_a_task_that_waits_sees_a_token(bench: Bench) -> None:
    one = task("echo", {"token": "{% $states.context.Task.Token %}"})
    assert bench.run(machine({"one": one})).error == "States.QueryEvaluationError"


def test_a_heartbeat_keeps_a_task_waiting(bench: Bench, desk: Desk) -> None:
    execution = bench.start(machine({"one": token_task("desk", HeartbeatSeconds=1)}))
    token = desk.token()
    bench.sfn.send_task_heartbeat(taskToken=token)
    assert bench.end(execution).error == "States.HeartbeatTimeout"


def test_tokens_are_found_while_other_executions_are_being_started(
    bench: Bench, desk: Desk
) -> None:
    arn = bench.create(machine({"one": token_task("desk")}))
    backend = bench.cloud.machines
    started = [backend.start(arn, f"r{number}", "{}") for number in range(30)]
    for number in range(30):
        bench.sfn.send_task_success(taskToken=desk.token(number), output="{}")
    assert {bench.end(one.execution_arn).status for one in started} == {"SUCCEEDED"}


def test_a_result_that_is_no_json_is_a_marshal_error(bench: Bench) -> None:
    bench.handlers["odd"] = lambda event, context: {1, 2}
    assert bench.run(machine({"one": task("odd")})).error == "Runtime.MarshalError"
