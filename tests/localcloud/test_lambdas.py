"""Lambda in this process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from localcloud.functions import ByName, FunctionNotFound, Given, Handler
from localcloud.lambdas import ASYNC_PAYLOAD, PAYLOAD, Lambdas, PayloadTooLarge, Result, arn
from localcloud.template import FILE, Template
from localcloud.workers import Workers


@pytest.fixture
def workers() -> Iterator[Workers]:
    pool = Workers()
    yield pool
    assert pool.stop(5) == 0


def called(workers: Workers, handler: Handler, event: Any = None, timeout: float = 900) -> Result:
    return Lambdas(Given({"f": handler}, timeout=timeout), workers).invoke("f", json.dumps(event))


def test_event_and_result_are_json(workers: Workers) -> None:
    result = called(workers, lambda event, context: {"got": (event["x"], None)}, {"x": "ü"})
    assert json.loads(result.payload) == {"got": ["ü", None]}
    assert not result.failed


def test_the_context_tells_what_the_deployment_configures(workers: Workers) -> None:
    seen: list[Any] = []
    called(workers, lambda event, context: seen.append(context), timeout=60)
    (context,) = seen
    assert context.function_name == "f"
    assert context.invoked_function_arn.endswith(":function:f")
    assert context.memory_limit_in_mb == 512
    assert context.log_group_name == "/aws/lambda/f"
    assert context.aws_request_id.replace("-", "") in context.log_stream_name
    assert 50_000 < context.get_remaining_time_in_millis() <= 60_000


def test_an_error_is_described_as_aws_does(workers: Workers) -> None:
    def fail(event: Any, context: Any) -> None:
        raise LookupError("nothing here")

    result = called(workers, fail)
    said = json.loads(result.payload)
    assert result.failed
    assert (said["errorType"], said["errorMessage"]) == ("LookupError", "nothing here")
    assert said["requestId"]
    assert "fail" in said["stackTrace"][-1]


def test_a_result_that_is_no_json_cannot_be_marshalled(workers: Workers) -> None:
    said = json.loads(called(workers, lambda event, context: object()).payload)
    assert said["errorType"] == "Runtime.MarshalError"


def test_a_function_that_ends_its_process_has_failed(workers: Workers) -> None:
    def leave(event: Any, context: Any) -> None:
        raise SystemExit(1)

    assert json.loads(called(workers, leave).payload)["errorType"] == "Runtime.ExitError"


def test_a_function_over_its_time_is_given_up(workers: Workers) -> None:
    release = threading.Event()
    result = called(workers, lambda event, context: release.wait(5), timeout=0.05)
    release.set()
    said = json.loads(result.payload)
    assert said["errorType"] == "Sandbox.Timedout"
    assert "0.05 seconds" in said["errorMessage"]


def test_requests_and_responses_have_six_megabytes(workers: Workers) -> None:
    lambdas = Lambdas(Given({"f": lambda event, context: "x" * PAYLOAD}), workers)
    with pytest.raises(PayloadTooLarge):
        lambdas.invoke("f", json.dumps("x" * PAYLOAD))
    said = json.loads(lambdas.invoke("f", "0").payload)
    assert said["errorType"] == "Function.ResponseSizeTooLarge"


def test_an_asynchronous_call_returns_at_once_and_tells_of_failure(workers: Workers) -> None:
    release, failures = threading.Event(), []
    told = threading.Event()

    def fail(event: Any, context: Any) -> None:
        release.wait(5)
        raise ValueError(event)

    def note(result: Result) -> None:
        failures.append(json.loads(result.payload)["errorMessage"])
        told.set()

    lambdas = Lambdas(Given({"f": fail}), workers)
    lambdas.send("f", '"no"', note)
    assert not failures
    release.set()
    assert told.wait(5)
    assert failures == ["no"]
    with pytest.raises(PayloadTooLarge):
        lambdas.send("f", "x" * (ASYNC_PAYLOAD + 1), note)


@pytest.mark.parametrize("name", ["f", "f:$LATEST", arn("f"), arn("f") + ":1"])
def test_a_function_is_named_by_name_or_arn(workers: Workers, name: str) -> None:
    lambdas = Lambdas(Given({"f": lambda event, context: 1}), workers)
    assert lambdas.invoke(name, "{}").payload == "1"


def test_an_unknown_function_is_not_found(workers: Workers) -> None:
    with pytest.raises(FunctionNotFound):
        Lambdas(Given({}), workers).invoke("f", "{}")


def test_functions_are_found_by_the_naming_rule() -> None:
    functions = ByName()
    assert (
        functions.find("stellwerk-flow-if").handler is functions.find("stellwerk-flow-if").handler
    )
    assert callable(functions.find("stellwerk-system-gate").handler)
    for wrong in ("other-flow-if", "stellwerk-flow-nothing", "stellwerk-x", "stellwerk-system-x"):
        with pytest.raises(FunctionNotFound):
            functions.find(wrong)


def test_the_template_declares_the_same_functions() -> None:
    template, named = Template(FILE), ByName()
    assert len(template.declared) > 20
    called_over_http = {"stellwerk-api"}
    for name in template.declared.keys() - called_over_http:
        declared, found = template.declared[name], template.find(name)
        assert found.handler is named.find(name).handler
        assert (found.timeout, found.memory) == (declared.timeout, declared.memory)
    with pytest.raises(FunctionNotFound):
        template.find("stellwerk-nothing")


def test_idle_threads_are_used_again_and_do_not_pile_up() -> None:
    pool = Workers()
    before = threading.active_count()
    for _ in range(50):
        done = threading.Event()
        pool.run(done.set)
        assert done.wait(5)
        time.sleep(0.001)
    assert threading.active_count() - before <= 3
    assert pool.stop(5) == 0
    assert pool.run(done.set) is False


def test_a_job_that_does_not_end_is_counted_at_the_stop() -> None:
    pool, release = Workers(), threading.Event()
    pool.run(release.wait)
    assert pool.stop(0.01) == 1
    release.set()
