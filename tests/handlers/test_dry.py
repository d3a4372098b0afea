"""Dry runs: what would write answers with its sample, and nothing reaches the world outside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from stellwerk.catalogue.model import Effect, Kind
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.effects import writes
from stellwerk.runs.model import StepStatus
from tests.handlers.floor import CATALOGUE, Floor
from tests.toolboxes.server import Server, running

WRITING = [
    found.type
    for found in CATALOGUE.types()
    if found.effect is not Effect.READ and found.kind is Kind.STEP
]
WORKFLOW = WorkflowId("w-demo")
SAMPLE = {"id": 4711}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


@pytest.fixture
def floor(server: Server) -> Floor:
    server.sent.clear()
    return Floor(http_allow=(server.place,))


def act(floor: Floor, kind: str, mode: str = "dry", **parameters: JsonValue) -> None:
    """Run a node of type `kind` in a run of that mode."""
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "node": {"type": kind, "parameters": parameters},
        },
        ["start node"],
    )
    floor.start()
    floor.run = floor.run.model_copy(update={"mode": mode})
    floor.call("node")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_request_that_writes_is_answered_with_the_sample(
    floor: Floor, server: Server, method: str
) -> None:
    act(floor, "http.request", url=server.url("/json"), method=method, body={"amount": 1})
    step = floor.step("node")
    assert (step.status, step.port, step.dry) == (StepStatus.SUCCEEDED, "out", True)
    value = floor.value("node")
    assert isinstance(value, dict)
    assert value["body"] == SAMPLE
    given = floor.input("node")
    assert isinstance(given, dict)
    assert given["method"] == method
    assert server.sent == []
    assert len(step.attempts) == 1
    assert not writes(floor.world, floor.scope, step)


@pytest.mark.parametrize("method", ["", "GET", "HEAD"])
def test_a_request_that_reads_is_sent(floor: Floor, server: Server, method: str) -> None:
    named: dict[str, JsonValue] = {"method": method} if method else {}
    act(floor, "http.request", "dry", url=server.url("/json"), **named)
    assert [sent.method for sent in server.sent] == [method or "GET"]
    assert not floor.step("node").dry


def test_a_test_run_writes(floor: Floor, server: Server) -> None:
    act(floor, "http.request", "test", url=server.url("/json"), method="POST")
    assert [sent.method for sent in server.sent] == ["POST"]
    assert not floor.step("node").dry


def test_wrong_parameters_are_as_wrong_as_ever(floor: Floor, server: Server) -> None:
    with pytest.raises(InvalidParameters, match="parameter metod"):
        act(floor, "http.request", url=server.url("/json"), metod="POST")
    assert server.sent == []


@pytest.mark.parametrize("operation", ["set", "delete", "increment"])
def test_stored_values_stay_as_they_are(floor: Floor, operation: str) -> None:
    floor.key_values.put(floor.scope, WORKFLOW, "n", 7)
    act(floor, "data.store", operation=operation, key="n", value=1)
    assert (floor.value("node"), floor.step("node").dry) == (4712, True)
    assert floor.key_values.get(floor.scope, WORKFLOW, "n") == 7


def test_stored_values_are_read(floor: Floor) -> None:
    act(floor, "data.store", key="n", value=1)
    assert (floor.value("node"), floor.step("node").dry) == (1, False)


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_has_a_sample_that_is_as_it_declares(name: str) -> None:
    found = CATALOGUE.find(name)
    assert found is not None
    assert found.sample is not None
    Draft202012Validator(found.result).validate(found.sample)
