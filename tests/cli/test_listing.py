from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from localcloud.cli.listing import Column, Fit, Listing

ID = "01m8r0xk4q25rkfjggzyq64f9f"


def drawn(listing: Listing, width: int) -> list[str]:
    file = io.StringIO()
    Console(width=width, file=file).print(listing)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def sample() -> Listing:
    listing = Listing(
        Column("run"),
        Column("workflow", Fit.TEXT, 8),
        Column("step", Fit.NAME),
        Column("value", Fit.VALUE, 10),
        Column("error", Fit.TEXT),
    )
    listing.add(ID, "Order [draft] :bug:", "lines[3].check", Text("x" * 70), "")
    listing.add(ID, "Pay", "", "", "")
    return listing


def test_where_there_is_room_everything_stands_in_a_row() -> None:
    assert drawn(sample(), 160)[1].split("  ") == [
        ID,
        "Order [draft] :bug:",
        "lines[3].check",
        "x" * 70,
    ]


def test_a_value_is_cut_and_a_text_flows_before_lines_go_below() -> None:
    lines = drawn(sample(), 76)
    assert lines[0].split() == ["run", "workflow", "step", "value"]
    assert lines[1].endswith("x…")
    assert ID in lines[1]
    assert "lines[3].check" in lines[1]
    assert len(lines) == 4


def test_where_there_is_none_texts_go_below_the_row() -> None:
    assert drawn(sample(), 50) == [
        "run",
        ID,
        "    workflow  Order [draft] :bug:",
        "    step      lines[3].check",
        "    value     " + "x" * 35 + "…",
        ID,
        "    workflow  Pay",
    ]


def test_a_column_in_which_no_row_has_anything_is_left_out() -> None:
    assert "error" not in drawn(sample(), 160)[0]
    assert drawn(Listing(Column("run"), Column("error", Fit.TEXT)), 80) == ["run  error"]


@pytest.mark.parametrize("width", range(20, 200, 7))
def test_a_key_is_never_cut(width: int) -> None:
    lines = drawn(sample(), width)
    assert max(map(len, lines)) <= max(width, len(ID))
    assert "".join(lines).count(ID) == 2 or width < len(ID)


def test_short_words_stay_whole_and_long_ones_are_folded() -> None:
    listing = Listing(Column("for", Fit.TEXT, 5), Column("text", Fit.TEXT, 5))
    listing.add("role:finance role:sales", "y" * 60)
    lines = drawn(listing, 40)
    assert any(line.startswith("role:finance ") for line in lines)
    assert "".join(line[len(lines[1]) - 25 :] for line in lines[1:]).count("y") >= 50
