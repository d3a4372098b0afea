from __future__ import annotations

import json
from pathlib import Path

import pytest

from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import CALLED, Answer, Stellwerk, calling, invoke

PAYLOAD = ("--input", '{"who": "dario"}')


@pytest.fixture
def outer(stellwerk: Stellwerk, tmp_path: Path) -> str:
    """A workflow that calls one that calls one that asks a person; all are published."""
    for slug, graph in (("ask", CALLED), ("middle", calling("ask")), ("outer", calling("middle"))):
        file = tmp_path / f"{slug}.json"
        file.write_text(json.dumps(graph), encoding="utf-8")
        assert stellwerk("publish", str(file)).code == 0
    return "outer"


def call(data: JsonObject) -> JsonObject:
    calls = data["calls"]
    assert isinstance(calls, list)
    assert len(calls) == 1
    assert isinstance(calls[0], dict)
    return calls[0]


def step(data: JsonObject, node: str) -> JsonObject:
    steps = data["steps"]
    assert isinstance(steps, list)
    return next(each for each in steps if isinstance(each, dict) and each["node"] == node)


def started(stellwerk: Stellwerk, outer: str, *options: str) -> Answer:
    return stellwerk("run", outer, *PAYLOAD, *options)


def test_the_story_of_a_run_goes_on_in_those_that_it_called(
    stellwerk: Stellwerk, outer: str
) -> None:
    run = started(stellwerk, outer, "--json").data
    middle = call(run)
    inner = call(middle)
    assert step(run, "call")["child"] == middle["id"]
    assert step(middle, "call")["child"] == inner["id"]
    assert (middle["step"], inner["title"], inner["calls"]) == ("call", "Ask", [])
    assert step(inner, "ask")["status"] == "waiting"

    lines = stellwerk("show", str(run["id"])).shown.splitlines()
    row = next(line for line in lines if line.startswith("call "))
    assert str(middle["id"]) in row
    assert any(line.startswith("  Calls ask v1 · run ") for line in lines)
    assert any(line.startswith("  called by step call of run ") for line in lines)
    assert any(line.startswith(f"    Ask v1 · run {inner['id']} · paused") for line in lines)
    assert any(line.startswith("    ask ") and "waiting" in line for line in lines)
    assert f"called by step call of run {run['id']}" in stellwerk("show", str(middle["id"])).shown


def test_calls_are_followed_as_deep_as_asked_and_named_beyond(
    stellwerk: Stellwerk, outer: str
) -> None:
    run = str(started(stellwerk, outer, "--json").data["id"])
    middle = call(stellwerk("show", run, "--depth", "1", "--json").data)
    assert set(call(middle)) == {"step", "id"}
    shown = stellwerk("show", run, "--depth", "0").shown
    assert str(middle["id"]) in shown
    assert "Calls ask" not in shown
    assert "1 called run is not told here: stellwerk show RUN" in shown
    assert stellwerk("show", run, "--depth", "11").code == 2


def test_of_many_calls_only_some_are_told_in_full(stellwerk: Stellwerk, tmp_path: Path) -> None:
    nothing = {"nodes": [{"key": "begin", "type": "trigger.called"}]}
    each = {"key": "lines", "type": "flow.for_each", "parameters": {"items": list(range(22))}}
    inner = {"key": "call", "type": "flow.subworkflow", "parent": "lines"}
    graph = {
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            each,
            {**inner, "parameters": {"workflow": "nothing"}},
        ],
        "edges": [{"from": "start", "to": "lines"}],
    }
    for slug, content in (("nothing", nothing), ("many", graph)):
        (tmp_path / f"{slug}.json").write_text(json.dumps(content), encoding="utf-8")
        assert stellwerk("publish", str(tmp_path / f"{slug}.json")).code == 0
    run = stellwerk("run", "many", "--json").data
    calls = run["calls"]
    assert isinstance(calls, list)
    told = [each for each in calls if isinstance(each, dict) and "steps" in each]
    assert (len(calls), len(told)) == (22, 20)
    assert "2 called runs are not told here" in stellwerk("show", str(run["id"])).shown


def test_a_trigger_shows_what_it_received(stellwerk: Stellwerk, outer: str) -> None:
    run = started(stellwerk, outer, "--json").data
    assert step(run, "start")["input"] == {"who": "dario"}
    assert step(call(run), "start")["input"] == {"who": "dario"}
    shown = stellwerk("show", str(run["id"])).shown
    assert "schema" not in shown
    assert '{"who":"dario"}' in shown


