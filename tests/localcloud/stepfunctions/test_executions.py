"""Executions: names, ends, history."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from localcloud.stepfunctions.backend import HISTORIES
from tests.localcloud.machines import Bench, Desk, machine, passing, task, token_task


def start(bench: Bench, arn: str, name: str, value: Any) -> str:
    return str(
        bench.sfn.start_execution(stateMachineArn=arn, name=name, input=json.dumps(value))[
            "executionArn"
        ]
    )


def test_the_same_name_and_input_is_the_same_open_execution(bench: Bench, desk: Desk) -> None:
    arn = bench.create(machine({"one": token_task("desk")}))
    first = start(bench, arn, "run", {"x": 1})
    assert start(bench, arn, "run", {"x": 1}) == first
    with pytest.raises(bench.sfn.exceptions.ExecutionAlreadyExists):
        start(bench, arn, "run", {"x": 2})
    bench.sfn.send_task_success(taskToken=desk.token(), output="{}")
    bench.end(first)
    with pytest.raises(bench.sfn.exceptions.ExecutionAlreadyExists):
        start(bench, arn, "run", {"x": 1})


def test_a_start_raced_by_many_begins_once(bench: Bench, desk: Desk) -> None:
    arn = bench.create(machine({"one": token_task("desk")}))
    client = bench.sfn
    errors: list[Exception] = []

    def go() -> None:
        try:
            client.start_execution(stateMachineArn=arn, name="run", input="{}")
        except client.exceptions.ClientError as error:
            errors.append(error)

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desk.token()
    assert not errors
    assert len(bench.cloud.machines.running()) == 1


def test_an_execution_without_a_name_gets_one(bench: Bench) -> None:
    arn = bench.create(machine({"one": passing()}))
    names = {bench.sfn.start_execution(stateMachineArn=arn)["executionArn"] for _ in range(2)}
    assert len(names) == 2
    for name in names:
        bench.end(name)


def test_an_output_that_is_a_text_keeps_its_quotes(bench: Bench) -> None:
    execution = bench.start(machine({"one": passing("text")}))
    bench.end(execution)
    assert bench.sfn.describe_execution(executionArn=execution)["output"] == '"text"'


def test_stopping_wakes_every_branch_and_refuses_later_answers(bench: Bench, desk: Desk) -> None:
    branches = [
        {"StartAt": f"ask{number}", "States": {f"ask{number}": token_task("desk")}}
        for number in range(3)
    ]
    execution = bench.start(
        machine({"fork": {"Type": "Parallel", "Branches": branches, "End": True}})
    )
    tokens = [desk.token(number) for number in range(3)]
    bench.sfn.stop_execution(executionArn=execution)
    assert bench.end(execution, seconds=1).status == "ABORTED"
    for token in tokens:
        with pytest.raises(bench.sfn.exceptions.TaskTimedOut):
            bench.sfn.send_task_success(taskToken=token, output="{}")


def test_stopping_what_has_ended_changes_nothing(bench: Bench) -> None:
    execution = bench.start(machine({"one": passing(1)}))
    bench.end(execution)
    bench.sfn.stop_execution(executionArn=execution)
    assert bench.end(execution).status == "SUCCEEDED"


def test_an_execution_that_fails_while_it_is_stopped_stays_stopped(
    bench: Bench, desk: Desk
) -> None:
    release = threading.Event()

    def slow(event: Any, context: Any) -> None:
        desk({"token": "begun"}, None)
        release.wait(5)
        raise ValueError("late")

    bench.handlers["slow"] = slow
    execution = bench.start(machine({"one": task("slow")}))
    desk.token()
    bench.sfn.stop_execution(executionArn=execution)
    release.set()
    assert bench.end(execution).status == "ABORTED"


def test_deleting_a_machine_ends_its_executions(bench: Bench, desk: Desk) -> None:
    arn = bench.create(machine({"one": token_task("desk")}))
    execution = start(bench, arn, "run", {})
    desk.token()
    bench.sfn.delete_state_machine(stateMachineArn=arn)
    assert bench.end(execution).status == "ABORTED"


def test_history_comes_in_pages_and_backwards(bench: Bench) -> None:
    states = {f"s{number}": passing(Next=f"s{number + 1}") for number in range(60)}
    execution = bench.start(machine(states | {"s60": passing()}))
    bench.end(execution)
    pages = [
        page["events"]
        for page in bench.sfn.get_paginator("get_execution_history").paginate(
            executionArn=execution, PaginationConfig={"PageSize": 50}
        )
    ]
    assert [len(page) for page in pages] == [50, 50, 24]
    ids = [event["id"] for page in pages for event in page]
    assert ids == list(range(1, 125))
    last = bench.sfn.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=1)
    assert last["events"][0]["type"] == "ExecutionSucceeded"


def test_the_same_definition_under_the_same_name_is_the_same_machine(bench: Bench) -> None:
    text = json.dumps(machine({"one": passing()}))
    role = "arn:aws:iam::123456789012:role/states"
    client = bench.sfn
    first = client.create_state_machine(name="m", definition=text, roleArn=role)
    again = client.create_state_machine(name="m", definition=text, roleArn=role)
    assert first["stateMachineArn"] == again["stateMachineArn"]
    with pytest.raises(client.exceptions.StateMachineAlreadyExists):
        client.create_state_machine(name="m", definition=text + " ", roleArn=role)


def test_a_hundred_paused_executions_cost_a_thread_each_and_no_more(
    bench: Bench, desk: Desk
) -> None:
    before = threading.active_count()
    arn = bench.create(machine({"one": token_task("desk")}))
    started = [start(bench, arn, f"r{number}", {}) for number in range(100)]
    tokens = [desk.token(number) for number in range(100)]
    assert threading.active_count() - before <= 100 + 24
    for token in tokens:
        bench.sfn.send_task_success(taskToken=token, output="{}")
    assert {bench.end(execution).status for execution in started} == {"SUCCEEDED"}


def test_the_histories_of_the_last_executions_are_kept(bench: Bench) -> None:
    arn = bench.create(machine({"one": passing(1)}))
    started = [start(bench, arn, f"r{number}", {}) for number in range(HISTORIES + 5)]
    for execution in started:
        assert bench.end(execution).output == 1
    kept = [bool(bench.cloud.machines.execution(execution).events()) for execution in started]
    assert kept.count(False) == 5
    with pytest.raises(bench.sfn.exceptions.ExecutionAlreadyExists):
        start(bench, arn, "r0", {})
