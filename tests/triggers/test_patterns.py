"""Patterns of events against the rules of EventBridge, as its documentation tells them."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.patterns import check_pattern, matches, values_of

EVENT: JsonObject = {
    "source": "shop",
    "type": "order.placed",
    "data": {
        "amount": 120.5,
        "count": 3,
        "city": "Zürich",
        "tags": ["new", "large"],
        "paid": True,
        "note": None,
        "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 9}],
    },
}


def data(name: str, *rules: JsonValue) -> JsonObject:
    return {"data": {name: list(rules)}}


FITS: list[JsonObject] = [
    {"source": ["shop"]},
    {"source": ["other", "shop"], "type": ["order.placed"]},
    {"type": [{"prefix": "order."}]},
    {"type": [{"suffix": ".placed"}]},
    {"type": [{"prefix": {"equals-ignore-case": "ORDER"}}]},
    data("city", {"equals-ignore-case": "zÜRICH"}),
    data("city", {"wildcard": "Z*i*h"}),
    data("city", {"wildcard": "*"}),
    data("city", {"wildcard": "Zürich"}),
    data("city", {"wildcard": "Zü*rich"}),
    data("city", {"anything-but": "Bern"}),
    data("city", {"anything-but": ["Bern", "Genf"]}),
    data("city", {"anything-but": {"prefix": "B"}}),
    data("city", {"anything-but": {"suffix": ["n", "f"]}}),
    data("city", {"anything-but": {"wildcard": "B*"}}),
    data("city", {"anything-but": {"equals-ignore-case": "bern"}}),
    data("amount", {"numeric": [">", 120, "<=", 121]}),
    data("count", {"numeric": ["=", 3]}),
    data("count", 3),
    data("paid", True),
    data("note", None),
    data("tags", "large"),
    data("tags", {"anything-but": "new"}),
    data("note", {"exists": True}),
    data("gone", {"exists": False}),
    {"data": {"lines": {"sku": ["b"]}}},
    {"$or": [{"source": ["x"]}, {"data": {"count": [{"numeric": [">", 2]}]}}]},
    {"source": ["shop"], "$or": [{"type": ["x"]}, {"type": [{"prefix": "order"}]}]},
]
FITS_NOT: list[JsonObject] = [
    {"source": ["Shop"]},
    {"source": ["shop"], "type": ["x"]},
    data("count", "3"),
    data("count", True),
    data("paid", 1),
    data("paid", {"numeric": ["=", 1]}),
    data("city", {"numeric": [">", 0]}),
    data("count", {"prefix": "3"}),
    data("amount", {"numeric": [">", 120, "<", 120.5]}),
    data("city", {"anything-but": ["Bern", "Zürich"]}),
    data("city", {"anything-but": {"prefix": "Z"}}),
    data("gone", {"anything-but": "x"}),
    data("gone", {"exists": True}),
    data("gone", None),
    data("city", {"exists": False}),
    data("city", {"wildcard": "Zürich*h"}),
    data("city", {"wildcard": "Z*x*h"}),
    data("city", {"wildcard": "B*h"}),
    data("city", {"wildcard": "Zür"}),
    {"data": [{"exists": True}]},
    {"data": {"city": {"more": ["x"]}}},
    {"data": {"lines": {"sku": ["c"]}}},
    {"$or": [{"source": ["x"]}, {"type": ["x"]}]},
]


@pytest.mark.parametrize("pattern", FITS, ids=str)
def test_what_fits(pattern: JsonObject) -> None:
    check_pattern(pattern)
    assert matches(pattern, EVENT)


@pytest.mark.parametrize("pattern", FITS_NOT, ids=str)
def test_what_does_not_fit(pattern: JsonObject) -> None:
    check_pattern(pattern)
    assert not matches(pattern, EVENT)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ({}, "pattern must"),
        ([], "pattern must"),
        ({"source": "shop"}, "pattern.source"),
        ({"source": []}, "pattern.source"),
        ({"source": [["a"]]}, r"pattern.source\[0\]"),
        ({"source": [{"like": "a"}]}, "one rule of"),
        ({"source": [{"prefix": "a", "suffix": "b"}]}, "one rule of"),
        ({"source": [{"prefix": 1}]}, "source.*prefix"),
        ({"source": [{"prefix": {"suffix": "a"}}]}, "source.*prefix"),
        ({"source": [{"wildcard": "a**b"}]}, "wildcard"),
        ({"source": [{"wildcard": "*a*b*c*"}]}, "wildcard"),
        ({"source": [{"equals-ignore-case": 1}]}, "equals-ignore-case"),
        ({"data": {"n": [{"numeric": [">"]}]}}, "pattern.data.n"),
        ({"data": {"n": [{"numeric": ["!", 1]}]}}, "numeric"),
        ({"data": {"n": [{"numeric": [">", "1"]}]}}, "numeric"),
        ({"data": {"n": [{"numeric": [">", True]}]}}, "numeric"),
        ({"data": {"n": [{"exists": "yes"}]}}, "exists"),
        ({"data": {"n": [{"anything-but": []}]}}, "anything-but"),
        ({"data": {"n": [{"anything-but": {"like": "a"}}]}}, "anything-but"),
        ({"data": {"n": [{"anything-but": {"prefix": 1}}]}}, "anything-but"),
        ({"$or": [{"a": ["b"]}]}, r"pattern.\$or"),
        ({"$or": [{"a": ["b"]}, {}]}, r"pattern.\$or\[1\]"),
    ],
)
def test_a_pattern_that_nothing_can_match_is_refused(pattern: JsonValue, place: str) -> None:
    with pytest.raises(BadInput, match=place):
        check_pattern(pattern)


def test_patterns_are_not_nested_without_end() -> None:
    deep: JsonValue = ["a"]
    for _ in range(30):
        deep = {"a": deep}
    with pytest.raises(BadInput, match="too deep"):
        check_pattern(deep)


def test_sources_that_are_named_can_be_looked_up() -> None:
    assert values_of({"source": ["a", "b"]}, "source") == ["a", "b"]
    assert values_of({"source": ["a", {"prefix": "b"}]}, "source") is None
    assert values_of({"type": ["a"]}, "source") is None
