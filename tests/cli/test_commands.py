from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.cli.conftest import Stellwerk


def first(data: JsonObject, field: str) -> JsonObject:
    entries = data[field]
    assert isinstance(entries, list)
    assert isinstance(entries[0], dict)
    return entries[0]


def ports(data: JsonObject) -> dict[JsonValue, JsonValue]:
    steps = data["steps"]
    assert isinstance(steps, Sequence)
    return {step["node"]: step["port"] for step in steps if isinstance(step, Mapping)}


def test_a_valid_file_is_said_to_be_valid(stellwerk: Stellwerk, payment: str) -> None:
    answer = stellwerk("validate", payment)
    assert answer.code == 0
    assert "is valid: 5 nodes, 5 edges" in answer.shown
    assert stellwerk("validate", payment, "--json").data["nodes"] == 5


def test_all_faults_are_told_at_once_with_remedies(stellwerk: Stellwerk, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('{"nodes": [{"key": "a", "type": "no.such"}, {"key": "B", "type": "flow.if"}]}')
    for command in ("validate", "compile", "publish", "run"):
        answer = stellwerk(command, str(file))
        assert answer.code == 2
        for part in ("type_unknown", "key_malformed", "parameter_missing", "stellwerk types"):
            assert part in answer.errors
        error = stellwerk(command, str(file), "--json").data["error"]
        assert isinstance(error, dict)
        assert error["type"] == "InvalidGraph"
        assert isinstance(error["faults"], list)
        assert len(error["faults"]) >= 3


def test_a_missing_file_is_not_found(stellwerk: Stellwerk) -> None:
    for command in ("validate", "compile", "publish", "run"):
        answer = stellwerk(command, "absent.json")
        assert (answer.code, answer.shown) == (3, "")
        assert "no file absent.json" in answer.errors


def test_compile_writes_the_definition_or_a_drawing(
    stellwerk: Stellwerk, payment: str, tmp_path: Path
) -> None:
    definition = json.loads(stellwerk("compile", payment).shown)
    assert definition["QueryLanguage"] == "JSONata"
    assert len(stellwerk("compile", payment).shown.splitlines()) > 100
    out = tmp_path / "deep" / "payment.asl.json"
    assert stellwerk("compile", payment, "--out", str(out)).code == 0
    assert out.read_text() == stellwerk("compile", payment).shown
    before = out.read_bytes()
    assert stellwerk("compile", payment, "--out", str(out)).code == 0
    assert out.read_bytes() == before
    assert json.loads(out.read_text()) == definition
    assert json.loads(str(stellwerk("compile", payment, "--json").data["definition"])) == definition
    assert stellwerk("compile", payment, "--diagram").shown.startswith("flowchart TD\n")
    drawn = stellwerk("compile", payment, "--diagram", "--out", str(tmp_path), "--json").data
    assert drawn == {"files": [str(tmp_path / "payment.mmd")]}


def test_a_file_that_is_published_twice_is_one_version(stellwerk: Stellwerk, payment: str) -> None:
    before = stellwerk("publish", payment, "--slug", "twice", "--json").data
    after = stellwerk("publish", payment, "--slug", "twice", "--json").data
    assert before == after
    assert (before["slug"], before["version"]) == ("twice", 1)
    assert "published twice as version 1" in stellwerk("publish", payment, "--slug", "twice").shown


def test_a_run_ends_with_the_story_of_its_steps(stellwerk: Stellwerk, payment: str) -> None:
    answer = stellwerk("run", payment, "--input", '{"amount": 12}')
    assert answer.code == 0
    assert 'output {"pay":{"paid":12}}' in answer.shown
    assert "skipped" in answer.shown
    data = stellwerk("run", payment, "--input", '{"amount": 12}', "--json").data
    assert data["status"] == "completed"
    assert data["output"] == {"pay": {"paid": 12}}
    assert ports(data) == {
        "start": "out",
        "large": "false",
        "pay": "out",
        "ask": None,
        "refuse": None,
    }


def test_a_paused_run_says_who_is_asked_and_goes_on_when_it_is_decided(
    stellwerk: Stellwerk, payment: str
) -> None:
    paused = stellwerk("run", payment, "--input", '{"amount": 4711}', "--json")
    assert paused.code == 0
    assert paused.data["status"] == "paused"
    task = first(paused.data, "tasks")
    assert (task["title"], task["ports"]) == ("Pay 4711?", ["approved", "rejected"])
    listed = stellwerk("tasks")
    assert str(task["id"]) in listed.shown
    assert "role:finance" in listed.shown

    decided = stellwerk("decide", str(task["id"]), "approved", "--json")
    assert decided.code == 0
    assert decided.data["status"] == "completed"
    assert ports(decided.data)["ask"] == "approved"
    shown = stellwerk("show", str(paused.data["id"]))
    for part in ("completed", "ask", "approved", "Pay 4711?"):
        assert part in shown.shown
    assert stellwerk("tasks", "--status", "completed", "--limit", "1", "--json").code == 0


def test_a_second_decision_is_refused_naming_the_first(stellwerk: Stellwerk, payment: str) -> None:
    paused = stellwerk("run", payment, "--input", '{"amount": 2000}', "--json")
    task = str(first(paused.data, "tasks")["id"])
    assert stellwerk("decide", task, "maybe").code == 2
    assert stellwerk("decide", task, "rejected").code == 1
    again = stellwerk("decide", task, "approved")
    assert again.code == 2
    assert "chose 'rejected'" in again.errors


def test_a_decision_made_beforehand_lets_the_run_go_on(stellwerk: Stellwerk, payment: str) -> None:
    options = ("--input", '{"amount": 5000}', "--decide", "ask=approved")
    answer = stellwerk("run", payment, *options)
    assert answer.code == 0
    assert "decided ask: approved" in answer.shown
    assert "completed" in answer.shown


def test_a_failed_run_ends_with_1_and_says_why(stellwerk: Stellwerk, payment: str) -> None:
    options = ("--input", '{"amount": 5000}', "--decide", "ask=rejected")
    answer = stellwerk("run", payment, *options)
    assert answer.code == 1
    assert "StoppedWithError at refuse" in answer.shown
    assert "not approved" in answer.shown


def test_watching_tells_every_change_of_a_node(stellwerk: Stellwerk, payment: str) -> None:
    answer = stellwerk("run", payment, "--input", '{"amount": 1}', "--watch", "--json")
    assert "pay succeeded → out" in answer.errors
    assert answer.data["status"] == "completed"
    shown = stellwerk("show", str(answer.data["id"]), "--watch")
    assert "large succeeded → false" in shown.shown


def test_a_run_is_replayed_from_a_node(stellwerk: Stellwerk, payment: str) -> None:
    before = stellwerk("run", payment, "--input", '{"amount": 3}', "--json").data
    after = stellwerk("replay", str(before["id"]), "--from", "pay", "--json")
    assert after.code == 0
    assert after.data["origin"] == before["id"]
    assert after.data["output"] == before["output"]
    wrong = stellwerk("replay", str(before["id"]), "--from", "nowhere")
    assert wrong.code == 2
    assert "no node 'nowhere'" in wrong.errors
    assumed = stellwerk("replay", str(before["id"]), "--assume-done", "pay={}", "--repeat", "x")
    assert assumed.code == 2


def test_writes_that_would_happen_again_are_named_and_need_a_word(
    stellwerk: Stellwerk, tmp_path: Path
) -> None:
    file = tmp_path / "tell.json"
    call = {"method": "POST", "url": "http://127.0.0.1:9/"}
    tell = {"key": "tell", "type": "http.request", "on_error": "continue", "parameters": call}
    nodes = [{"key": "start", "type": "trigger.manual"}, tell]
    file.write_text(json.dumps({"nodes": nodes, "edges": [{"from": "start", "to": "tell"}]}))
    before = str(stellwerk("run", str(file), "--json").data["id"])
    refused = stellwerk("replay", before, "--from", "tell")
    assert refused.code == 2
    assert "would happen again: tell" in refused.errors
    assert "--yes" in refused.errors
    assert stellwerk("replay", before, "--from", "tell", "--yes", "--json").code == 0


def test_runs_are_listed_page_by_page(stellwerk: Stellwerk, payment: str) -> None:
    slug = str(stellwerk("publish", payment, "--slug", "paged", "--json").data["slug"])
    for amount in (1, 2, 3):
        assert stellwerk("run", slug, "--input", json.dumps({"amount": amount})).code == 0
    page = stellwerk("runs", "--workflow", slug, "--limit", "2", "--json").data
    rest = stellwerk("runs", "--workflow", slug, "--cursor", str(page["cursor"]), "--json").data
    assert isinstance(page["runs"], list)
    assert isinstance(rest["runs"], list)
    assert (len(page["runs"]), len(rest["runs"]), rest["cursor"]) == (2, 1, None)
    shown = stellwerk("runs", "--workflow", slug, "--status", "completed", "--limit", "2").shown
    assert "More with --cursor" in shown
    assert "Payment v1" in shown


def test_types_are_listed_and_told_in_full(stellwerk: Stellwerk) -> None:
    assert "flow.if" in stellwerk("types").shown
    told = stellwerk("types", "flow.if").shown
    for part in ("condition", "boolean", "yes", "an expression", "$input.amount > 1000"):
        assert part in told
    told = stellwerk("types", "http.request").shown
    for part in ("json, text or form", "6291456", "idempotency_header", '{"amount":1250}', "any"):
        assert part in told
    assert stellwerk("types", "flow.if", "--json").data["ports"] == ["true", "false"]
    missing = stellwerk("types", "flow.iff", "--json")
    assert missing.code == 3
    assert "flow.iff" in missing.shown


@pytest.mark.parametrize(
    "arguments",
    [("show", "r0"), ("replay", "r0"), ("decide", "t0", "x"), ("run", "nothing")],
    ids=" ".join,
)
def test_what_does_not_exist_is_not_found(stellwerk: Stellwerk, arguments: list[str]) -> None:
    assert stellwerk(*arguments).code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "payment", "--input", "{"),
        ("run", "payment", "--decide", "ask"),
        ("runs", "--limit", "0"),
        ("runs", "--status", "odd"),
        ("nonsense",),
    ],
    ids=" ".join,
)
def test_what_is_mistyped_is_bad_input(stellwerk: Stellwerk, arguments: list[str]) -> None:
    answer = stellwerk(*arguments)
    assert answer.code == 2
    assert answer.errors
