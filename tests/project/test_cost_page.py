"""The page of costs follows its prices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.cost_page import PRICES, PURE, WATCHING, main, page, usd

LIST = {name: price for name, (price, _) in PRICES.items()}


def test_the_page_is_what_the_prices_say() -> None:
    assert main(["--check"]) == 0


def test_other_prices_give_another_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"transition": 50}))
    assert main(["--prices", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "| of that, state transitions | 0.65 |" in shown
    assert shown != page({})


def test_a_price_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="no price tea; there are: transition"):
        page({"tea": 1})


def test_costs_add_up() -> None:
    assert usd({}, LIST) == 0
    assert usd({"transition": 1e6}, LIST) == pytest.approx(25)
    both = usd({name: PURE.get(name, 0) + WATCHING.get(name, 0) for name in LIST}, LIST)
    assert both == pytest.approx(usd(PURE, LIST) + usd(WATCHING, LIST))
