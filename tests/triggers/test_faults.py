"""A schedule that cannot be is refused when it is saved and published, not when it should fire."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.blueprints import Blueprints
from stellwerk.triggers.arming import Arming
from stellwerk.triggers.faults import faults_of
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.service import WorkflowService
from tests.runs.stage import CATALOGUE
from tests.workflows.desk import ANNA, Desk, drawn


def scheduled(parameters: JsonObject) -> Graph:
    graph = drawn(1, title="Nightly")
    changes = {"type": "trigger.schedule", "parameters": parameters}
    start = graph.nodes[0].model_copy(update=changes)
    return graph.model_copy(update={"nodes": (start, *graph.nodes[1:])})


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = list(faults_of(scheduled({"cron": "61 2 * * *", "zone": "Europe/Zürich"})))
    assert [(fault.code, fault.node, fault.parameter) for fault in found] == [
        (Code.PARAMETER_INVALID, "start", "zone"),
        (Code.PARAMETER_INVALID, "start", "cron"),
    ]
    assert all(fault.message.startswith("Node start: ") and fault.remedy for fault in found)
    assert list(faults_of(scheduled({"cron": "30 2 * * *"}))) == []
    assert list(faults_of(drawn(1))) == []


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def service(desk: Desk) -> WorkflowService:
    blueprints = Blueprints(desk.stores.versions, desk.stores.keeper)
    arming = Arming(desk.stores.versions, blueprints, CATALOGUE, [])
    return WorkflowService(replace(desk.press, triggers=arming))


def test_it_is_not_published_and_its_draft_is_saved_with_the_fault(
    service: WorkflowService,
) -> None:
    graph = scheduled({"interval": "PT30S"})
    with pytest.raises(InvalidGraph, match="shorter than a minute"):
        service.publish(ANNA, graph)
    (fault,) = service.validate(ANNA, graph)
    assert (fault.parameter, fault.remedy) == ("interval", "Take at least PT1M.")


def test_what_the_schema_says_is_not_said_twice(service: WorkflowService, desk: Desk) -> None:
    known = Fault(
        Code.PARAMETER_INVALID, "must be text", node=NodeKey("start"), parameter="interval"
    )
    desk.compiler.faults.append(known)
    assert list(service.validate(ANNA, scheduled({"interval": 7}))) == [known]
