"""Which triggers are armed follows the workflow: whatever changes it, by whatever way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.ids import NodeKey
from stellwerk.runs.blueprints import Blueprints
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.arming import Arming
from stellwerk.triggers.model import Armed
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.service import WorkflowService
from tests.runs.stage import CATALOGUE
from tests.workflows.desk import ANNA, Desk, drawn


@dataclass
class FakePart:
    """Remembers what it was told to arm."""

    armed: list[Armed] = field(default_factory=list)
    down: bool = False

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        if self.down:
            raise ServiceUnavailable("The scheduler does not answer.", remedy="Try again.")
        self.armed.append(armed)

    @property
    def keys(self) -> list[str]:
        return [node.key for node in self.armed[-1].nodes]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def part() -> FakePart:
    return FakePart()


@pytest.fixture
def service(desk: Desk, part: FakePart) -> WorkflowService:
    blueprints = Blueprints(desk.stores.versions, desk.stores.keeper)
    arming = Arming(desk.stores.versions, blueprints, CATALOGUE, [part])
    return WorkflowService(replace(desk.press, triggers=arming))


def test_publishing_arms_and_each_way_out_disarms(service: WorkflowService, part: FakePart) -> None:
    workflow, version = service.publish(ANNA, drawn(1))
    assert part.keys == ["start"]
    assert part.armed[-1].of("trigger.manual") == part.armed[-1].nodes
    assert part.armed[-1].of("trigger.schedule") == ()
    service.deactivate(ANNA, workflow.id)
    assert part.keys == []
    service.activate(ANNA, workflow.id)
    assert part.keys == ["start"]
    service.archive(ANNA, workflow.id, version.number)
    assert part.keys == []
    service.republish(ANNA, workflow.id, version.number)
    assert part.keys == ["start"]
    service.unpublish(ANNA, workflow.id, version.number)
    assert part.keys == []
    service.publish_version(ANNA, workflow.id, version.number)
    assert part.keys == ["start"]


def test_a_draft_arms_nothing(service: WorkflowService, part: FakePart) -> None:
    workflow, _ = service.create(ANNA, "Draft", graph=drawn(1))
    assert part.armed == []
    service.deactivate(ANNA, workflow.id)
    assert part.keys == []


def test_the_published_version_counts_and_no_disabled_node(
    service: WorkflowService, part: FakePart
) -> None:
    graph = drawn(1)
    start = graph.nodes[0]
    second = start.model_copy(update={"key": NodeKey("second"), "disabled": True})
    service.publish(ANNA, Graph(title="T", nodes=(start, second, graph.nodes[1])), slug="t")
    assert part.keys == ["start"]
    third = second.model_copy(update={"disabled": False})
    service.publish(ANNA, Graph(title="T", nodes=(start, third, graph.nodes[1])), slug="t")
    assert part.keys == ["start", "second"]


def test_what_could_not_be_armed_is_armed_by_the_same_change_again(
    service: WorkflowService, part: FakePart, desk: Desk
) -> None:
    part.down = True
    with pytest.raises(ServiceUnavailable):
        service.publish(ANNA, drawn(1), slug="t")
    part.down = False
    workflow, version = service.publish(ANNA, drawn(1), slug="t")
    assert (workflow.published, part.keys) == (version.number, ["start"])
    part.down = True
    with pytest.raises(ServiceUnavailable):
        service.deactivate(ANNA, workflow.id)
    part.down = False
    service.deactivate(ANNA, workflow.id)
    assert part.keys == []
    assert desk.acts()[-1][2] == "done"


def test_a_change_that_meets_a_faster_one_ends_with_its_state(desk: Desk) -> None:
    part = Overtaken()
    blueprints = Blueprints(desk.stores.versions, desk.stores.keeper)
    arming = Arming(desk.stores.versions, blueprints, CATALOGUE, [part])
    service = WorkflowService(replace(desk.press, triggers=arming))
    part.meanwhile = lambda: desk.service.deactivate(ANNA, desk.service.find(ANNA, "t").id)
    service.publish(ANNA, drawn(1), slug="t")
    assert [[node.key for node in armed.nodes] for armed in part.armed] == [["start"], []]


@dataclass
class Overtaken(FakePart):
    """Lets another process change the workflow while this one arms it."""

    meanwhile: Callable[[], object] | None = None

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        super().synchronise(scope, armed)
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
