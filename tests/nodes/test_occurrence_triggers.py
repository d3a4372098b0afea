"""Triggers of events, files, failures and forms: what their runs start with, also by hand."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.nodes.test_triggers import start

PATTERN: JsonObject = {"source": ["shop"]}
NUMBER: JsonObject = {"type": "object", "required": ["amount"]}


def test_an_event_is_its_value_and_by_hand_its_data() -> None:
    event: JsonObject = {
        "id": "shop/1",
        "source": "shop",
        "type": "order",
        "time": "2026-11-02T09:00:00.000Z",
        "data": {"amount": 1},
    }
    assert start("trigger.event", event, pattern=PATTERN) == event
    by_hand = start("trigger.event", {"amount": 1}, pattern=PATTERN)
    assert isinstance(by_hand, dict)
    assert (by_hand["data"], by_hand["source"]) == ({"amount": 1}, "")
    with pytest.raises(BadInput, match="amount"):
        start("trigger.event", {"x": 1}, pattern=PATTERN, schema=NUMBER)


def test_a_pattern_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidParameters, match="one rule of"):
        start("trigger.event", None, pattern={"source": [{"like": "x"}]})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("trigger.file", {"name": "invoice.pdf"}),
        ("trigger.failure", {"run": "r-1", "error": {"type": "Boom"}}),
    ],
)
def test_what_is_named_by_hand_is_enough(kind: str, payload: JsonValue) -> None:
    value = start(kind, payload)
    assert isinstance(value, dict)
    assert isinstance(payload, dict)
    assert value.keys() > payload.keys()


@pytest.mark.parametrize("kind", ["trigger.file", "trigger.failure"])
@pytest.mark.parametrize("payload", [None, {}, "invoice.pdf"])
def test_nothing_that_is_named_is_not_enough(kind: str, payload: JsonValue) -> None:
    with pytest.raises(BadInput, match="starts with"):
        start(kind, payload)


def test_a_form_has_data_however_it_is_started() -> None:
    entered: JsonObject = {"data": {"amount": 1}, "by": "u-anna", "language": "de"}
    form: JsonObject = {"title": "Order", "schema": NUMBER}
    assert start("trigger.form", entered, **form) == entered
    assert start("trigger.form", {"amount": 2}, **form) == {
        "data": {"amount": 2},
        "by": None,
        "language": "en",
    }
    with pytest.raises(BadInput, match="amount"):
        start("trigger.form", {"x": 1}, **form)
