"""What is put on a bus, and objects that are stored, reach their functions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from localcloud.clients import BotoClients
from localcloud.cloud import LocalCloud
from localcloud.functions import Given
from tests.localcloud.test_events import Listener


@pytest.fixture
def told() -> Listener:
    return Listener()


@pytest.fixture
def stored() -> Listener:
    return Listener()


@pytest.fixture
def cloud(told: Listener, stored: Listener) -> Iterator[LocalCloud]:
    handlers = {"stellwerk-triggers-event": told, "stellwerk-triggers-file": stored}
    with LocalCloud(functions=Given({**handlers})) as cloud:
        yield cloud


def entry(number: int, source: str = "stellwerk") -> Any:
    return {
        "EventBusName": "stellwerk",
        "Source": source,
        "DetailType": "event",
        "Detail": json.dumps({"id": number}),
    }


def test_events_reach_their_function_from_within_and_from_other_processes(
    cloud: LocalCloud, told: Listener
) -> None:
    for clients in (cloud.clients, BotoClients()):
        answer = clients.events.put_events(Entries=[entry(1), entry(2, "elsewhere")])
        assert answer["FailedEntryCount"] == 0
        assert len(answer["Entries"]) == 2
    told.wait(2)
    assert [event["detail"] for event in told.events] == [{"id": 1}, {"id": 1}]
    assert told.events[0]["detail-type"] == "event"


def test_a_stored_file_is_told_of_and_other_objects_are_not(
    cloud: LocalCloud, stored: Listener
) -> None:
    bucket = cloud.settings.bucket
    for key in ("m-demo/i-demo/runs/1", "system//files/1", "m-demo/i-demo/files/f-1"):
        cloud.clients.s3.put_object(Bucket=bucket, Key=key, Body=b"abc")
    event = stored.wait(1)
    assert (event["source"], event["detail-type"]) == ("aws.s3", "Object Created")
    told = event["detail"]["object"]
    assert (told["key"], told["size"]) == ("m-demo/i-demo/files/f-1", 3)
    cloud.clients.s3.put_object(Bucket=bucket, Key="m-demo/i-demo/files/f-1", Body=b"abc")
    again = stored.wait(2)["detail"]["object"]
    assert again["version-id"] != told["version-id"]
    assert len(stored.events) == 2
