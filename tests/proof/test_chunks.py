"""Loops in several chunks, each a child machine, behave like loops in one piece."""

from __future__ import annotations

import pytest

from stellwerk.workflows.compile import CompileOptions
from tests.proof import alone, whole
from tests.proof.sketch import Item, Sketch, approval, draw, each, repeat, step

ORDERS = range(6)
SMALL = 200
"""History events that a machine may spend: few passes fit."""
FAILS_LATE = ("out",) * 7 + ("fail", "out")


def _items(
    *body: Item, collect: bool = False, concurrency: int = 1, handled: bool = False
) -> Sketch:
    loop = each("l", 12, collect=collect, concurrency=concurrency)
    last = step("z")
    if not handled:
        return draw("t>l b>d l>z", loop, *body, last)
    loop.on_error = step("x", on_error="branch").on_error
    return draw("t>l b>d l.error>z", loop, *body, last)


def _steps(*fates: str) -> tuple[Item, Item]:
    return step("b", *fates, parent="l"), step("d", parent="l")


LOOPS = {
    "one after the other": _items(*_steps()),
    "two at a time": _items(*_steps(), concurrency=2),
    "an item of the second chunk fails": _items(*_steps(*FAILS_LATE)),
    "and is collected": _items(*_steps(*FAILS_LATE), collect=True),
    "and the loop's error is handled": _items(*_steps(*FAILS_LATE), handled=True),
    "with a person in each item": draw(
        "t>l b.approved>d",
        each("l", 12, concurrency=2),
        approval("b", "approved", "approved", parent="l"),
        step("d", parent="l"),
    ),
    "many passes": draw(
        "t>w b>d w>z", repeat("w", 15), *(step(k, parent="w") for k in "bd"), step("z")
    ),
    "a late pass fails": draw("t>w", repeat("w", 15), step("b", *FAILS_LATE, parent="w")),
}


@pytest.mark.parametrize("drawn", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_in_chunks_is_like_one_in_one_piece(drawn: Sketch) -> None:
    case = alone.case(drawn, whole.catalogue())
    machines = alone.compiled(case, CompileOptions(events=SMALL))
    assert machines.children
    for order in ORDERS:
        assert alone.run(case, machines, order) == []
        assert whole.run(case, order, whole.Frugal(SMALL)) == []
