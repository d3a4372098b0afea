from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import APPROVAL, Answer, Stellwerk, invoke

BROKEN = {
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "B", "type": "flow.if"},
        {"key": "ask", "type": "input.approval", "parameters": {"title": "{{ $triger.x }}"}},
    ],
    "edges": [{"from": "start", "to": "gone"}, {"from": "ask", "port": "maybe", "to": "start"}],
}


@pytest.fixture(params=["80", "120"])
def columns(request: pytest.FixtureRequest) -> str:
    """The width of a terminal."""
    return str(request.param)


def at(folder: Path, columns: str, *arguments: str) -> Answer:
    answer = invoke(folder, arguments, columns)
    lines = [line for line in answer.shown.splitlines() if not line.startswith("More with")]
    assert max(map(len, lines), default=0) <= int(columns)
    return answer


def whole(text: str, lines: str) -> bool:
    """Whether the words of a text are found, each whole, wherever its lines were broken."""
    return all(word in lines.split() for word in text.split())


def test_ids_states_and_texts_are_whole_in_every_list(
    stellwerk: Stellwerk, payment: str, folder: Path, columns: str
) -> None:
    run = stellwerk("run", payment, "--input", '{"amount": 4711}', "--json").data
    tasks = run["tasks"]
    assert isinstance(tasks, list)
    assert isinstance(tasks[0], dict)
    task = str(tasks[0]["id"])
    for shown in (
        at(folder, columns, "tasks").shown,
        at(folder, columns, "show", str(run["id"])).shown,
    ):
        assert whole(f"{task} Pay 4711? Payment ask role:finance", shown)
        assert f"stellwerk decide {task} approved" in shown
    assert whole(f"{run['id']} Payment v1 paused", at(folder, columns, "runs").shown)
    at(folder, columns, "types")
    at(folder, columns, "types", "http.request")
    decided = at(folder, columns, "decide", task, "rejected")
    assert decided.code == 1
    assert whole("StoppedWithError: not approved", decided.shown)


def test_a_cursor_stays_on_one_line(
    stellwerk: Stellwerk, payment: str, folder: Path, columns: str
) -> None:
    for _ in range(2):
        stellwerk("run", payment, "--input", '{"amount": 1}')
    cursor = str(stellwerk("runs", "--limit", "1", "--json").data["cursor"])
    assert f"More with --cursor {cursor}\n" in at(folder, columns, "runs", "--limit", "1").shown


def test_every_fault_is_told_in_whole_words(tmp_path: Path, folder: Path, columns: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(BROKEN), encoding="utf-8")
    told = at(folder, columns, "validate", str(file)).errors
    assert max(map(len, told.splitlines())) <= int(columns)
    for words in (
        "expression_name_unknown ask.title Did you mean $trigger?",
        "edge_port_unknown Its ports are approved, rejected, expired.",
        "parameter_missing B.condition Set the parameter.",
    ):
        assert whole(words, told)


def test_names_with_brackets_and_colons_are_shown_as_they_are(
    tmp_path: Path, folder: Path, columns: str
) -> None:
    file = tmp_path / "order[red]:bug:.json"
    file.write_text(json.dumps({**APPROVAL, "title": "Order [red] :bug:"}), encoding="utf-8")
    valid = at(folder, columns, "validate", str(file)).shown
    assert "order[red]:bug:.json" in "".join(valid.split("\n"))
    at(folder, columns, "publish", str(file), "--slug", "brackets")
    run = at(folder, columns, "run", "brackets", "--input", '{"amount": 1}')
    assert "Order [red] :bug: v1" in run.shown
