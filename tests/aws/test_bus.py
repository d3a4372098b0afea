"""What EventBridge is asked to carry, and what becomes of what it does not take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from stellwerk.aws.bus import LARGEST, EventBridgeBus
from stellwerk.kernel.errors import BadInput, ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.tenancy.bus import BusEvent
from tests.contracts.records import SCOPE, START

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient


class FakeEventBridge:
    """Takes what comes, or refuses it."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.entries: list[dict[str, Any]] = []
        self._refuses = refuses

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        if self._refuses:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorMessage": "slow down"}]}
        self.entries += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}

    def bus(self) -> EventBridgeBus:
        return EventBridgeBus(lambda: cast("EventBridgeClient", self), "stellwerk")


def event(data: str = "") -> BusEvent:
    return BusEvent(
        id="shop/1",
        mandate=MandateId("m-foreign"),
        instance=InstanceId("i-foreign"),
        source="shop",
        type="order",
        time=START,
        data=data,
    )


def test_whose_an_event_is_says_the_scope_and_not_the_event() -> None:
    bridge = FakeEventBridge()
    bridge.bus().publish(SCOPE, event("x"))
    [entry] = bridge.entries
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == (
        "stellwerk",
        "stellwerk",
        "event",
    )
    detail = json.loads(entry["Detail"])
    assert (detail["mandate"], detail["instance"]) == (SCOPE.mandate, SCOPE.instance)
    assert (detail["source"], detail["data"]) == ("shop", "x")


def test_what_the_bus_does_not_take_may_be_told_later() -> None:
    with pytest.raises(ServiceUnavailable, match="slow down"):
        FakeEventBridge(refuses=True).bus().publish(SCOPE, event())


def test_what_is_too_large_is_refused_before() -> None:
    bridge = FakeEventBridge()
    with pytest.raises(BadInput, match=str(LARGEST)):
        bridge.bus().publish(SCOPE, event("x" * LARGEST))
    assert bridge.entries == []
