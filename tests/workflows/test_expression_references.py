"""Which names an expression uses, and which of them may be absent."""

from __future__ import annotations

import pytest

from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.references import Uses, uses


def words(found: Uses) -> set[str]:
    """Return references as words: `a` for a node, `a?` if it may be absent, `$input` for a name."""
    return {
        f"{reference.node or '$' + reference.name}{'?' if reference.optional else ''}"
        for reference in found.references
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$nodes.a.b", {"a"}),
        ("$nodes.`a`.b", {"a"}),
        ('$nodes."a"', {"a"}),
        ("$nodes.a[0].b[$nodes.c = 1]", {"a", "c"}),
        ("$input.x + $trigger.y & $run.id", {"$input", "$trigger", "$run"}),
        ("[$item, $index, $vars.x]", {"$item", "$index", "$vars"}),
        ('{"k": $nodes.a}', {"a"}),
        ("-$nodes.a", {"a"}),
        ("$nodes.a ~> $sum", {"a"}),
        ("$map($nodes.a, function($v) { $v + $nodes.b })", {"a", "b"}),
        ("$nodes.a^(>x, $nodes.b)", {"a", "b"}),
        ("$nodes.a{x: $nodes.b}", {"a", "b"}),
        ("$input{x: $nodes.b}", {"$input", "b"}),
        ("$nodes.a ~> |x|{'y': $nodes.b}, 'z'|", {"a", "b"}),
        ("$substring(?, $nodes.a)", {"a"}),
        ("$default($nodes.a.x, $nodes.b)", {"a?", "b"}),
        ("$default($nodes.a)", {"a"}),
        ("$exists($nodes.a)", {"a?"}),
        ("$exists($item)", {"$item?"}),
        ("$nodes.a ~> $exists", {"a"}),
        ("$exists($nodes.a) ? $nodes.a.x : $nodes.a", {"a?", "a"}),
        ("$exists($nodes.a) ? $nodes.a.x", {"a?"}),
        ("($exists($nodes.a)) ? $nodes.a", {"a?"}),
        ("$not($exists($nodes.a)) ? 0 : $nodes.a", {"a?"}),
        ("$boolean($exists($nodes.a)) ? $nodes.a", {"a?"}),
        ("$exists($nodes.a.x) and $nodes.a.x > 1", {"a?"}),
        ("$not($exists($nodes.a)) or $nodes.a > 1", {"a?"}),
        ("$exists($nodes.a) or $nodes.a > 1", {"a?", "a"}),
        ("$exists($nodes.a) and $exists($nodes.b) ? $nodes.a + $nodes.b", {"a?", "b?"}),
        ("$exists($nodes.a) or $exists($nodes.b) ? $nodes.a", {"a?", "b?", "a"}),
        ("$not($exists($nodes.a) or $x) ? 0 : 1", {"a?"}),
        ("$count($nodes.a) ? $nodes.b", {"a", "b"}),
        ("$input.f(1) ? $nodes.b", {"$input", "b"}),
        ("$nodes.a ?? $nodes.b", {"a?", "b"}),
        ("($exists := 1; $exists($nodes.a) ? $nodes.a)", {"a"}),
        ("($not := 1; $not($nodes.a) ? $nodes.b)", {"a", "b"}),
        ("($nodes := {}; $nodes.a)", set()),
        ("function($nodes) { $nodes.a }", set()),
        ("($f := function($n) { $f($n) }; $f(1))", set()),
        ("$input.x@$o.y[$o.z = 1]", {"$input"}),
        ("$input.x#$i[$i = 1].y", {"$input"}),
        ("$input.x[y = 1]#$i.($i)", {"$input"}),
        ("$now() & $$", set()),
        ("1 ? 2", set()),
    ],
)
def test_references(source: str, expected: set[str]) -> None:
    found = uses(source)
    assert words(found) == expected
    assert found.unknown <= {"$x"}
    assert not found.dynamic


@pytest.mark.parametrize(
    ("source", "unknown"),
    [
        ("$nope", {"$nope"}),
        ("$imput.x", {"$imput"}),
        ("amount * 2", {"amount"}),
        ("sum([1])", {"sum"}),
        ("$eval('1')", {"$eval"}),
        ("($x := 1; $y)", {"$y"}),
        ("$map([1], function($v) { $w })", {"$w"}),
        ("(($x := 1); $x)", {"$x"}),
        ("$input.amount * $input[price > 1]", set()),
        ("$input.(price * 2)", set()),
    ],
)
def test_names_that_stand_for_nothing(source: str, unknown: set[str]) -> None:
    assert uses(source).unknown == unknown


@pytest.mark.parametrize(
    "source",
    [
        "$nodes",
        '$nodes["a"]',
        "$keys($nodes)",
        "$nodes.*",
        "$nodes.(a)",
        "($n := $nodes; $n.a)",
        "$nodes[0].a",
    ],
)
def test_nodes_must_be_named(source: str) -> None:
    assert uses(source).dynamic


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("$nodes.a.b", ("nodes", "a", "b")),
        ("$input", ("input",)),
        ("$input[0]", None),
        ("$input.a[0]", None),
        ("$input.a + 1", None),
        ("a.b", None),
        ("$input.a{x: y}", None),
        ("$input.*", None),
    ],
)
def test_plain_paths(source: str, path: tuple[str, ...] | None) -> None:
    assert uses(source).path == path


@pytest.mark.parametrize(
    "source", ["1 +", "(", "/a", "!", "/(/", "$x := ", "`a", '"a', "1" + "+1" * 4990]
)
def test_what_cannot_be_read_says_so(source: str) -> None:
    with pytest.raises(Malformed) as caught:
        uses(source)
    assert caught.value.message
    assert caught.value.remedy
