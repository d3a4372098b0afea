"""What people are asked, at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import Stellwerk
from tests.cli.test_commands import first

ASKING: JsonObject = {
    "title": "Two decide",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "ask",
            "type": "input.approval",
            "parameters": {
                "title": "Pay?",
                "description": "A lot.",
                "assignees": ["role:finance", "u-ben"],
                "quorum": {"needed": 2},
                "due": "P3D",
            },
        },
    ],
    "edges": [{"from": "start", "to": "ask"}],
}


@pytest.fixture
def asked(stellwerk: Stellwerk, tmp_path: Path) -> str:
    """The id of a task that needs two answers."""
    file = tmp_path / "asking.json"
    file.write_text(json.dumps(ASKING), encoding="utf-8")
    return str(first(stellwerk("run", str(file), "--json").data, "tasks")["id"])


def test_a_vote_is_shown_with_who_and_how_many_are_missing(
    stellwerk: Stellwerk, asked: str
) -> None:
    assert "(0 of 2)" in stellwerk("tasks").shown
    voted = stellwerk("decide", asked, "approved", "--comment", "looks fine")
    assert voted.code == 0
    assert "voted on Pay?: approved (1 of 2)" in voted.shown
    shown = stellwerk("task", asked)
    for part in ("Pay?", "A lot.", "for role:finance, u-ben", "answers 1 of 2", "looks fine"):
        assert part in shown.shown
    assert "approved by u-demo" in shown.shown
    told = stellwerk("task", asked, "--json").data
    assert (told["progress"], told["status"]) == ("1 of 2", "pending")
    assert not {"news", "token"} & set(told)
    again = stellwerk("decide", asked, "approved")
    assert (again.code, "has the vote of u-demo already" in again.errors) == (2, True)


def test_a_task_is_handed_on_and_cancelled(stellwerk: Stellwerk, asked: str) -> None:
    handed = stellwerk("delegate", asked, "u-eva", "--json")
    assert handed.data["assignees"] == ["role:finance", "u-ben", "user:u-eva"]
    assert "handed on by u-demo to u-eva" in stellwerk("task", asked).shown
    cancelled = stellwerk("cancel-task", asked)
    assert cancelled.code == 0
    assert "decided: cancelled by u-demo" in cancelled.shown
    assert stellwerk("cancel-task", asked).code == 2
    assert stellwerk("task", "t-none").code == 3


def test_deputies_need_a_time_that_can_be_read(stellwerk: Stellwerk) -> None:
    assert "Nobody stands in for you" in stellwerk("deputies").shown
    for until in ((), ("--until", "tomorrow"), ("--until", "2026-12-24T18:00:00")):
        assert stellwerk("deputies", "--name", "u-ben", *until).code == 2
