"""The tour of the API is true: its commands, pasted as they stand, show what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import pytest

from tests.tour.page import VARIES, Block, blocks
from tests.tour.session import ROOT, cloud, pasted

BLOCKS = blocks((ROOT / "docs" / "api-tour.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """What the page's blocks write on a fresh cloud."""
    with cloud(tmp_path_factory.mktemp("cloud")) as site:
        return pasted(BLOCKS, site, tmp_path_factory.mktemp("terminal"))


def test_the_tour_shows_what_happens(written: Sequence[str]) -> None:
    wrong = [
        block.difference(output)
        for block, output in zip_longest(BLOCKS, written, fillvalue="")
        if isinstance(block, Block) and not block.fits(output)
    ]
    assert not wrong, "\n\n".join(wrong)


def test_any_line_that_says_something_else_is_noticed(written: Sequence[str]) -> None:
    changes = [
        (replace(block, shown=block.shown.replace(line, f"{line[:-1]}~", 1)), output)
        for block, output in zip(BLOCKS, written, strict=True)
        for line in block.shown.splitlines()
        if line.strip() and not line.endswith(VARIES)
    ]
    assert len(changes) > 50
    assert not [changed for changed, output in changes if changed.fits(output)]
