"""Trying a workflow from the command line, here and at an API: dry, or only a part of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from localcloud.cli.hosting import hosted
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.cli.conftest import Answer, invoke
from tests.cli.test_remote import Terminal
from tests.toolboxes.server import Server, running

Command = Callable[..., Answer]


def orders(server: Server, text: str = "{{ $nodes.look.status }}") -> str:
    """Return a workflow that looks something up, draws a number, sends it, and tells of it."""

    def ask(method: str) -> JsonObject:
        return {"url": server.url("/json"), "method": method}

    drawn: JsonObject = {"fields": {"number": "{{ $random() }}", "status": text}}
    nodes: list[JsonValue] = [
        {"key": "start", "type": "trigger.manual"},
        {"key": "look", "type": "http.request", "parameters": ask("GET")},
        {"key": "draw", "type": "data.set", "parameters": drawn},
        {"key": "send", "type": "http.request", "parameters": ask("POST")},
        {
            "key": "tell",
            "type": "data.set",
            "parameters": {"fields": {"told": "{{ $nodes.draw }}"}},
        },
    ]
    order = ["start", "look", "draw", "send", "tell"]
    edges: list[JsonValue] = [{"from": source, "to": target} for source, target in pairwise(order)]
    return json.dumps({"title": "Orders", "nodes": nodes, "edges": edges})


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def cloud(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    data = tmp_path_factory.mktemp("cloud")
    settings = Settings.of({"STELLWERK_DATA": str(data), "STELLWERK_HTTP_ALLOW": server.place})
    with hosted(settings, port=0, api_port=0) as connection:
        assert connection.api is not None
        yield data, connection.api


@pytest.fixture(params=["here", "at an API"])
def stellwerk(request: pytest.FixtureRequest, cloud: tuple[Path, str], tmp_path: Path) -> Command:
    """Run commands in both ways."""
    folder, api = cloud
    if request.param == "here":
        return lambda *arguments: invoke(folder, arguments)
    return Terminal(api, tmp_path / "anna").signed_in("u-demo")


@pytest.fixture
def file(server: Server, tmp_path: Path) -> Path:
    file = tmp_path / "orders.json"
    file.write_text(orders(server), encoding="utf-8")
    return file


def told(answer: Answer) -> dict[str, Mapping[str, JsonValue]]:
    """Return the steps of a run by node."""
    assert answer.code == 0, answer.shown + answer.errors
    steps = answer.data["steps"]
    assert isinstance(steps, Sequence)
    return {str(step["node"]): step for step in steps if isinstance(step, Mapping)}


def methods(server: Server) -> list[str]:
    """Return what was asked since the last time."""
    found = [sent.method for sent in server.sent]
    server.sent.clear()
    return found


def test_a_dry_run_reads_and_does_not_write(stellwerk: Command, server: Server, file: Path) -> None:
    methods(server)
    answer = stellwerk("run", str(file), "--mode", "dry", "--json")
    steps = told(answer)
    assert methods(server) == ["GET"]
    assert (answer.data["mode"], answer.data["status"]) == ("dry", "completed")
    assert {node for node, step in steps.items() if step["dry"]} == {"send"}
    shown = stellwerk("show", str(answer.data["id"])).shown
    assert "dry run: steps that would write answer with a sample" in shown
    assert "succeeded (dry)" in shown
    again = stellwerk("replay", str(answer.data["id"]), "--from", "send", "--json")
    assert again.data["mode"] == "dry", "and there are no writes to be confirmed"
    assert methods(server) == []


def test_a_part_runs_on_what_an_earlier_run_has_recorded(
    stellwerk: Command, server: Server, file: Path
) -> None:
    first = stellwerk("run", str(file), "--json")
    before, source = told(first), str(first.data["id"])
    methods(server)
    rest = ("orders", "--mode", "test", "--pinned-from", source, "--json")
    steps = told(stellwerk("run", "--from", "send", *rest))
    assert methods(server) == ["POST"]
    assert steps["draw"]["output"] == before["draw"]["output"]
    assert [steps[node]["recorded_from"] for node in ("look", "tell")] == [source, None]
    only = stellwerk("run", "--only", "draw", *rest)
    steps = told(only)
    assert methods(server) == []
    assert [steps[node]["status"] for node in ("draw", "send", "tell")] == [
        "succeeded",
        "skipped",
        "skipped",
    ]
    drawn = steps["draw"]["output"]
    assert drawn != before["draw"]["output"]
    assert only.data["output"] == {"draw": drawn}
    assert "test run" in stellwerk("show", str(only.data["id"])).shown


def test_values_are_pinned_as_typed_or_from_a_file(
    stellwerk: Command, server: Server, file: Path, tmp_path: Path
) -> None:
    assert stellwerk("publish", str(file)).code == 0
    value = tmp_path / "draw.json"
    value.write_text('{"number": 7}', encoding="utf-8")
    methods(server)
    pins = ("--pin", "start={}", "--pin", "look=1", "--pin", f"draw=@{value}", "--pin", "send=null")
    asked = ("run", "orders", "--mode", "dry", "--only", "tell", *pins, "--json")
    assert told(stellwerk(*asked))["tell"]["output"] == {"told": {"number": 7}}
    assert methods(server) == []


def test_what_has_no_recorded_value_is_named(
    stellwerk: Command, server: Server, file: Path, tmp_path: Path
) -> None:
    source = str(stellwerk("run", str(file), "--json").data["id"])
    file.write_text(orders(server, "{{ $nodes.look.body }}"), encoding="utf-8")
    part = ("--from", "send", "--pinned-from", source)
    refused = stellwerk("run", str(file), "--mode", "test", *part)
    assert refused.code == 2
    assert "changed since: draw." in " ".join(refused.errors.split())
    live = stellwerk("run", str(file), *part)
    assert live.code == 2
    assert "A live run starts at its trigger" in live.errors
    both = stellwerk("run", str(file), "--only", "send", *part)
    assert both.code == 2
    assert "not both" in both.errors
    nobodys = stellwerk("run", "orders", "--mode", "dry", "--from", "send", "--pinned-from", "r0")
    assert nobodys.code == 3
