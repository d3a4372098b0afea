"""Events over real HTTP: each exactly once and in order, however often a client is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import httpx2
import pytest

from localcloud.cli.hosting import hosted
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject
from tests.api.sse import Event, read
from tests.api.test_web import signed_in
from tests.api.things import ANY
from tests.api.world import DEMO, GRAPH, STRAIGHT

LOOP: JsonObject = {
    "title": "Loop",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "lines", "type": "flow.for_each", "parameters": {"items": "{{ $trigger }}"}},
        {
            "key": "note",
            "parent": "lines",
            "type": "data.set",
            "parameters": {"fields": {"text": "{{ $item }}"}},
        },
        {
            "key": "more",
            "parent": "lines",
            "type": "data.set",
            "parameters": {"fields": {"text": "{{ $item }}"}},
        },
    ],
    "edges": [{"from": "start", "to": "lines"}, {"from": "note", "to": "more"}],
}
PASSES = 120
OVER = "run.completed"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """The API of a local cloud over HTTP, for the administrator of m-demo."""
    settings = Settings.of({"STELLWERK_DATA": str(tmp_path_factory.mktemp("watch"))})
    with hosted(replace(settings, rate_limit=0), api_port=0) as connection:
        assert connection.api is not None
        token = signed_in(connection.api, "u-demo")
        headers = {"Authorization": f"Bearer {token}", **ANY}
        with httpx2.Client(base_url=connection.api, headers=headers, timeout=30.0) as client:
            yield client


def published(client: Any, graph: JsonObject) -> str:
    begun = client.post(f"{DEMO}/workflows", json={"title": "Watched", "graph": graph})
    assert begun.status_code == 201, begun.text
    workflow = str(begun.json()["workflow"]["id"])
    answer = client.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={})
    assert answer.is_success, answer.text
    return workflow


def started(client: Any, graph: JsonObject, payload: object) -> str:
    workflow = published(client, graph)
    run = client.post(f"{DEMO}/workflows/{workflow}/runs", json={"input": payload})
    assert run.status_code == 201, run.text
    return str(run.json()["id"])


def test_a_client_that_drops_every_50_events_gets_each_once_and_in_order(
    client: httpx2.Client,
) -> None:
    run = started(client, LOOP, [*range(PASSES)])
    got: list[Event] = []
    connections = 0
    while not got or got[-1].kind != OVER:
        connections += 1
        seen = {"Last-Event-ID": str(got[-1].id)} if got else {}
        with client.stream("GET", f"{DEMO}/runs/{run}/events", headers=seen) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            got += islice(read(answer.iter_lines()), 50)
    assert [event.id for event in got] == [*range(1, len(got) + 1)]
    assert connections >= len(got) // 50 > 5
    told = [(event.data.get("step"), event.kind) for event in got]
    assert len({*told}) + sum(kind == "loop.progress" for _, kind in told) >= len(told) - 1
    for index in range(100):
        step = f"lines[{index}].more"
        assert [kind for name, kind in told if name == step] == ["node.started", "node.succeeded"]
    progress = [event.data["counts"] for event in got if event.kind == "loop.progress"]
    assert progress[-1] == {
        "note": {"succeeded": PASSES - 100},
        "more": {"succeeded": PASSES - 100},
    }
    assert got[0].kind == "run.started"
    again = client.get(f"{DEMO}/runs/{run}/events", params={"after": len(got)})
    assert again.status_code == 204
    [*whole] = read(iter(client.get(f"{DEMO}/runs/{run}/events").text.splitlines()))
    assert whole == got


def test_a_stream_follows_a_run_that_waits_and_closing_it_changes_nothing(
    client: httpx2.Client,
) -> None:
    run = started(client, GRAPH, {"amount": 1})
    with client.stream("GET", f"{DEMO}/runs/{run}/events") as answer:
        events = read(answer.iter_lines())
        kinds = [next(events).kind]
        while kinds[-1] != "run.paused":
            kinds.append(next(events).kind)
    before = client.get(f"{DEMO}/runs/{run}").json()
    assert before["status"] == "paused"
    with client.stream("GET", f"{DEMO}/runs/{run}/events", params={"after": len(kinds)}) as answer:
        events = read(answer.iter_lines())
        cancelled = client.post(f"{DEMO}/runs/{run}/cancel")
        assert cancelled.is_success
        rest = [event.kind for event in events]
    assert rest[-1] == "run.cancelled"
    assert "node.cancelled" in rest


def test_whoever_may_not_read_the_run_may_not_watch_it(client: httpx2.Client) -> None:
    run = started(client, STRAIGHT, 1)
    there = f"/api/v1/mandates/m-demo/instances/i-demo-auto/runs/{run}/events"
    assert client.get(there).status_code == 404
    assert client.get(f"{DEMO}/runs/nowhere/events").status_code == 404
    bad = client.get(f"{DEMO}/runs/{run}/events", headers={"Last-Event-ID": "soon"})
    assert bad.status_code == 400
