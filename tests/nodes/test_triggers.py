"""What runs start with."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.handlers.floor import Floor

SCHEMA: JsonObject = {
    "type": "object",
    "required": ["amount", "iban"],
    "properties": {"amount": {"type": "number"}},
}


def start(kind: str, given: JsonValue, /, **parameters: JsonValue) -> JsonValue:
    """Run one trigger and return its value."""
    floor = Floor()
    floor.publish({"start": {"type": kind, "parameters": parameters}})
    floor.start(given)
    assert floor.call("start")["port"] == "out"
    return floor.value("start")


@pytest.mark.parametrize("kind", ["trigger.manual", "trigger.called"])
def test_the_payload_is_the_value(kind: str) -> None:
    assert start(kind, {"a": [1, None]}) == {"a": [1, None]}
    assert start(kind, None) is None


@pytest.mark.parametrize("kind", ["trigger.manual", "trigger.called", "trigger.webhook"])
def test_a_payload_that_does_not_fit_is_refused_with_every_fault(kind: str) -> None:
    with pytest.raises(BadInput) as caught:
        start(kind, {"amount": "much"}, schema=SCHEMA)
    assert "'iban' is a required property" in caught.value.message
    assert "$.amount" in caught.value.message


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidParameters, match="no JSON Schema"):
        start("trigger.manual", {}, schema={"type": "everything"})


def test_schemas_fetch_nothing() -> None:
    with pytest.raises(Exception, match=r"nowhere\.invalid"):
        start("trigger.manual", {}, schema={"$ref": "http://nowhere.invalid/schema.json"})


def test_a_webhook_has_a_body_however_it_is_started() -> None:
    whole: JsonObject = {"body": {"text": "x"}, "headers": {"a": "b"}, "query": {}, "method": "PUT"}
    assert start("trigger.webhook", whole) == whole
    by_hand = start("trigger.webhook", {"text": "x"})
    assert by_hand == {"body": {"text": "x"}, "headers": {}, "query": {}, "method": "POST"}


def test_a_schedule_says_for_when_it_was_planned() -> None:
    planned: JsonObject = {"at": "2026-12-01T06:30:00.000Z", "payload": 7}
    assert start("trigger.schedule", planned, interval="PT15M") == planned
    slot: JsonObject = {"at": "2026-12-01T06:30:00.000Z"}
    assert start("trigger.schedule", slot, interval="every hour", payload=7) == planned
    assert start("trigger.schedule", {"x": 1}, at="2026-12-24T18:00:00") == {
        "at": "2026-11-02T09:00:00.000Z",
        "payload": {"x": 1},
    }


@pytest.mark.parametrize(
    "cron",
    ["30 7 * * MON-FRI", "0 0 1 1 *", "*/5 * * * *", "0 9 * * 1#2", "0 18 L * *", "0 0 7 * * *"],
)
def test_cron_expressions_are_understood(cron: str) -> None:
    start("trigger.schedule", None, cron=cron, zone="America/New_York")


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "exactly one"),
        ({"cron": "0 7 * * *", "interval": "PT1H"}, "exactly one"),
        ({"cron": "61 7 * * *"}, "no cron"),
        ({"cron": "0 7 31 2 *"}, "never due"),
        ({"cron": "5 0 7 * * *"}, "to the minute"),
        ({"cron": "0 0 */2 * MON"}, "both day fields"),
        ({"cron": "@daily"}, "five fields"),
        ({"interval": "PT59S"}, "shorter than a minute"),
        ({"interval": "hourly"}, "no duration"),
        ({"at": "2026-12-24T18:00:00Z"}, "offset"),
        ({"interval": "PT90S"}, "whole number of minutes"),
        ({"at": "soon"}, "no moment"),
        ({"at": "2026-03-29T02:30:00", "nonexistent": "skip"}, "never show"),
        ({"cron": "0 7 * * *", "zone": "Europe/Zürich"}, "no time zone"),
        ({"cron": "0 7 * * *", "zone": "../../etc/passwd"}, "no time zone"),
        ({"cron": "0 7 * * *", "zone": ""}, "no time zone"),
    ],
)
def test_schedules_that_cannot_be_are_refused(parameters: JsonObject, reason: str) -> None:
    with pytest.raises(InvalidParameters, match=reason):
        start("trigger.schedule", None, **parameters)
