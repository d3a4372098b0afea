"""The fast interpreter does what Step Functions does, and refuses what it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.tenancy.scope import seeded
from tests.proof.language import INVOKE, INVOKE_AND_WAIT, Refused, read
from tests.proof.scheduler import StateFailed
from tests.proof.world import Hang, World

Lambda = Callable[[JsonObject], JsonValue]


def _machine(states: JsonObject, start: str = "a") -> str:
    return dumps({"QueryLanguage": "JSONata", "StartAt": start, "States": states})


def _task(payload: JsonValue = None, *, waits: bool = False, **more: JsonValue) -> JsonObject:
    arguments: JsonObject = {"FunctionName": "f", "Payload": payload or {}}
    resource = INVOKE_AND_WAIT if waits else INVOKE
    return {"Type": "Task", "Resource": resource, "Arguments": arguments, **more}


def _world(call: Lambda = lambda payload: payload, seed: int = 0) -> World:
    return World(lambda name, payload: call(payload) if name == "f" else None, random.Random(seed))


def _run(
    world: World, definition: str, given: JsonObject | None = None
) -> tuple[str, str, JsonValue]:
    machine = world.create(seeded(), "m", definition)
    arn = world.start(seeded(), machine, "one", given or {})
    world.run(lambda: False)
    execution = world.executions[arn]
    return execution.status, execution.error, execution.thread.result


def test_a_task_hands_its_result_on_and_assigns() -> None:
    states: JsonObject = {
        "a": _task({"x": 1}, Assign={"n": "{% $states.result.Payload.x %}"}, Next="b"),
        "b": {"Type": "Succeed", "Output": "{% $n + 1 %}"},
    }
    assert _run(_world(), _machine(states)) == ("SUCCEEDED", "", 2)


def test_reading_a_variable_that_was_never_assigned_fails() -> None:
    states: JsonObject = {"a": {"Type": "Succeed", "Output": "{% $n %}"}}
    assert _run(_world(), _machine(states))[:2] == ("FAILED", "States.QueryEvaluationError")


def test_null_is_a_value() -> None:
    states: JsonObject = {
        "a": {"Type": "Pass", "Assign": {"n": None}, "Next": "b"},
        "b": {"Type": "Succeed", "Output": "{% {'n': $n, 'is': $n = null} %}"},
    }
    assert _run(_world(), _machine(states))[2] == {"n": None, "is": True}


def test_a_branch_reads_outer_variables_and_keeps_its_own() -> None:
    branch: JsonObject = {
        "StartAt": "p",
        "States": {
            "p": {"Type": "Pass", "Assign": {"m": 2}, "Next": "q"},
            "q": _reading("$n + $m"),
        },
    }
    states: JsonObject = {
        "a": {"Type": "Pass", "Assign": {"n": 1}, "Next": "b"},
        "b": {"Type": "Parallel", "Branches": [branch], "Next": "c"},
        "c": {"Type": "Succeed", "Output": "{% $m %}"},
    }
    assert _run(_world(), _machine(states))[:2] == ("FAILED", "States.QueryEvaluationError")


def _reading(source: str) -> JsonObject:
    return {"Type": "Pass", "Output": f"{{% {source} %}}", "End": True}


def test_an_outer_variable_cannot_be_assigned_inside() -> None:
    branch: JsonObject = {
        "StartAt": "p",
        "States": {"p": {"Type": "Pass", "Assign": {"n": 2}, "End": True}},
    }
    states: JsonObject = {
        "a": {"Type": "Pass", "Assign": {"n": 1}, "Next": "b"},
        "b": {"Type": "Parallel", "Branches": [branch], "End": True},
    }
    with pytest.raises(Refused, match="around"):
        read(_machine(states))


@pytest.mark.parametrize(
    "states",
    [
        {"a": {"Type": "Pass", "Next": "nowhere"}},
        {"a": {"Type": "Succeed"}, "b": {"Type": "Succeed"}},
        {"a": {"Type": "Pass"}},
        {"a" * 81: {"Type": "Succeed"}},
        {"a": {"Type": "Succeed", "Output": "x" * 1_000_001}},
    ],
    ids=["unknown target", "unreachable", "neither next nor end", "long name", "too large"],
)
def test_what_aws_would_not_create_is_refused(states: JsonObject) -> None:
    with pytest.raises(Refused):
        read(_machine(states, next(iter(states))))


def test_a_catch_takes_the_error_by_name_and_all_catches_the_rest() -> None:
    def call(payload: JsonObject) -> JsonValue:
        raise StateFailed("Wrong", "because")

    catch: JsonValue = [
        {"ErrorEquals": ["Other"], "Next": "other"},
        {"ErrorEquals": ["States.ALL"], "Next": "c", "Assign": {"e": "{% $states.errorOutput %}"}},
    ]
    states: JsonObject = {
        "a": _task(Catch=catch, Next="other"),
        "other": {"Type": "Fail", "Error": "NotHere"},
        "c": {"Type": "Succeed", "Output": "{% $e.Error & ': ' & $e.Cause %}"},
    }
    assert _run(_world(call), _machine(states)) == ("SUCCEEDED", "", "Wrong: because")


def test_a_retry_tries_as_often_as_it_says_and_time_passes() -> None:
    calls: list[int] = []

    def call(payload: JsonObject) -> JsonValue:
        calls.append(1)
        raise StateFailed("Busy")

    rule: JsonValue = [
        {"ErrorEquals": ["Busy"], "MaxAttempts": 2, "IntervalSeconds": 5, "BackoffRate": 2}
    ]
    world = _world(call)
    began = world.now()
    assert _run(world, _machine({"a": _task(Retry=rule, End=True)}))[1] == "Busy"
    assert (len(calls), (world.now() - began).total_seconds()) == (3, 15)


def test_a_token_wakes_its_state_and_a_second_answer_is_refused() -> None:
    tokens: list[str] = []
    payload: JsonObject = {"token": "{% $states.context.Task.Token %}"}
    world = _world(lambda given: tokens.append(str(given["token"])))
    states: JsonObject = {
        "a": _task(payload, waits=True, Output="{% $states.result.x %}", End=True)
    }
    arn = world.start(seeded(), world.create(seeded(), "m", _machine(states)), "one", {})
    world.run(lambda: bool(tokens) and world.succeed(seeded(), tokens[0], {"x": 7}))
    assert world.executions[arn].thread.result == 7
    assert not world.succeed(seeded(), tokens[0], {})


def test_a_token_that_nobody_answers_times_out_or_hangs() -> None:
    ending: JsonValue = [{"ErrorEquals": ["States.Timeout"], "Next": "b"}]
    states: JsonObject = {
        "a": _task(waits=True, TimeoutSeconds=60, Catch=ending, Next="b"),
        "b": {"Type": "Succeed", "Output": "late"},
    }
    assert _run(_world(), _machine(states))[2] == "late"
    with pytest.raises(Hang):
        _run(_world(), _machine({"a": _task(waits=True, End=True)}))


def test_a_failing_branch_ends_the_others_where_they_are() -> None:
    seen: list[JsonValue] = []

    def call(payload: JsonObject) -> JsonValue:
        if payload == {"fail": True}:
            raise StateFailed("Wrong")
        seen.append(payload)
        return None

    waiting: JsonObject = {"Type": "Wait", "Seconds": 60, "Next": "late"}
    branches: JsonValue = [
        {"StartAt": "f", "States": {"f": _task({"fail": True}, End=True)}},
        {"StartAt": "w", "States": {"w": waiting, "late": _task(End=True)}},
    ]
    states: JsonObject = {"a": {"Type": "Parallel", "Branches": branches, "End": True}}
    assert _run(_world(call), _machine(states))[:2] == ("FAILED", "Wrong")
    assert seen == []


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_map_keeps_order_and_never_exceeds_its_concurrency(width: int) -> None:
    processor: JsonObject = {
        "ProcessorConfig": {"Mode": "INLINE"},
        "StartAt": "w",
        "States": {
            "w": {"Type": "Wait", "Seconds": 10, "Next": "x"},
            "x": _reading("$states.input.i"),
        },
    }
    selector: JsonValue = {"i": "{% $states.context.Map.Item.Index %}"}
    each: JsonObject = {
        "Type": "Map",
        "Items": "{% [1..6] %}",
        "ItemSelector": selector,
        "MaxConcurrency": width,
        "ItemProcessor": processor,
        "End": True,
    }
    world = _world()
    began = world.now()
    assert _run(world, _machine({"a": each}))[2] == [0, 1, 2, 3, 4, 5]
    assert (world.now() - began).total_seconds() == 60 / width


def test_seeds_give_different_orders() -> None:
    def order(seed: int) -> tuple[JsonValue, ...]:
        seen: list[JsonValue] = []
        branches: JsonValue = [
            {"StartAt": f"s{i}", "States": {f"s{i}": _task({"i": i}, End=True)}} for i in range(4)
        ]
        states: JsonObject = {"a": {"Type": "Parallel", "Branches": branches, "End": True}}
        _run(_world(lambda payload: seen.append(payload["i"]), seed), _machine(states))
        return tuple(seen)

    assert len({order(seed) for seed in range(40)}) > 10
    assert order(3) == order(3)


def test_stopping_ends_an_execution_in_the_middle() -> None:
    world = _world()
    definition = _machine({"a": _task(waits=True, End=True)})
    arn = world.start(seeded(), world.create(seeded(), "m", definition), "one", {})

    def stop() -> bool:
        running = world.executions[arn].status == "RUNNING"
        world.stop(seeded(), arn, cause="enough")
        return running

    world.run(stop)
    assert world.status(seeded(), arn) == ("ABORTED", "", "enough")
