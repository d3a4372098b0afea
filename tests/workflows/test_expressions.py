"""What expressions give: one table, which the editor's tests run too, and the rules around it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Never, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonata.jsonata import Jsonata

from stellwerk.kernel.errors import ExpressionFailed, PermanentError, ReferenceNotAvailable
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.expressions import braces
from stellwerk.workflows.expressions.bounds import ENTRIES, Bounds, Halt, current
from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.engine import Engine
from stellwerk.workflows.expressions.evaluation import evaluate
from stellwerk.workflows.expressions.names import ABSENT, Names
from stellwerk.workflows.expressions.parameters import raw_parameters, references, resolve
from stellwerk.workflows.expressions.references import Reference
from stellwerk.workflows.expressions.syntax import parse
from stellwerk.workflows.expressions.text import render

CASES = Path(__file__).with_name("expression_cases.json")


class Case(TypedDict, total=False):
    name: str
    text: str
    names: JsonObject
    value: JsonValue
    error: str


TABLE = json.loads(CASES.read_text())
HERE: list[Case] = TABLE["cases"]
NAMES = Names(nodes={NodeKey("a"): {"x": 1}, NodeKey("b"): ABSENT}, input={"n": 3, "list": [1, 2]})


def names_of(case: Case) -> Names:
    given = {**TABLE["given"], **case.get("names", {})}
    given["nodes"] = {**given["nodes"], **dict.fromkeys(given.pop("absent"), ABSENT)}
    return Names(**given)


def same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON text, where 1, 1.0 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("case", HERE, ids=[case["name"] for case in HERE])
def test_the_table_of_cases(case: Case) -> None:
    names = names_of(case)
    if "error" in case:
        with pytest.raises(PermanentError) as caught:
            resolve({"here": case["text"]}, names, node="me")
        assert caught.value.type == case["error"]
        assert "Node me, parameter here" in caught.value.message
    else:
        assert same(resolve({"here": case["text"]}, names, node="me")["here"], case["value"])


def test_expressions_resolve_at_any_depth() -> None:
    parameters: JsonObject = {"a": [{"b c": ["{{ $input.n }}", "x"]}], "d": 1, "e": None}
    resolved = resolve(parameters, NAMES, node="me")
    assert resolved == {"a": [{"b c": [3, "x"]}], "d": 1, "e": None}


def test_all_failures_are_told_at_once_with_their_places() -> None:
    parameters: JsonObject = {
        "a": "{{ 1/0 }}",
        "b": {"c d": ["{{ $nodes.b }}"]},
        "e": "{{",
        "f": "{{ 1 }} {{ 2/0 }}",
    }
    with pytest.raises(ExpressionFailed) as caught:
        resolve(parameters, NAMES, node="me")
    message = caught.value.message
    assert message.startswith("4 expressions fail.")
    for place in ("parameter a:", 'parameter b["c d"][0]:', "parameter e:", "parameter f:"):
        assert place in message
    assert caught.value.remedy.count("Check the divisor first") == 1


def test_several_absent_nodes_are_one_error_of_their_own_kind() -> None:
    with pytest.raises(ReferenceNotAvailable, match="2 expressions fail"):
        resolve({"a": "{{ $nodes.b }}", "b": "{{ $nodes.b.x }}"}, NAMES, node="me")


def test_an_error_says_what_to_do() -> None:
    with pytest.raises(ReferenceNotAvailable) as caught:
        evaluate("$nodes.b.x", NAMES, node="me", parameter="p")
    assert caught.value.message == (
        "Node me, parameter p: the expression uses $nodes.b, but node b did not run."
    )
    assert "$default($nodes.b, value)" in caught.value.remedy


def test_an_expression_without_a_place_is_told_without_one() -> None:
    with pytest.raises(ExpressionFailed, match=r"^An expression: the expression gives nothing"):
        evaluate("$input.nowhere", NAMES)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("$number('plenty')", "takes 'plenty' for a number."),
        ("$error('Line 3 has no price')", "fails: Line 3 has no price."),
        ("$assert(1 = 2, 'The sum is wrong')", "fails: The sum is wrong."),
    ],
)
def test_what_an_author_or_a_customer_has_written_is_told_as_it_is(source: str, words: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        evaluate(source, Names())
    assert caught.value.message == f"An expression: the expression {words}"


def test_raw_parameters_stay_as_they_are() -> None:
    schema: JsonObject = {"properties": {"raw": {"x-raw": True}, "not": {"x-raw": False}, "no": 1}}
    raw = raw_parameters(schema)
    assert raw == {"raw"}
    parameters: JsonObject = {"raw": "{{ $item.x }}", "not": "{{ $input.n }}"}
    assert resolve(parameters, NAMES, node="me", raw=raw) == {"raw": "{{ $item.x }}", "not": 3}
    assert raw_parameters({}) == frozenset()


@pytest.mark.parametrize("text", ["$item.x", "{{ $item.x }}"])
def test_raw_parameters_may_be_in_braces_or_not(text: str) -> None:
    assert braces.bare(text) == "$item.x"
    assert references({"raw": text}, raw={"raw"}) == {Reference("item")}


def test_a_raw_parameter_takes_no_text_around_its_expression() -> None:
    with pytest.raises(Malformed, match="without text around"):
        braces.bare("x {{ $item.x }}")
    with pytest.raises(Malformed, match="is empty"):
        braces.bare(" ")


def test_references_of_parameters_are_found_at_any_depth_and_broken_ones_skipped() -> None:
    parameters: JsonObject = {
        "a": ["{{ $nodes.x.y }}", {"b": "t {{ $input.z }} {{ $exists($nodes.w) }}"}],
        "c": "{{ 1 + }}",
        "d": "{{",
        "e": 1,
        "f": "plain",
    }
    assert references(parameters) == {
        Reference("nodes", NodeKey("x")),
        Reference("input"),
        Reference("nodes", NodeKey("w"), optional=True),
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_values_without_braces_resolve_to_themselves(value: JsonValue) -> None:
    if "{{" not in json.dumps(value):
        assert resolve({"p": value}, NAMES, node="me") == {"p": value}


@given(st.text(alphabet="{}\"'`/\\ $a.*[]()1:?", max_size=30))
def test_any_text_either_resolves_or_fails_with_a_named_error(text: str) -> None:
    try:
        resolve({"p": text}, NAMES, node="me")
    except (ExpressionFailed, ReferenceNotAvailable) as error:
        assert error.message


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_any_value_passes_the_engine_unchanged(value: JsonValue) -> None:
    assert same(evaluate("($input)", Names(input=[value])), [value])


RUNAWAYS = {
    "a tail call without end": "($f := function() { $f() }; $f())",
    "a slow function of the library": "$distinct([1..100000])",
    "a catastrophic pattern": '$contains($pad("a", 60, "a") & "b", /^(a|aa)+$/)',
    "a catastrophic replacement": '$replace($pad("a", 60, "a") & "b", /^(a|aa)+$/, "")',
    "a catastrophic split": '$split($pad("a", 60, "a") & "b", /^(a|aa)+$/)',
    "a huge text": '$pad("x", 300000000)',
    "a value that shares itself": "$g({}, 40)",
    "comparing values that share themselves": "$g({}, 40) = $g({}, 40)",
    "descending into values that share themselves": "$count($g({}, 40).**)",
    "fields of values that share themselves": "$count($l([], 40).*)",
    "looking for values that share themselves": "$g({}, 40) in [$g({}, 40)]",
}
SHARING = (
    '($g := function($s, $n) { $n = 0 ? $s : $g({"a": $s, "b": $s}, $n - 1) };'
    " $l := function($s, $n) { $n = 0 ? $s : $l([[$s], [$s]], $n - 1) }; %s)"
)


@pytest.mark.parametrize("expression", RUNAWAYS.values(), ids=RUNAWAYS)
def test_what_would_run_too_long_is_ended(expression: str) -> None:
    begun = time.monotonic()
    with pytest.raises(ExpressionFailed, match=r"takes longer than 0\.2 s"):
        evaluate(SHARING % expression, NAMES, node="me", parameter="p", seconds=0.2)
    assert time.monotonic() - begun < 2


def test_two_seconds_are_the_limit() -> None:
    begun = time.monotonic()
    with pytest.raises(ExpressionFailed, match="takes longer than 2 s"):
        resolve({"p": "{{ ($f := function() { $f() }; $f()) }}"}, NAMES, node="me")
    assert 1.9 < time.monotonic() - begun < 3


DOUBLING = "($t := function($s, $n) { $n = 0 ? $s : $t(%s, $n - 1) }; $t(%s, 40))"
TOO_LARGE = {
    "a range": f"[1..{ENTRIES + 1}]",
    "a text that doubles": DOUBLING % ("$s & $s", '"0123456789"'),
    "a list that doubles": DOUBLING % ("$append($s, $s)", "[1..1000]"),
    "writing out a value that shares itself": SHARING % "$string($g({}, 40))",
    "joining a value that shares itself": SHARING % '$g({}, 40) & ""',
    "copying a value that shares itself": SHARING % "($v := $g({}, 40); $v ~> |$|{}|)",
    "cloning a value that shares itself": SHARING % "$clone($g({}, 40))",
    "comparing each value that shares itself": SHARING % "$distinct([$g({}, 40), $g({}, 40)])",
    "writing out a list that shares itself": SHARING % "$string($l([], 40))",
}


@pytest.mark.parametrize("expression", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_would_be_too_large_is_ended(expression: str) -> None:
    with pytest.raises(ExpressionFailed, match="more than 1000000 entries"):
        evaluate(expression, NAMES)


@pytest.mark.parametrize(
    "expression",
    ["1" + "+1" * 2000, "(" * 1500 + "1" + ")" * 1500, "[" * 4000 + "]" * 4000, "1" + "+1" * 4990],
)
def test_what_nests_too_deeply_is_ended(expression: str) -> None:
    with pytest.raises(ExpressionFailed, match="nests too deeply"):
        evaluate(expression, NAMES)


def test_a_deep_value_is_ended() -> None:
    deep: JsonValue = 1
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(ExpressionFailed, match="nests too deeply"):
        evaluate("$count($input)", Names(input=deep))


def test_an_expression_that_is_too_long_is_refused() -> None:
    with pytest.raises(ExpressionFailed, match="has 20003 characters; at most 10000"):
        resolve({"p": "{{ 1" + "+1" * 10_000 + " }}"}, NAMES, node="me")


def test_large_values_pass_unchanged_and_at_once() -> None:
    large: JsonObject = {"text": "x" * 10_485_760}
    begun = time.monotonic()
    assert resolve({"p": "{{ $input.text }}"}, Names(input=large), node="me") == {
        "p": large["text"]
    }
    assert time.monotonic() - begun < 1


def test_whole_numbers_beyond_the_reach_of_fractions_pass_unchanged() -> None:
    assert evaluate("$input", Names(input=2**63 + 1)) == 2**63 + 1


def test_a_number_that_is_not_finite_is_no_value() -> None:
    with pytest.raises(ExpressionFailed, match="not finite"):
        evaluate("($input)", Names(input=float("inf")))


def test_the_library_may_fail_without_words() -> None:
    class Mute(dict[str, JsonValue]):
        def items(self) -> Never:
            raise ValueError

    with pytest.raises(ExpressionFailed, match="cannot be evaluated: ValueError"):
        evaluate("$input[0]", Names(input=Mute()))


def test_a_name_cannot_switch_the_limits_off() -> None:
    source = (
        "($__evaluate_entry := null; $__evaluate_exit := null; $f := function() { $f() }; $f())"
    )
    with pytest.raises(ExpressionFailed):
        evaluate(source, NAMES, seconds=0.2)


def test_own_functions_may_be_called_like_ours() -> None:
    assert evaluate("($default := function($x, $y) { 9 }; $default(1, 2))", NAMES) == 9
    assert evaluate("($exists := function($x) { 9 }; $exists(1))", NAMES) == 9


def test_threads_evaluate_at_the_same_time_without_mixing() -> None:
    def work(number: int) -> bool:
        names = Names(input={"n": number, "list": list(range(number))})
        source = "$sum($map($input.list, function($v) { $v * $input.n }))"
        expected = sum(range(number)) * number
        return all(evaluate(source, names) == expected for _ in range(5))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(2, 40)))


def test_an_evaluation_leaves_no_trace_in_its_thread() -> None:
    other = Jsonata("1 + 1")
    evaluate("$sum([1, 2])", NAMES)
    assert Jsonata.CURRENT.jsonata is other
    assert other.evaluate(None) == 2
    del Jsonata.CURRENT.jsonata
    evaluate("$sum([1, 2])", NAMES)
    assert not hasattr(Jsonata.CURRENT, "jsonata")
    assert current() is not current()


def test_bounds_may_be_nested() -> None:
    with Bounds() as outer:
        assert evaluate("$sum([1, 2])", NAMES) == 3
        assert current() is outer


def test_the_clock_of_an_evaluation_is_its_own() -> None:
    first = evaluate("$millis()", NAMES)
    time.sleep(0.01)
    assert evaluate("$millis()", NAMES) != first


def test_the_engine_groups_by_bound_names() -> None:
    source = "$input.list#$i{$string($): $i}"
    assert evaluate(source, NAMES) == {"1": 0, "2": 1}


def test_patterns_find_the_first_match() -> None:
    tree = parse("/b+/")
    with Bounds() as bounds:
        pattern = Engine(bounds).run(tree, {})
    found = pattern.search("abbc")  # type: ignore[attr-defined]
    assert found.group() == "bb"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (1e20, "100000000000000000000"),
        (-1.5e-7, "-1.5e-7"),
        (0.0, "0"),
        (-0.0, "0"),
        (10.0, "10"),
        (0.1, "0.1"),
        (12, "12"),
    ],
)
def test_numbers_read_as_in_javascript(value: float, text: str) -> None:
    assert render(value) == text


def test_a_halt_knows_whether_something_was_absent() -> None:
    assert not Halt("x").absent