def test_a_trigger_that_received_nothing_shows_nothing(
    stellwerk: Stellwerk, tmp_path: Path
) -> None:
    file = tmp_path / "alone.json"
    file.write_text('{"nodes": [{"key": "start", "type": "trigger.manual"}]}', encoding="utf-8")
    answer = stellwerk("run", str(file), "--json").data
    assert step(answer, "start")["input"] is None
    row = stellwerk("show", str(answer["id"])).shown.splitlines()[-1].split()
    assert row[:4] == ["start", "succeeded", "out", "1"]
    assert "input" not in stellwerk("show", str(answer["id"])).shown


def test_a_decision_beforehand_carries_what_the_form_asks_for(
    stellwerk: Stellwerk, outer: str, tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    file.write_text('{"amount": 7}', encoding="utf-8")
    for entry, amount in (('ask=submitted:{"amount": 12}', 12), (f"ask=submitted:@{file}", 7)):
        answer = started(stellwerk, outer, "--decide", entry, "--json")
        assert answer.code == 0
        assert answer.data["status"] == "completed"
        given = step(call(call(answer.data)), "ask")["output"]
        assert isinstance(given, dict)
        assert given["data"] == {"amount": amount}


def test_a_replay_takes_decisions_with_data_too(stellwerk: Stellwerk, outer: str) -> None:
    decide = ("--decide", 'ask=submitted:{"amount": 12}')
    before = started(stellwerk, outer, *decide, "--json").data
    after = stellwerk("replay", str(before["id"]), "--from", "call", "--yes", *decide)
    assert after.code == 0
    assert f"replays run {before['id']}" in after.shown


@pytest.mark.parametrize(
    ("entry", "code", "said"),
    [
        ("ask=submitted:{", 2, "--decide ask=submitted: what follows is not JSON"),
        ("ask=submitted:", 2, "--decide ask=submitted: what follows is not JSON"),
        ("ask=submitted:@absent.json", 3, "no file absent.json"),
        ("ask=", 2, "names no outcome"),
        ("ask", 2, "not 'ask'"),
    ],
)
def test_a_decision_that_cannot_be_read_is_refused_before_anything_runs(
    stellwerk: Stellwerk, outer: str, entry: str, code: int, said: str
) -> None:
    answer = started(stellwerk, outer, "--decide", entry)
    assert (answer.code, answer.shown) == (code, "")
    assert said in answer.errors


def test_data_that_the_form_refuses_ends_with_2_and_says_what_the_run_waits_for(
    stellwerk: Stellwerk, outer: str
) -> None:
    answer = started(stellwerk, outer, "--decide", "ask=submitted:{}")
    assert answer.code == 2
    assert "'amount' is a required property" in answer.errors
    assert "The run waits for: stellwerk decide " in answer.errors


def test_a_decision_for_a_node_that_asks_nothing_is_mentioned(
    stellwerk: Stellwerk, outer: str
) -> None:
    answer = started(stellwerk, outer, "--decide", "aks=submitted")
    assert answer.code == 0
    assert "no task of it has opened: aks" in answer.shown


def test_the_command_that_answers_is_shown_with_the_fields_that_it_needs(
    stellwerk: Stellwerk, outer: str, folder: Path
) -> None:
    run = started(stellwerk, outer, "--json").data
    tasks = run["tasks"]
    assert isinstance(tasks, list)
    assert isinstance(tasks[0], dict)
    command = f"stellwerk decide {tasks[0]['id']} submitted --data '{{\"amount\": …}}'"
    for columns in ("80", "120"):
        for words in (("show", str(run["id"])), ("tasks",)):
            shown = invoke(folder, words, columns).shown
            assert command in shown
            assert "(required)" in shown
            assert "note" in shown


def test_help_says_how_a_decision_carries_data(stellwerk: Stellwerk) -> None:
    for command in ("run", "replay"):
        assert "NODE=PORT[:JSON|:@FILE]" in stellwerk(command, "--help").shown


def test_the_other_company_calls_in_the_name_of_its_own_people(
    stellwerk: Stellwerk, tmp_path: Path
) -> None:
    there = ("--mandate", "m-nord", "--instance", "i-nord")
    for slug, graph in (("ask", CALLED), ("middle", calling("ask"))):
        file = tmp_path / f"{slug}.json"
        file.write_text(json.dumps(graph), encoding="utf-8")
        assert stellwerk(*there, "publish", str(file)).code == 0
    shown = stellwerk(*there, "run", "middle", *PAYLOAD, "--json")
    assert shown.data["status"] == "paused", shown.shown
    assert call(shown.data)["title"] == "Ask"
