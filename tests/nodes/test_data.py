"""Computing on values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.kernel.errors import BadInput, Conflict, ExpressionFailed, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.handlers.floor import Floor, single


def value(kind: str, given: JsonValue = None, **parameters: JsonValue) -> JsonValue:
    """Run one node and return its value."""
    floor = Floor()
    single(floor, kind, given, **parameters)
    return floor.value("node")


def test_set_keeps_the_type_of_whole_expressions_and_writes_others_as_text() -> None:
    fields: JsonObject = {"n": "{{ $input.n }}", "t": "n is {{ $input.n }}", "list": ["{{ 1 }}"]}
    assert value("data.set", {"n": 5}, fields=fields) == {"n": 5, "t": "n is 5", "list": [1]}


def test_set_adds_to_an_object_and_to_nothing_else() -> None:
    assert value("data.set", {"a": 1, "b": 2}, fields={"b": 3}, keep_input=True) == {"a": 1, "b": 3}
    with pytest.raises(InvalidParameters, match="needs an object"):
        value("data.set", [1], keep_input=True)


def test_transform_makes_any_value() -> None:
    lines: JsonValue = [{"q": 2, "p": 3}, {"q": 1, "p": 4}]
    assert value("data.transform", lines, expression="$input.(q * p)") == [6, 4]
    assert value("data.transform", None, expression="{{ {'a': null} }}") == {"a": None}
    with pytest.raises(ExpressionFailed, match="expression"):
        value("data.transform", None, expression="$input.(")


def test_filter_keeps_what_holds() -> None:
    items: JsonValue = [{"q": 1}, {"q": 0}, {"q": 2}]
    kept = value("data.filter", items, items="{{ $input }}", condition="$item.q > 0")
    assert kept == [{"q": 1}, {"q": 2}]
    first = value("data.filter", items, items="{{ $input }}", condition="$index = 0")
    assert first == [{"q": 1}]
    with pytest.raises(InvalidParameters, match="for item 0"):
        value("data.filter", items, items="{{ $input }}", condition="$item.q")


def by(expression: str = "$item", *, descending: bool = False) -> JsonObject:
    return {"expression": expression, "descending": descending}


def test_sort_decides_by_the_first_that_differs() -> None:
    items: JsonValue = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1, "b": "z"}]
    order = value(
        "data.sort", items, items="{{ $input }}", by=[by("$item.a"), by("$item.b", descending=True)]
    )
    assert order == [{"a": 1, "b": "z"}, {"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


@pytest.mark.parametrize("mixed", [[1, "a"], [True, 1], [[1], [2]], [{"a": 1}]])
def test_sort_does_not_compare_what_cannot_be_compared(mixed: JsonValue) -> None:
    with pytest.raises(InvalidParameters, match="cannot compare"):
        value("data.sort", mixed, items="{{ $input }}", by=[by()])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers()), max_size=30), st.booleans())
def test_sort_is_stable(pairs: list[tuple[int, int]], descending: bool) -> None:
    items: list[JsonValue] = [{"k": k, "n": n} for k, n in pairs]
    order = value(
        "data.sort", items, items="{{ $input }}", by=[by("$item.k", descending=descending)]
    )
    expected = sorted(pairs, key=lambda pair: -pair[0] if descending else pair[0])
    assert order == [{"k": k, "n": n} for k, n in expected]


def test_null_is_sorted_last() -> None:
    assert value("data.sort", [None, "b", "a"], items="{{ $input }}", by=[by()]) == ["a", "b", None]


SALES: JsonValue = [
    {"who": "a", "n": 3},
    {"who": "b", "n": 0.1},
    {"who": "a", "n": None},
    {"who": "b", "n": 0.2},
]


def test_aggregate_counts_in_what_is_not_null() -> None:
    ops = ("sum", "avg", "min", "max", "count", "first", "last", "list")
    values: JsonObject = {op: {op: "$item.n"} for op in ops}
    assert value("data.aggregate", SALES, items="{{ $input }}", values=values) == {
        "sum": 3.3,
        "avg": pytest.approx(1.1),
        "min": 0.1,
        "max": 3,
        "count": 3,
        "first": 3,
        "last": 0.2,
        "list": [3, 0.1, 0.2],
    }


def test_aggregate_groups_in_order_of_appearance() -> None:
    figures = value(
        "data.aggregate",
        SALES,
        items="{{ $input }}",
        group_by="$item.who",
        values={"sum": {"total": "$item.n"}, "count": {"all": "$item"}},
    )
    assert figures == [
        {"group": "a", "total": 3, "all": 2},
        {"group": "b", "total": pytest.approx(0.3), "all": 2},
    ]


def test_aggregate_of_nothing() -> None:
    values: JsonObject = {op: {op: "$item"} for op in ("sum", "avg", "min", "first", "count")}
    assert value("data.aggregate", [], items="{{ $input }}", values=values) == {
        "sum": 0,
        "avg": None,
        "min": None,
        "first": None,
        "count": 0,
    }


def test_aggregate_sums_numbers_only() -> None:
    with pytest.raises(InvalidParameters, match=r"values\.sum\.total: not every"):
        value("data.aggregate", ["1"], items="{{ $input }}", values={"sum": {"total": "$item"}})


@given(st.lists(st.integers(), max_size=20))
def test_sums_of_integers_are_exact(numbers: list[int]) -> None:
    figures = value(
        "data.aggregate",
        [*numbers],
        items="{{ $input }}",
        values={"sum": {"s": "$item"}, "count": {"c": "$item"}},
    )
    if all(abs(number) < 2**53 for number in numbers):
        assert figures == {"s": sum(numbers), "c": len(numbers)}


def test_template_writes_values_into_text() -> None:
    assert value("data.template", {"n": None, "x": 1.0}, text="a{{ $input.n }}b{{ $input.x }}") == (
        "ab1"
    )


def test_template_paragraphs_are_escaped() -> None:
    text = value("data.template", "<b>", text="{{ $input }}\nx\n\ny", format="html_paragraphs")
    assert text == "<p>&lt;b&gt;<br>\nx</p>\n<p>y</p>"


def test_text_that_looks_like_an_expression_is_not_evaluated_twice() -> None:
    for odd in ("{{ 1 + 1 }}", "{% $states.input %}", "}}", "$nodes.x"):
        assert value("data.set", odd, fields={"x": "{{ $input }}"}) == {"x": odd}


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists))
def test_parsing_json_gives_what_was_written(written: JsonValue) -> None:
    assert value("data.parse", json.dumps(written), text="{{ $input }}", format="json") == written


@pytest.mark.parametrize("text", ["{", "", "NaN", "[" * 5000, '{"a": Infinity}'])
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    with pytest.raises(BadInput, match="no JSON"):
        value("data.parse", text, text="{{ $input }}", format="json")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_is_read_whatever_separates_it(delimiter: str) -> None:
    text = f'\ufeffname{delimiter}note\r\nAnna{delimiter}"a, b; ""c"""\r\n\r\n'
    rows = value("data.parse", text, text="{{ $input }}", format="csv")
    assert rows == [{"name": "Anna", "note": 'a, b; "c"'}]


