"""The sample events are what the system's Lambdas take."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    "machine.chunk_finished": ChunkEvent,
    "machine.gate_reads": NodeEvent,
    "machine.gate_waits": NodeEvent,
    "machine.node_failed": NodeEvent,
    "machine.scope_closed": PlaceEvent,
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
