"""How long the API takes for what people do most, by HTTP, and what that costs in requests.

The cloud keeps its data on disk. Each is asked for after what it follows from is over, so that only
the request itself is measured; a run that it starts goes on beside it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import cast

from benchmarks.measure import Row
from benchmarks.served import Answered, Caller, Served, served
from stellwerk.kernel.json import JsonObject, JsonValue

TIMES, WARM = 200, 20
WORKFLOWS = 60
"""A list's page has 50."""
CLIENTS, SAVES = 8, 20
PATIENCE = 30.0
NODES = 20
AIM = 50.0
"""Milliseconds of the slowest in twenty that only read."""


def rows() -> Iterator[Row]:
    """Yield p50 and p95 of each operation, with its requests to DynamoDB."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), kept=True) as api:
        anna, ben = api.caller("u-demo"), api.caller("u-demo-user")
        first = anna.ask("POST", "/workflows", body={"title": "First"})
        payment = published(anna, asking())
        for number in range(WORKFLOWS):
            begun(anna, chain(NODES), f"Order {number}")
        draft = begun(anna, chain(NODES), "Draft")
        yield from _timed("list workflows", lambda: anna.ask("GET", "/workflows"), AIM)
        yield from _timed("get workflow", lambda: anna.ask("GET", f"/workflows/{draft}"), AIM)
        yield from _timed("save draft of 20 nodes", _Saving(anna, draft))
        straight = published(anna, chain(1))
        yield from _timed("start run", Starting(anna, straight))
        yield from _timed("decide task", _Deciding(anna, ben, payment))
        yield from _timed("list runs", lambda: anna.ask("GET", "/runs"), AIM)
        yield from _audit(api, first)


class _Saving:
    """Saves a draft again and again, each time another graph, at the state of the last time."""

    def __init__(self, caller: Caller, workflow: str) -> None:
        self._caller = caller
        self._path = f"/workflows/{workflow}/drafts/1"
        self._tag = caller.ask("GET", self._path).tag
        self._times = 0

    def __call__(self) -> Answered:
        self._times += 1
        graph = chain(NODES) | {"title": f"Saved {self._times} times"}
        saved = self._caller.ask("PUT", self._path, body=graph, match=self._tag)
        self._tag = saved.tag
        return saved


class Starting:
    """Starts a run when the last one is over."""

    def __init__(self, caller: Caller, workflow: str) -> None:
        self._caller = caller
        self._path = f"/workflows/{workflow}/runs"
        self._last: JsonValue = None

    def __call__(self) -> Answered:
        """Start one."""
        self.rest()
        started = self._caller.ask("POST", self._path, body={"input": {"amount": 12}})
        self._last = started.body["id"]
        return started

    def rest(self) -> None:
        """Wait until the last run is over."""
        if self._last is not None:
            _until(self._over)

    def _over(self) -> bool:
        return self._caller.ask("GET", f"/runs/{self._last}").body["status"] == "completed"


class _Deciding:
    """Lets a run ask, waits until it does, and decides."""

    def __init__(self, starter: Caller, decider: Caller, workflow: str) -> None:
        self._starter = starter
        self._decider = decider
        self._path = f"/workflows/{workflow}/runs"

    def __call__(self) -> Answered:
        self._starter.ask("POST", self._path, body={"input": {"amount": 12}})
        task = _until(self._asked)
        time.sleep(0.01)  # until what led to the task has come to rest
        return self._decider.ask("POST", f"/tasks/{task}/decide", body={"port": "approved"})

    def _asked(self) -> str | None:
        items = cast("list[JsonObject]", self._decider.ask("GET", "/tasks").body["items"])
        return str(items[0]["id"]) if items else None


def _audit(api: Served, first: Answered) -> Iterator[Row]:
    """Yield what the audit costs the first change of a process, and each of many at once."""
    note = "reads the end of the chain, then begun and done as each"
    yield Row("audit of a process's first change", first.cost.named, "requests", note=note)
    callers = [api.caller("u-demo") for _ in range(CLIENTS)]
    saving = [_Saving(each, begun(each, chain(1), f"Desk {at}")) for at, each in enumerate(callers)]
    audit = api.cloud.settings.audit_table
    before, since = api.counts.now(audit), time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda save: [save() for _ in range(SAVES)], saving))
    passed = time.perf_counter() - since
    each = api.counts.since(before, audit).named / CLIENTS / SAVES
    note = f"{each:.1f} requests each to the audit, whose one chain all of a mandate append to"
    yield Row(f"{CLIENTS} clients save drafts", CLIENTS * SAVES / passed, "drafts/s", note=note)


def _timed(what: str, ask: Callable[[], Answered], aim: float | None = None) -> Iterator[Row]:
    answers = [ask() for _ in range(WARM + TIMES)][WARM:]
    taken, cost = [answer.ms for answer in answers], answers[-1].cost
    audit = f", {cost.named} of them to the audit" if cost.named else ""
    note = f"{cost.requests} requests to DynamoDB{audit}"
    yield Row(f"{what}, p50", statistics.median(taken), "ms", note=note)
    yield Row(f"{what}, p95", statistics.quantiles(taken, n=20)[-1], "ms", aim)


def _until(found: Callable[[], str | bool | None]) -> str | bool:
    end = time.monotonic() + PATIENCE
    while not (answer := found()):
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not happen")
        time.sleep(0.005)
    return answer


def begun(caller: Caller, graph: JsonObject, title: str) -> str:
    """Return the id of a new workflow with a graph as its draft."""
    body: JsonObject = {"title": title, "graph": graph}
    begun = caller.ask("POST", "/workflows", body=body)
    return str(cast("JsonObject", begun.body["workflow"])["id"])


def published(caller: Caller, graph: JsonObject) -> str:
    """Return the id of a new workflow with a published graph."""
    workflow = begun(caller, graph, str(graph["title"]))
    path = f"/workflows/{workflow}"
    draft = caller.ask("GET", f"{path}/drafts/1")
    caller.ask("POST", f"{path}/versions/1/publish", body={}, match=draft.tag)
    return workflow


def chain(size: int) -> JsonObject:
    """Return a graph of a trigger and `size` steps after each other."""
    nodes: list[JsonValue] = [{"key": "start", "type": "trigger.manual"}]
    keys = ["start", *(f"n{number}" for number in range(size))]
    nodes += [
        {"key": key, "type": "data.set", "parameters": {"fields": {"sum": "{{ $trigger.amount }}"}}}
        for key in keys[1:]
    ]
    edges: list[JsonValue] = [{"from": source, "to": target} for source, target in pairwise(keys)]
    return {"title": f"Chain of {size}", "nodes": nodes, "edges": edges}


def asking() -> JsonObject:
    """Return a graph that asks a person."""
    asks: JsonObject = {"title": "Pay {{ $trigger.amount }}?", "assignees": ["u-demo-user"]}
    return {
        "title": "Payment",
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "ask", "type": "input.approval", "parameters": asks},
            {"key": "paid", "type": "data.set"},
        ],
        "edges": [
            {"from": "start", "to": "ask"},
            {"from": "ask", "port": "approved", "to": "paid"},
        ],
    }
