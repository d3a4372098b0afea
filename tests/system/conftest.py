"""A stage with one run for every test."""

from __future__ import annotations

import pytest

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import Run
from tests.runs.stage import Stage, graph


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def run(stage: Stage) -> Run:
    nodes: dict[str, str | JsonObject] = {
        "start": "trigger",
        "send": {"type": "mail.send", "on_error": "branch"},
        "each": "flow.for_each",
        "in": {"type": "data.set", "parent": "each"},
        "join": "data.set",
    }
    stage.publish(graph(nodes, ["start send", "send.error join"]), watch={"send": ["join"]})
    return stage.start()