def test_csv_without_a_header_gives_lists() -> None:
    rows = value("data.parse", "1;2\n3;4", text="{{ $input }}", format="csv", header=False)
    assert rows == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a,b\n1", "Line 2"), ("a,a\n1,2", "twice"), ("a,\n1,2", "without a name")],
)
def test_csv_that_is_broken_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        value("data.parse", text, text="{{ $input }}", format="csv", delimiter=",")


def test_xml_becomes_an_object() -> None:
    text = '<order id="7"><line>a</line><line>b</line></order>'
    parsed = value("data.parse", text, text="{{ $input }}", format="xml")
    assert parsed == {"order": {"@id": "7", "line": ["a", "b"]}}


@pytest.mark.parametrize(
    "text",
    [
        "<a>",
        "no xml",
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    ],
)
def test_xml_that_is_broken_or_has_entities_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no XML"):
        value("data.parse", text, text="{{ $input }}", format="xml")


SCHEMA: JsonObject = {"type": "object", "required": ["a", "b"]}


def test_validate_says_by_its_port_whether_a_value_fits() -> None:
    floor = Floor()
    reply = single(floor, "data.validate", {"a": 1, "b": 2}, value="{{ $input }}", schema=SCHEMA)
    assert reply["port"] == "valid"
    assert floor.value("node") == {"a": 1, "b": 2}


def test_validate_lists_every_fault() -> None:
    floor = Floor()
    reply = single(floor, "data.validate", {}, value="{{ $input }}", schema=SCHEMA)
    assert reply["port"] == "invalid"
    found = floor.value("node")
    assert isinstance(found, dict)
    assert found["value"] == {}
    assert found["errors"] == [
        {"path": "$", "rule": "required", "message": "'a' is a required property"},
        {"path": "$", "rule": "required", "message": "'b' is a required property"},
    ]


def test_validate_takes_a_format_for_a_rule() -> None:
    schema: JsonObject = {"properties": {"mail": {"format": "email"}}}
    for mail, port in (("a@b.example", "valid"), ("nobody", "invalid")):
        reply = single(
            Floor(), "data.validate", {"mail": mail}, value="{{ $input }}", schema=schema
        )
        assert reply["port"] == port


def test_validate_refuses_a_schema_that_is_none() -> None:
    with pytest.raises(InvalidParameters, match="no JSON Schema"):
        value("data.validate", 1, value=1, schema={"type": 7})


def operate(floor: Floor, *operations: JsonObject) -> list[JsonValue]:
    """Run store nodes one after the other, and return their values."""
    nodes: dict[str, JsonObject] = {"start": {"type": "trigger.manual"}}
    for number, parameters in enumerate(operations):
        nodes[f"n{number}"] = {"type": "data.store", "parameters": parameters}
    floor.publish(nodes)
    floor.start()
    for key in nodes:
        floor.call(key)
    return [floor.value(f"n{number}") for number in range(len(operations))]


def test_a_store_outlives_the_run_and_belongs_to_its_workflow() -> None:
    floor = Floor()
    found = operate(
        floor,
        {"key": "n", "value": "nothing"},
        {"operation": "set", "key": "n", "value": 5},
        {"operation": "increment", "key": "n", "by": 2.5},
        {"key": "n"},
        {"operation": "delete", "key": "n"},
        {"key": "n"},
    )
    assert found == ["nothing", 5, 7.5, 7.5, None, None]


def test_what_is_no_number_is_not_counted_up() -> None:
    with pytest.raises(Conflict, match="number"):
        operate(
            Floor(),
            {"operation": "set", "key": "n", "value": "x"},
            {"operation": "increment", "key": "n"},
        )
