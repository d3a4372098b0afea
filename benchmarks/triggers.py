"""What starts runs: webhooks under load, and how long it takes until the first node is at work."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.callers import called
from benchmarks.measure import Row
from benchmarks.served import Caller, served
from stellwerk.kernel.json import JsonObject, JsonValue

CALLERS, DELIVERIES, REPEATS = 50, 2000, 0.2
PACE = 20.0
"""Deliveries a second that this machine's two cores run to their end as they come."""
_TIMES = 30


def rows() -> Iterator[Row]:
    """Measure webhooks under load, then each kind of trigger alone."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), kept=True) as api:
        anna = api.caller("u-demo")
        url, workflow = hooked(anna)
        for pace in (PACE, 0.0):
            yield from _load(anna, url, workflow, pace)
        yield from _first_nodes(anna, url, workflow)


def hooked(anna: Caller, **parameters: JsonValue) -> tuple[str, str]:
    """Publish a workflow with a webhook; return its address and its id."""
    workflow = published(anna, "trigger.webhook", parameters)
    hooks = anna.ask("GET", f"/workflows/{workflow}/hooks").body["items"]
    assert isinstance(hooks, list)
    [hook] = hooks
    assert isinstance(hook, dict)
    return str(hook["url"]), workflow


def published(anna: Caller, trigger: str, parameters: JsonObject) -> str:
    """Publish a workflow of one trigger and one node; return its id."""
    graph: JsonObject = {
        "title": f"Measured {time.monotonic_ns()}",
        "nodes": [
            {"key": "begin", "type": trigger, "parameters": parameters},
            {"key": "note", "type": "data.set", "parameters": {"fields": {"a": 1}}},
        ],
        "edges": [{"from": "begin", "to": "note"}],
    }
    body: JsonObject = {"title": graph["title"], "graph": graph}
    begun = anna.ask("POST", "/workflows", body=body).body["workflow"]
    assert isinstance(begun, dict)
    anna.ask("POST", f"/workflows/{begun['id']}/versions/1/publish", body={}, match="*")
    return str(begun["id"])


def counted(anna: Caller, workflow: str) -> int:
    """Return how many runs a workflow has, when all are over."""
    anna.connection.close()  # it opens again: the server ends those that rest for seconds
    while True:
        found = anna.ask("GET", f"/runs/counts?workflow={workflow}").body
        counts = {name: number for name, number in found.items() if isinstance(number, int)}
        if not counts["running"] + counts["paused"]:
            return counts["completed"] + counts["failed"]
        time.sleep(0.2)


def _load(anna: Caller, url: str, workflow: str, pace: float) -> Iterator[Row]:
    before, began = counted(anna, workflow), time.perf_counter()
    taken = called(url, callers=CALLERS, deliveries=DELIVERIES, repeats=REPEATS, per_second=pace)
    seconds = time.perf_counter() - began
    new = counted(anna, workflow) - before
    wanted = len({each.delivery for each in taken})
    wrong = sum(each.status != 202 for each in taken)
    times = sorted(each.ms for each in taken)
    how = f"{pace:.0f} a second" if pace else "each as soon as it is answered"
    note = f"{new} runs of {wanted} deliveries, {wrong} refused, {len(taken) / seconds:.0f}/s"
    what = f"webhook, {CALLERS} callers, {DELIVERIES} deliveries with 20 % repeats, {how}: 202, p95"
    yield Row(what, times[int(len(times) * 0.95)], "ms", 300 if pace else None, note)
    yield Row("the same, p50", statistics.median(times), "ms")


def _first_nodes(anna: Caller, url: str, workflow: str) -> Iterator[Row]:
    event = published(anna, "trigger.event", {"pattern": {"source": ["bench"]}})
    told: JsonObject = {"source": "bench", "type": "t"}
    address = urlsplit(url)
    connection = HTTPConnection(str(address.hostname), address.port)

    def deliver() -> None:
        connection.request("POST", address.path, str(time.time_ns()))
        connection.getresponse().read()

    for name, of, send in (
        ("webhook", workflow, deliver),
        ("event", event, lambda: anna.ask("POST", "/events", body=told)),
    ):
        taken = [_first_node(anna, of, send) for _ in range(_TIMES)]
        yield Row(f"{name} to first node, median", statistics.median(taken), "ms")


def _first_node(anna: Caller, workflow: str, deliver: Callable[[], object]) -> float:
    """Return the ms from sending until the trigger's node of the new run is at work."""
    before, sent = counted(anna, workflow), datetime.now(UTC)
    deliver()
    while counted(anna, workflow) == before:
        time.sleep(0.002)
    [run] = _items(anna.ask("GET", f"/runs?workflow={workflow}&limit=1").body)
    begun = []
    for step in _items(anna.ask("GET", f"/runs/{run['id']}/steps").body):
        attempts = step["attempts"]
        assert isinstance(attempts, list)
        [attempt] = attempts
        assert isinstance(attempt, dict)
        begun.append(datetime.fromisoformat(str(attempt["started"])))
    return (min(begun) - sent).total_seconds() * 1000


def _items(page: JsonObject) -> Sequence[JsonObject]:
    items = page["items"]
    assert isinstance(items, list)
    return [item for item in items if isinstance(item, dict)]
