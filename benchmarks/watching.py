"""How late events reach somebody who watches a run over HTTP: from the journal to the client."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.compiling import chain
from benchmarks.measure import Row
from benchmarks.served import PLACE, Caller, Served, served
from stellwerk.kernel.json import JsonObject

RUNS, STEPS = 12, 20


def rows() -> Iterator[Row]:
    """Yield the delay of events of steps, one run at a time and four at once."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), kept=True) as cloud:
        caller = cloud.caller("u-demo")
        workflow = _published(caller)
        delays = sorted(delay for _ in range(RUNS) for delay in _watched(cloud, caller, workflow))
        note = f"chain of {STEPS}, {len(delays)} events"
        yield Row("SSE delay, median", statistics.median(delays), "ms", note=note)
        yield Row("SSE delay, p95", delays[int(len(delays) * 0.95)], "ms", 300, note=note)


def _published(caller: Caller) -> str:
    graph = chain(STEPS).model_dump(mode="json", by_alias=True)
    begun = caller.ask("POST", "/workflows", body={"title": "Chain", "graph": graph}).body
    workflow = begun["workflow"]
    assert isinstance(workflow, dict)
    name = str(workflow["id"])
    caller.ask("POST", f"/workflows/{name}/versions/1/publish", body={}, match="*")
    return name


def _watched(cloud: Served, caller: Caller, workflow: str) -> Iterator[float]:
    """Start a run and yield the delays of its steps' events, in milliseconds."""
    run = caller.ask("POST", f"/workflows/{workflow}/runs", body={"input": {}}).body["id"]
    where = urlsplit(cloud.address)
    connection = HTTPConnection(str(where.hostname), where.port)
    headers = {"Authorization": f"Bearer {caller.token}"}
    connection.request("GET", f"{PLACE}/runs/{run}/events", headers=headers)
    answer = connection.getresponse()
    while line := answer.readline():
        if line.startswith(b"data: "):
            event: JsonObject = json.loads(line[6:])
            if str(event["kind"]).startswith("node."):
                at = datetime.fromisoformat(str(event["at"]))
                yield (datetime.now(UTC) - at).total_seconds() * 1000
    connection.close()
