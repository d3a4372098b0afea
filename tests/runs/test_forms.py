"""Forms: all faults at once, and nothing fetched from anywhere."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.forms import FormRefused, check_form


def test_faults_name_place_and_rule_in_order() -> None:
    form: JsonObject = {
        "type": "object",
        "properties": {"iban": {"type": "string"}, "sums": {"items": {"minimum": 1}}},
        "additionalProperties": False,
    }
    with pytest.raises(FormRefused) as refused:
        check_form(form, {"iban": 5, "sums": [3, 0], "more": 1})
    assert refused.value.faults == (
        ("more", "'more' is not asked for"),
        ("iban", "5 is not of type 'string'"),
        ("sums[1]", "0 is less than the minimum of 1"),
    )
    assert "iban: 5 is not of type 'string'; sums[1]: 0 is less" in refused.value.message


def test_what_is_missing_is_told_under_its_own_name_each_once() -> None:
    line: JsonObject = {"type": "object", "required": ["iban", "sum"]}
    form: JsonObject = {
        "type": "object",
        "properties": {"lines": {"type": "array", "items": line}},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        "required": ["name"],
    }
    with pytest.raises(FormRefused) as refused:
        check_form(form, {"lines": [{}, {"iban": "", "sum": 1}], "x-1": 1, "y": 1})
    assert [fault.field for fault in refused.value.faults] == [
        *("y", "name"),
        *("lines[0].iban", "lines[0].sum"),
    ]


def test_what_is_no_object_at_all_is_told_of_the_whole() -> None:
    with pytest.raises(FormRefused, match="The form refuses the data: 3 is not of type 'object'"):
        check_form({"type": "object"}, 3)


def test_a_thousand_faults_are_told_in_part() -> None:
    with pytest.raises(FormRefused) as refused:
        check_form({"items": {"type": "string"}}, [1] * 1000)
    assert len(refused.value.faults) == 100


@pytest.mark.parametrize("reference", ["https://example.org/form.json", "#/nowhere"])
def test_a_form_that_refers_elsewhere_is_refused(reference: str) -> None:
    with pytest.raises(BadInput, match="refers to something that it does not contain"):
        check_form({"$ref": reference}, {})


def test_a_format_is_a_rule() -> None:
    form: JsonObject = {"properties": {"mail": {"format": "email"}, "day": {"format": "date"}}}
    check_form(form, {"mail": "a@b.example", "day": "2026-12-01"})
    with pytest.raises(FormRefused) as refused:
        check_form(form, {"mail": "nobody", "day": "1.12.2026"})
    assert refused.value.faults == (
        ("day", "'1.12.2026' is not a 'date'"),
        ("mail", "'nobody' is not a 'email'"),
    )
