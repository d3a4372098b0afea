"""Secrets are hidden where inputs are kept, and in what people see of values."""

from __future__ import annotations

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.redaction import HIDDEN, PREVIEW_BYTES, preview, redact, secrets_in

SCHEMA: JsonObject = {
    "properties": {
        "open": {"type": "string"},
        "key": {"type": "string", "x-secret": True},
        "login": {"$ref": "#/$defs/Login"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Login"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"$ref": "#/$defs/Login"}},
        "named": {"additionalProperties": {"$ref": "#/$defs/Login"}},
        "headers": {"type": "object", "x-secret": True},
    },
    "$defs": {"Login": {"properties": {"password": {"x-secret": True}, "user": {}}}},
}
LOGIN: JsonObject = {"password": "s3cret", "user": "anna"}
SAFE: JsonObject = {"password": HIDDEN, "user": "anna"}


def test_what_the_schema_marks_is_hidden_at_any_depth() -> None:
    value: JsonObject = {
        "open": "x",
        "key": "abc",
        "login": LOGIN,
        "maybe": LOGIN,
        "many": [LOGIN],
        "named": {"a": LOGIN},
        "headers": {"x-key": ["topsecret"]},
    }
    assert redact(value, SCHEMA) == {
        "open": "x",
        "key": HIDDEN,
        "login": SAFE,
        "maybe": SAFE,
        "many": [SAFE],
        "named": {"a": SAFE},
        "headers": HIDDEN,
    }
    assert secrets_in(value, redact(value, SCHEMA)) == ("topsecret", "s3cret", "abc")


def test_nothing_is_hidden_that_is_not_there() -> None:
    value: JsonObject = {"key": None, "maybe": None, "other": [1, {"a": 2}]}
    assert redact(value, SCHEMA) == value
    assert secrets_in(value, redact(value, SCHEMA)) == ()


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema: JsonObject = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert redact({"a": 1}, schema) == {"a": 1}


def test_a_preview_is_short_and_holds_no_secret() -> None:
    assert preview('{"echo":"say \\"abc\\""}', ('"abc"',)) == f'{{"echo":"say {HIDDEN}"}}'
    long = preview('"' + "ä" * 5000 + '"')
    assert len(long.encode()) <= PREVIEW_BYTES
    assert long.endswith("…")
    assert preview("[1,2]") == "[1,2]"
