"""`watch` and `stats`, on the local cloud and at an API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from localcloud.cli.remote import Answer as Reply
from localcloud.cli.remote import Parameter
from localcloud.cli.remote_watching import TRIES, RemoteWatching
from stellwerk.kernel.errors import ServiceUnavailable
from tests.cli.conftest import Answer, Stellwerk

FAILING = {
    "title": "Failing",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "stop", "type": "flow.stop", "parameters": {"outcome": "error"}},
    ],
    "edges": [{"from": "start", "to": "stop"}],
}


def run_of(answer: Answer) -> str:
    return str(answer.data["id"])


def completed(answer: Answer) -> int:
    total = answer.data["total"]
    assert isinstance(total, dict)
    return int(str(total["completed"]))


def test_a_run_is_watched_to_its_end(stellwerk: Stellwerk, payment: str) -> None:
    run = run_of(stellwerk("run", payment, "--input", '{"amount": 5}', "--json"))
    answer = stellwerk("watch", run)
    assert answer.code == 0
    lines = answer.shown.splitlines()
    assert "run.started" in lines[0]
    assert "run.completed" in lines[-1]
    assert any("large node.succeeded → false" in line for line in lines)
    events = [json.loads(line) for line in stellwerk("watch", run, "--json").shown.splitlines()]
    assert [event["seq"] for event in events] == [*range(1, len(lines) + 1)]
    rest = stellwerk("watch", run, "--after", str(len(events) - 1), "--json")
    assert json.loads(rest.shown)["kind"] == "run.completed"
    assert stellwerk("watch", run, "--after", str(len(events))).shown == ""


def test_watching_a_run_that_fails_ends_with_1(stellwerk: Stellwerk, tmp_path: Path) -> None:
    file = tmp_path / "failing.json"
    file.write_text(json.dumps(FAILING), encoding="utf-8")
    run = run_of(stellwerk("run", str(file), "--json"))
    answer = stellwerk("watch", run)
    assert answer.code == 1
    assert "StoppedWithError" in answer.shown


def test_a_run_that_is_not_there_ends_with_3(stellwerk: Stellwerk) -> None:
    assert stellwerk("watch", "nowhere").code == 3


def test_stats_add_up_for_a_workflow_and_for_all(stellwerk: Stellwerk, payment: str) -> None:
    before = completed(stellwerk("stats", "--json"))
    stellwerk("run", payment, "--input", '{"amount": 5}', "--json")
    assert completed(stellwerk("stats", "--json")) == before + 1
    shown = stellwerk("stats", "--workflow", "payment")
    assert shown.code == 0
    assert "completed" in shown.shown
    assert datetime.now(UTC).date().isoformat() in shown.shown
    past = stellwerk("stats", "--since", "2020-01-01", "--until", "2020-01-02", "--json").data
    assert past["days"] == []
    assert stellwerk("stats", "--since", "yesterday").code == 2
    assert stellwerk("stats", "--workflow", "nothing").code == 3


class Broken:
    """An API that breaks off some times, and tells one event a connection."""

    def __init__(self, failures: int) -> None:
        self._left = failures

    def get(self, path: str, params: Mapping[str, Parameter] | None = None) -> Reply:
        raise AssertionError(path)

    @contextmanager
    def stream(self, path: str, params: Mapping[str, str | int]) -> Iterator[Iterator[str] | None]:
        assert path == "/here/runs/r/events"
        after = int(params["after"])
        if self._left:
            self._left -= 1
            raise ServiceUnavailable("cut off")
        event = json.dumps({"seq": after + 1})
        yield None if after == 2 else iter((f"id: {after + 1}", f"data: {event}", ""))


def test_a_connection_that_ends_is_made_again_from_the_last_event() -> None:
    watching = RemoteWatching(Broken(1), "/here")
    assert [event["seq"] for event in watching.events("r", 0)] == [1, 2]


def test_a_connection_that_never_stands_is_given_up() -> None:
    with pytest.raises(ServiceUnavailable):
        [*RemoteWatching(Broken(TRIES), "/here").events("r", 0)]
