"""Ends of executions reach their function."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from localcloud.cloud import LocalCloud
from localcloud.functions import Given, Handler
from tests.localcloud.machines import Bench, Definition, machine, passing, task

FINISHED = "stellwerk-system-run_finished"


class Listener:
    """Keeps the events that it gets; fails on the first `failures`."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.failures = 0
        self._came = threading.Condition()

    def __call__(self, event: Any, context: Any) -> None:
        with self._came:
            self.events.append(event)
            self._came.notify_all()
        if len(self.events) <= self.failures:
            raise ConnectionError("not yet")

    def wait(self, number: int) -> Any:
        with self._came:
            assert self._came.wait_for(lambda: len(self.events) >= number, timeout=5)
        return self.events[number - 1]


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def bench(listener: Listener) -> Iterator[Bench]:
    handlers: dict[str, Handler] = {FINISHED: listener, "fail": _fail}
    with LocalCloud(functions=Given(handlers)) as cloud:
        yield Bench(cloud, {})


def _fail(event: Any, context: Any) -> None:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("definition", "status"),
    [
        (machine({"a": passing({"x": 1})}), "SUCCEEDED"),
        (machine({"a": task("fail")}), "FAILED"),
        (
            machine({"a": {"Type": "Wait", "Seconds": 60, "End": True}}, TimeoutSeconds=1),
            "TIMED_OUT",
        ),
    ],
)
def test_every_end_is_told_with_its_details(
    bench: Bench, listener: Listener, definition: Definition, status: str
) -> None:
    execution = bench.start(definition, {"run": 7})
    event = listener.wait(1)
    detail = event["detail"]
    assert (event["source"], event["detail-type"]) == (
        "aws.states",
        "Step Functions Execution Status Change",
    )
    assert event["resources"] == [execution] == [detail["executionArn"]]
    assert detail["status"] == status
    assert json.loads(detail["input"]) == {"run": 7}
    assert detail["stopDate"] >= detail["startDate"]
    assert (detail["output"], detail["error"]) == {
        "SUCCEEDED": ('{"x":1}', None),
        "FAILED": (None, "ValueError"),
        "TIMED_OUT": (None, None),
    }[status]


def test_a_stop_is_told_after_the_execution_has_ended(bench: Bench, listener: Listener) -> None:
    execution = bench.start(machine({"a": {"Type": "Wait", "Seconds": 60, "End": True}}))
    bench.sfn.stop_execution(executionArn=execution, cause="enough")
    detail = listener.wait(1)["detail"]
    assert (detail["status"], detail["cause"]) == ("ABORTED", "enough")


def test_a_function_that_fails_gets_the_event_again(bench: Bench, listener: Listener) -> None:
    listener.failures = 2
    bench.start(machine({"a": passing(1)}))
    listener.wait(3)
    assert len({event["id"] for event in listener.events}) == 1
    time.sleep(0.05)
    assert len(listener.events) == 3


def test_a_slow_listener_keeps_no_execution_waiting() -> None:
    release = threading.Event()

    def slow(event: Any, context: Any) -> None:
        release.wait(5)

    with LocalCloud(functions=Given({FINISHED: slow})) as cloud:
        bench = Bench(cloud, {})
        for number in range(3):
            assert bench.run(machine({"a": passing(number)})).output == number
        release.set()
