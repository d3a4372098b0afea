"""From text to a graph, or to all that is wrong with the text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.faults import Fault, InvalidGraph
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.reading import read_graph
from tests.workflows.graphs import graph, node, start


def told(text: str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidGraph) as caught:
        read_graph(text)
    return caught.value.faults


def places(text: str) -> list[tuple[str, str]]:
    return [(str(fault.code), fault.place) for fault in told(text)]


def written(value: JsonValue) -> str:
    return json.dumps(value)


def nodes(*entries: JsonValue, **more: JsonValue) -> str:
    return written({"nodes": list(entries), **more})


A: JsonValue = {"key": "a", "type": "data.set"}


def test_a_graph_is_read_as_it_is_written() -> None:
    built = graph([start(), node("a", "data.set", {"x": [1, 1.5, None, "ä", True]})], "start -> a")
    text = built.model_dump_json(by_alias=True)
    assert read_graph(text) == built
    assert read_graph("\ufeff" + text) == built
    assert read_graph('{"nodes": []}') == Graph()


def test_text_that_is_not_json_is_told_with_line_and_column() -> None:
    (fault,) = told('{"nodes":\n  [}')
    assert fault.place == "line 2, column 4"
    assert fault.message.startswith("The file is not JSON: expecting value at line 2, column 4")
    assert places("") == [("not_json", "line 1, column 1")]
    with pytest.raises(BadInput):
        read_graph("nodes:\n  - yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "a list"),
        ("{}", "an object without nodes"),
        ("null", "nothing (null)"),
        ("3", "a number"),
        ('"x"', "a text"),
        ("NaN", "a text"),
    ],
)
def test_json_that_is_no_graph_is_told_by_what_it_is(text: str, words: str) -> None:
    assert any(words in fault.message for fault in told(text))


def test_all_wrong_fields_are_told_at_once_with_their_nodes() -> None:
    text = nodes(
        {"key": "a", "type": "x", "timeout": "soon", "titel": "A"},
        {"type": "x", "retry": {"attempts": 0, "often": 1}},
        {"key": 7, "type": "x"},
        "no node",
        edges=[{"from": "a"}, {"from": "a", "too": "b", "to": "a"}, 5],
        extra=1,
    )
    assert places(text) == [
        ("field_missing", "edges[0].to"),
        ("field_unknown", "edges[1].too"),
        ("field_invalid", "edges[2]"),
        ("field_unknown", "extra"),
        ("field_missing", "nodes[1].key"),
        ("field_invalid", "nodes[1].retry.attempts"),
        ("field_unknown", "nodes[1].retry.often"),
        ("field_invalid", "nodes[2].key"),
        ("field_invalid", "nodes[3]"),
        ("field_invalid", "nodes[0].timeout"),
        ("field_unknown", "nodes[0].titel"),
    ]
    by_place = {fault.place: fault for fault in told(text)}
    assert by_place["nodes[0].titel"].remedy == "Did you mean title?"
    assert by_place["nodes[0].titel"].node == "a"
    assert by_place["edges[1].too"].remedy == "Did you mean to?"
    assert '(node a) is "soon"' in by_place["nodes[0].timeout"].message


@pytest.mark.parametrize("wrong", [{}, "x", 5, None])
def test_nodes_that_are_no_list_are_told(wrong: JsonValue) -> None:
    assert places(written({"nodes": wrong})) == [("field_invalid", "nodes")]


def test_an_unknown_schema_is_told() -> None:
    assert places(nodes(A, schema="stellwerk/graph@9")) == [("field_invalid", "schema")]


def test_what_can_be_read_is_examined_as_well() -> None:
    text = nodes(
        A,
        A,
        {"key": "Ä", "type": "x", "bad": 1},
        {"key": "in", "type": "x", "parent": "a"},
        {"key": "odd", "type": "x", "parent": 5},
        {"key": "lost", "type": "x", "parent": "nobody"},
        edges=[
            {"from": "a", "to": "nowhere"},
            {"from": "a", "to": "Ä"},
            {"from": "a", "to": "in"},
            {"from": "a"},
        ],
    )
    codes = sorted(str(fault.code) for fault in told(text))
    assert codes == [
        "edge_crosses_loop",
        "edge_node_unknown",
        "field_invalid",
        "field_missing",
        "field_unknown",
        "key_duplicate",
        "key_malformed",
        "parent_unknown",
    ]


def test_a_repeated_field_is_told_with_its_place() -> None:
    assert places('{"nodes": [], "nodes": []}') == [("field_repeated", "nodes")]
    inner = (
        '{"nodes": [{"key": "a", "type": "t", "parameters": {"x": {"y z": 1, "y z": 2, "w": 3}}}]}'
    )
    (fault,) = told(inner)
    assert fault.place == 'nodes[0].parameters.x["y z"]'
    assert fault.node == "a"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000])
def test_numbers_that_are_not_finite_are_told(number: str) -> None:
    text = with_field("timeout", "1", parameters=f'{{"x": [{number}]}}')
    assert places(text) == [("number_not_finite", "nodes[0].parameters.x[0]")]
    assert places(with_field("timeout", number)) == [("number_not_finite", "nodes[0].timeout")]


def test_large_numbers_are_kept_exactly() -> None:
    text = '{"nodes": [{"key": "a", "type": "t", "parameters": {"x": 12345678901234567890123}}]}'
    assert read_graph(text).nodes[0].parameters["x"] == 12345678901234567890123


def with_field(name: str, value: str, *, parameters: str = "{}") -> str:
    return (
        f'{{"nodes": [{{"key": "a", "type": "t", "{name}": {value}, "parameters": {parameters}}}]}}'
    )


def test_half_characters_are_told_and_can_be_shown() -> None:
    whole = r'{"\udc00": "ok", "e": "\ud83d\ude00"}'
    text = with_field("title", r'"x\ud83d"', parameters=whole)
    found = told(text)
    assert [fault.place for fault in found] == ["nodes[0].parameters", "nodes[0].title"]
    for fault in found:
        assert json.dumps(fault.as_json(), ensure_ascii=False).encode()
    assert told(r'{"nodes": [], "\ud800": ["\ud800"]}')
    assert told('{"nodes": [{"key": "\ud800", "type": "t"}]}')


@pytest.mark.parametrize("depth", [101, 5_000, 200_000])
def test_deep_nesting_is_told(depth: int) -> None:
    text = '{"nodes": [{"key": "a", "type": "t", "parameters": {"x": %s}}]}' % (
        "[" * depth + "]" * depth
    )
    assert [code for code, _ in places(text)] == ["nested_too_deeply"]
    objects = '{"a":' * depth + "1" + "}" * depth
    assert [code for code, _ in places(with_field("notes", objects))] == ["nested_too_deeply"]


def test_nesting_that_is_deep_enough_is_read() -> None:
    text = '{"nodes": [{"key": "a", "type": "t", "parameters": {"x": %s}}]}' % ("[" * 90 + "]" * 90)
    assert read_graph(text).nodes[0].key == "a"


def test_a_large_file_is_read_in_a_moment_and_a_larger_one_refused() -> None:
    large = nodes({"key": "a", "type": "t", "parameters": {"x": ["y" * 1000] * 5000}})
    begun = time.monotonic()
    assert len(read_graph(large).nodes) == 1
    assert time.monotonic() - begun < 5
    assert places(" " * 20_000_001) == [("document_too_large", "")]


def test_a_thousand_faults_are_all_told() -> None:
    entries: list[JsonValue] = [{"key": f"n{n}", "type": "t", "x": 1} for n in range(1000)]
    text = nodes(*entries)
    found = told(text)
    assert len(found) == 1000
    with pytest.raises(InvalidGraph, match="and 999 more"):
        read_graph(text)


@given(st.text())
def test_no_text_makes_it_crash(text: str) -> None:
    try:
        read_graph(text)
    except InvalidGraph as error:
        assert error.faults


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["nodes", "edges", "key", "type", "from", "to", "port", "parent", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_no_json_makes_it_crash(nodes_value: JsonValue, edges_value: JsonValue) -> None:
    for value in (
        nodes_value,
        {"nodes": nodes_value, "edges": edges_value},
        {"nodes": [nodes_value]},
    ):
        try:
            read_graph(json.dumps(value))
        except InvalidGraph as error:
            assert error.faults
