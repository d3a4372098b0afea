"""Decisions, merges and ends."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.kernel.errors import InvalidParameters, StoppedWithError
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import StepStatus
from tests.handlers.floor import Floor, single


def fired(kind: str, given: JsonValue, **parameters: JsonValue) -> tuple[JsonValue, JsonValue]:
    floor = Floor()
    reply = single(floor, kind, given, **parameters)
    return reply["port"], floor.value("node")


def test_an_if_hands_its_input_on() -> None:
    assert fired("flow.if", {"n": 5}, condition="{{ $input.n > 3 }}") == ("true", {"n": 5})
    assert fired("flow.if", {"n": 1}, condition="{{ $input.n > 3 }}") == ("false", {"n": 1})


@pytest.mark.parametrize("condition", ["{{ 1 }}", "{{ 'true' }}", "true", None])
def test_an_if_takes_only_true_or_false(condition: JsonValue) -> None:
    with pytest.raises(InvalidParameters, match="condition"):
        fired("flow.if", None, condition=condition)


CASES: JsonValue = [
    {"port": "large", "condition": "{{ $input > 100 }}"},
    {"port": "medium", "condition": "{{ $input > 10 }}"},
]


@pytest.mark.parametrize(("value", "port"), [(500, "large"), (50, "medium"), (5, "default")])
def test_a_switch_takes_the_first_case_that_holds(value: int, port: str) -> None:
    assert fired("flow.switch", value, cases=CASES) == (port, value)


def merge(
    values: dict[str, JsonValue], arrival: tuple[str, ...], parameters: JsonObject
) -> JsonValue:
    """Merge the values of predecessors that ended in the order of `arrival`."""
    floor = Floor()
    nodes: dict[str, JsonObject] = {"start": {"type": "trigger.manual"}}
    nodes |= {key: {"type": "data.set"} for key in values}
    nodes["node"] = {"type": "flow.merge", "parameters": parameters}
    edges = [edge for key in values for edge in (f"start {key}", f"{key} node")]
    floor.publish(nodes, edges)
    floor.start()
    for key in arrival:
        floor.write(key, value=values[key])
        floor.clock.advance(seconds=1)
    floor.call("node")
    return floor.value("node")


A: list[JsonValue] = [{"k": 1, "x": "a"}, {"k": 2, "x": "a"}]
B: list[JsonValue] = [{"k": 2, "x": "b", "y": "b"}]
C: JsonObject = {"k": 3}
VALUES: dict[str, JsonValue] = {"a": A, "b": B, "c": C}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, VALUES),
        ({"mode": "append"}, [*A, *B, C]),
        ({"mode": "append", "order": ["c", "none", "a"]}, [C, *A, *B]),
        ({"mode": "first"}, A),
        ({"mode": "first", "order": ["b"]}, B),
        (
            {"mode": "by_key", "key": "k"},
            [{"k": 1, "x": "a"}, {"k": 2, "x": "a", "y": "b"}, {"k": 3}],
        ),
        (
            {"mode": "by_key", "key": "k", "order": ["b"]},
            [{"k": 2, "x": "b", "y": "b"}, {"k": 1, "x": "a"}, {"k": 3}],
        ),
    ],
)
def test_a_merge_does_not_depend_on_who_came_first(
    parameters: JsonObject, expected: JsonValue
) -> None:
    for arrival in permutations(VALUES):
        assert merge(VALUES, arrival, parameters) == expected


@pytest.mark.parametrize("key", ["", "z"])
def test_a_merge_by_key_needs_the_key(key: str) -> None:
    with pytest.raises(InvalidParameters, match="field"):
        merge(VALUES, ("a", "b", "c"), {"mode": "by_key", "key": key})


def test_branches_that_did_not_run_are_not_merged() -> None:
    floor = Floor()
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "choose": {"type": "flow.if", "parameters": {"condition": True}},
            "yes": {"type": "data.set", "parameters": {"fields": {"a": 1}}},
            "no": {"type": "data.set"},
            "node": {"type": "flow.merge", "parameters": {"mode": "object"}},
        },
        ["start choose", "choose.true yes", "choose.false no", "yes node", "no node"],
    )
    floor.start()
    for key in ("start", "choose", "yes", "node"):
        floor.call(key)
    assert floor.value("node") == {"yes": {"a": 1}}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.integers()), min_size=1, max_size=4),
    st.lists(st.sampled_from("abcdef")),
    st.permutations("abcdef"),
)
@settings(max_examples=30)
def test_appending_loses_and_doubles_nothing(
    values: dict[str, list[JsonValue]], wanted: list[JsonValue], order: list[str]
) -> None:
    arrival = tuple(key for key in order if key in values)
    parameters: JsonObject = {"mode": "append", "order": wanted}
    merged = merge({**values}, arrival, parameters)
    assert merged == merge({**values}, tuple(sorted(values)), parameters)
    assert isinstance(merged, list)
    counted = [entry for value in values.values() for entry in value]
    assert sorted(map(str, merged)) == sorted(map(str, counted))


def test_a_stop_gives_the_runs_output() -> None:
    port, value = fired("flow.stop", 5, value={"total": "{{ $input }}"})
    assert (port, value) == ("out", {"total": 5})


def test_a_stop_with_an_error_fails_with_its_message() -> None:
    floor = Floor()
    with pytest.raises(StoppedWithError, match="Customer 5 is blocked"):
        single(floor, "flow.stop", 5, outcome="error", message="Customer {{ $input }} is blocked")
    assert floor.step("node").status is StepStatus.FAILED
