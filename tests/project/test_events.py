"""The sample events are what the system's Lambdas take."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.handlers.occurring import StoringEvent, TellingEvent
from stellwerk.handlers.system import (
    ChunkEvent,
    Event,
    ExecutionEvent,
    NodeEvent,
    PlaceEvent,
    SweepEvent,
)

EVENTS = Path(__file__).parent.parent.parent / "events"
OTHERS = {"api", "cognito"}
"""Sources whose events are tested where they are taken."""
MODELS: dict[str, type[Event]] = {
    "bus.event": TellingEvent,
    "machine.chunk_finished": ChunkEvent,
    "machine.gate_reads": NodeEvent,
    "machine.gate_waits": NodeEvent,
    "machine.node_failed": NodeEvent,
    "machine.scope_closed": PlaceEvent,
    "s3.object_created": StoringEvent,
    "schedule.sweep": SweepEvent,
    "states.execution_aborted": ExecutionEvent,
    "states.execution_failed": ExecutionEvent,
    "states.execution_succeeded": ExecutionEvent,
}


@pytest.mark.parametrize(
    "path",
    sorted(path for path in EVENTS.glob("*.json") if path.stem.split(".")[0] not in OTHERS),
    ids=lambda path: path.stem,
)
def test_a_sample_event_is_one_that_its_lambda_takes(path: Path) -> None:
    MODELS[path.stem].model_validate_json(path.read_bytes())


def test_an_ended_execution_names_its_run() -> None:
    text = (EVENTS / "states.execution_failed.json").read_bytes()
    event = ExecutionEvent.model_validate_json(text)
    assert event.over
    assert event.name is not None
    assert event.data is not None
    assert event.name.run == event.data.run.id


def test_a_stored_object_says_whose_it_is_and_others_are_nobodys() -> None:
    event = StoringEvent.model_validate_json((EVENTS / "s3.object_created.json").read_bytes())
    placed = event.place("request-1")
    assert placed is not None
    scope, stored = placed
    assert (scope.mandate, scope.instance) == ("m-demo", "i-demo")
    assert (stored.rest, stored.version) == (
        "01kb2c3d4e5f6g7h8j9k0m1n2p",
        event.detail.object.version,
    )
    for key in (
        "m-demo/i-demo/runs/1",
        "system//files/1",
        "m-demo/files/1",
        "m-demo/i-demo/files/",
    ):
        other = {"bucket": {"name": "b"}, "object": {"key": key}}
        assert StoringEvent.model_validate({"detail": other}).place("") is None
