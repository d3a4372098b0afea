"""`replays` on a local cloud; `test_remote.py` has it at an API."""

from __future__ import annotations

import json
from pathlib import Path

from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import Answer, Stellwerk


def graph(text: str) -> str:
    nodes = [
        {"key": "start", "type": "trigger.manual"},
        {"key": "note", "type": "data.set", "parameters": {"fields": {"text": text}}},
    ]
    return json.dumps({"nodes": nodes, "edges": [{"from": "start", "to": "note"}]})


def rows(answer: Answer, field: str) -> list[JsonObject]:
    found = answer.data[field]
    assert isinstance(found, list)
    return [row for row in found if isinstance(row, dict)]


def test_failed_runs_are_replayed_by_canary(stellwerk: Stellwerk, tmp_path: Path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(graph("{{ $error('no such account') }}"), encoding="utf-8")
    assert stellwerk("run", str(file)).code == 1
    assert stellwerk("run", "orders").code == 1
    began = stellwerk("replays", "start", "orders", "--error", "ExpressionFailed", "--json")
    assert began.code == 0, began.errors
    assert (began.data["total"], began.data["version"]) == (2, 1)
    stopped = settled(stellwerk, str(began.data["id"]))
    assert (stopped.data["status"], stopped.data["pending"]) == ("stopped", 1)
    assert "no such account" in stellwerk("replays", "show", str(began.data["id"])).shown

    file.write_text(graph("fine"), encoding="utf-8")
    assert stellwerk("publish", str(file)).code == 0
    again = stellwerk(
        "replays", "start", "orders", "--since", "2026-01-01", "--until", "2099-01-01T00:00:00"
    )
    assert "replays show" in again.shown
    newest = str(rows(stellwerk("replays", "--json"), "replays")[0]["id"])
    done = settled(stellwerk, newest)
    assert (done.data["status"], done.data["succeeded"]) == ("completed", 2)
    assert [row["status"] for row in rows(done, "runs")] == ["succeeded"] * 2
    assert newest in stellwerk("replays").shown
    source, replayed = (str(rows(done, "runs")[0][name]) for name in ("source", "run"))
    compared = rows(stellwerk("compare", source, replayed, "--json"), "steps")
    assert [row["step"] for row in compared] == ["start", "note"]
    assert "differs" not in stellwerk("compare", source, replayed).shown
    assert stellwerk("replays", "cancel", newest).code == 2
    assert stellwerk("replays", "show", "nothing").code == 3
    none = stellwerk("replays", "start", "orders", "--error", "Nothing")
    assert (none.code, "none fit" in none.errors) == (2, True)


def settled(stellwerk: Stellwerk, job: str) -> Answer:
    for _ in range(100):
        answer = stellwerk("replays", "show", job, "--json")
        if answer.data["status"] != "running":
            return answer
    raise AssertionError(answer.data)
