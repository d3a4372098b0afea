"""What waits for an event is started once; what cannot be started stops nothing else."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from stellwerk.files.model import File, FileId
from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import NodeKey, UserId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.firing import Firing
from stellwerk.tenancy.bus import OURS, RUN_FINISHED, WORKFLOW_CHANGED, BusEvent
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.matching import Matching, StoredObject
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.subscriptions import (
    EVENT,
    FAILURE,
    FILE,
    Subscription,
    SubscriptionPart,
)
from stellwerk.triggers.telling import ChangePart
from tests.contracts.records import SCOPE, START, WORKFLOW, workflow
from tests.fakes.clock import FixedClock
from tests.fakes.files import FakeFiles
from tests.fakes.triggers import FakeBus, FakeSubscriptions

PLATFORM = of_platform(SCOPE.mandate).at(SCOPE.instance)


@dataclass
class FakeFiring:
    """Remembers what was fired; some workflows refuse."""

    fired: list[tuple[str, str, str]] = field(default_factory=list)
    errors: dict[str, Exception] = field(default_factory=dict)
    payloads: list[JsonValue] = field(default_factory=list)

    def fire(
        self,
        scope: Scope,
        workflow: WorkflowId,
        *,
        trigger: NodeKey,
        delivery: str,
        payload: JsonValue = None,
    ) -> None:
        assert (scope.mandate, scope.instance) == (SCOPE.mandate, SCOPE.instance)
        if workflow in self.errors:
            raise self.errors[workflow]
        self.fired.append((workflow, trigger, delivery))
        self.payloads.append(payload)


class Fixture:
    """Matching over fakes."""

    def __init__(self) -> None:
        self.subscriptions = FakeSubscriptions()
        self.firing = FakeFiring()
        self.files = FakeFiles()
        firing: Firing = self.firing  # type: ignore[assignment]
        self.matching = Matching(self.subscriptions, firing, self.files)

    def wait(self, name: str, type_: str, **parameters: JsonValue) -> None:
        one = Subscription(
            workflow=WorkflowId(name), node=NodeKey("begin"), type=type_, parameters=parameters
        )
        self.subscriptions.replace(SCOPE, WorkflowId(name), [one])

    @property
    def started(self) -> list[str]:
        return [workflow for workflow, _, _ in self.firing.fired]


@pytest.fixture
def here() -> Fixture:
    return Fixture()


def event(source: str = "shop", type_: str = "order", **more: JsonValue) -> BusEvent:
    given: JsonObject = {
        "id": f"{source}/1",
        "mandate": SCOPE.mandate,
        "instance": SCOPE.instance,
        "source": source,
        "type": type_,
        "time": START.isoformat(),
        **more,
    }
    return BusEvent.model_validate(given)


def finished(status: str, of: str = "w-failing") -> BusEvent:
    data: JsonObject = {"run": "r-1", "workflow": of, "slug": f"slug-{of}", "status": status}
    return event(OURS, RUN_FINISHED, data=data, workflow=of)


def test_who_waits_is_started_under_the_events_id(here: Fixture) -> None:
    here.wait("w-1", EVENT, pattern={"source": ["shop"]})
    here.wait("w-2", EVENT, pattern={"type": [{"prefix": "ord"}]})
    here.wait("w-3", EVENT, pattern={"source": ["shop"], "type": ["other"]})
    assert here.matching.event(event(data={"n": 1})) == 2
    assert here.firing.fired == [
        ("w-1", "begin", "begin/event/shop/1"),
        ("w-2", "begin", "begin/event/shop/1"),
    ]
    told = here.firing.payloads[0]
    assert isinstance(told, dict)
    assert told == {
        "id": "shop/1",
        "source": "shop",
        "type": "order",
        "time": "2026-11-02T09:00:00.000Z",
        "data": {"n": 1},
    }


def test_what_may_not_start_stops_nothing_else_and_what_cannot_now_comes_again(
    here: Fixture,
) -> None:
    for name in ("w-1", "w-2", "w-3"):
        here.wait(name, EVENT, pattern={"source": ["shop"]})
    here.firing.errors["w-1"] = Conflict("not active")
    assert here.matching.event(event()) == 2
    here.firing.errors["w-2"] = ServiceUnavailable("busy")
    with pytest.raises(ServiceUnavailable):
        here.matching.event(event())
    assert here.started == ["w-2", "w-3", "w-3"]


def test_failures_start_who_watches_and_never_the_one_that_failed(here: Fixture) -> None:
    here.wait("w-all", FAILURE)
    here.wait("w-id", FAILURE, workflows=["w-failing"])
    here.wait("w-slug", FAILURE, workflows=["slug-w-failing"])
    here.wait("w-other", FAILURE, workflows=["w-else"])
    here.wait("w-failing", FAILURE)
    here.matching.event(finished("failed"))
    assert here.started == ["w-all", "w-id", "w-slug"]
    for status in ("completed", "cancelled"):
        here.matching.event(finished(status))
    here.matching.event(event("shop", RUN_FINISHED, data={"status": "failed"}))
    assert len(here.started) == 3


def test_what_happens_to_a_workflow_does_not_start_itself(here: Fixture) -> None:
    for name in ("w-1", "w-2"):
        here.wait(name, EVENT, pattern={"source": [OURS]})
    here.matching.event(finished("completed", of="w-1"))
    assert here.started == ["w-2"]


def stored(rest: str) -> StoredObject:
    return StoredObject("bucket", f"m/i/files/{rest}", "v-1", rest, 7)


def test_a_file_is_matched_by_its_name(here: Fixture) -> None:
    here.wait("w-1", FILE, prefix="invoice", pattern="*.pdf")
    here.wait("w-2", FILE, pattern="*.txt")
    here.wait("w-3", FILE)
    id_ = FileId("01kb2c3d4e5f6g7h8j9k0m1n2p")
    with pytest.raises(ServiceUnavailable):
        here.matching.file(PLATFORM, stored(id_))
    file = File(
        id=id_,
        name="invoice-7.pdf",
        type="application/pdf",
        size=7,
        sha256="",
        created_by=UserId("u"),
        created=START,
    )
    here.files.add(SCOPE, file, b"content")
    assert here.matching.file(PLATFORM, stored(id_)) == 2
    assert here.firing.fired[0] == ("w-1", "begin", f"begin/file/bucket/m/i/files/{id_}/v-1")
    assert here.firing.payloads[0] == {
        "file": id_,
        "name": "invoice-7.pdf",
        "type": "application/pdf",
        "key": f"m/i/files/{id_}",
        "version": "v-1",
        "size": 7,
    }


def test_an_object_that_somebody_else_has_put_there_is_known_by_its_key(here: Fixture) -> None:
    assert here.matching.file(PLATFORM, stored("drop/a.txt")) == 0
    here.wait("w-1", FILE, prefix="drop/")
    assert here.matching.file(PLATFORM, stored("drop/a.txt")) == 1


def test_what_is_armed_is_subscribed_but_for_patterns_that_cannot_be_read() -> None:
    subscriptions = FakeSubscriptions()
    part = SubscriptionPart(subscriptions)
    nodes = (
        TriggerNode(NodeKey("a"), EVENT, {"pattern": {"source": ["shop"]}}),
        TriggerNode(NodeKey("b"), EVENT, {"pattern": {"source": [{"like": "x"}]}}),
        TriggerNode(NodeKey("c"), FILE, {}),
        TriggerNode(NodeKey("d"), "trigger.manual", {}),
    )
    part.synchronise(SCOPE, Armed(workflow(), nodes))
    assert [one.node for one in subscriptions.of(SCOPE, "event shop")] == ["a"]
    assert subscriptions.of(SCOPE, "event") == []
    assert [one.node for one in subscriptions.of(SCOPE, "file")] == ["c"]
    part.synchronise(SCOPE, Armed(workflow(), nodes))
    assert subscriptions.writes == 1
    part.synchronise(SCOPE, Armed(workflow()))
    assert subscriptions.of(SCOPE, "file") == []


def test_a_change_of_a_workflow_is_told_once_for_each_state() -> None:
    bus = FakeBus()
    part = ChangePart(bus, FixedClock())
    for _ in range(2):
        part.synchronise(SCOPE, Armed(workflow()))
    assert bus.told[0].id == bus.told[1].id
    assert (bus.told[0].type, bus.told[0].workflow) == (WORKFLOW_CHANGED, WORKFLOW)


def test_many_at_once_find_the_same(here: Fixture) -> None:
    here.wait("w-1", EVENT, pattern={"source": ["shop"]})
    threads = [threading.Thread(target=here.matching.event, args=[event()]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(here.firing.fired) == {("w-1", "begin", "begin/event/shop/1")}
