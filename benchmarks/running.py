"""How fast runs go on the local cloud, measured from outside: start to completed, by the services.

The shapes are those of the peers' table: chains, a fan-out, a loop of 200 items with two steps
each, the resumption of a paused run, eight clients at once.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.compiling import chain
from benchmarks.counting import CountingClients
from benchmarks.measure import Row, memory_mb
from localcloud.cloud import LocalCloud
from stellwerk.bootstrap import Services, build
from stellwerk.bootstrap import services as provider
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import RunStatus
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.graph import Graph

SCOPE = seeded()
PATIENCE = 60.0
CLIENTS, CALLS = 8, 160
FLAT_RUNS = 500


def rows() -> Iterator[Row]:
    """Yield what was measured on a local cloud that keeps its data on disk."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with LocalCloud(Path(folder) / "data", port=0) as cloud:
            services = build(cloud.settings, cloud.clients, compiler=GraphCompiler())
            provider.provide(lambda: services)
            yield Row("start-up of an empty local cloud", _since(began), "ms")
            yield Row("idle memory", memory_mb(), "MiB", note="with moto, before the first run")
            yield from _shapes(services)
            yield from _flat(services)
            yield _requests(cloud)


def _shapes(services: Services) -> Iterator[Row]:
    ten, hundred = _median(services, chain(10), 15), _median(services, chain(100), 5)
    yield Row("chain of 10", ten, "ms", 34)
    yield Row("chain of 100", hundred, "ms")
    yield Row("each further step", (hundred - ten) / 90, "ms")
    yield Row("fan-out of 10 and merge", _median(services, _fan_out(10), 10), "ms")
    yield Row("loop of 200 items x 2 steps", _median(services, _loop(200), 5), "ms", 352)
    yield Row("resume a paused run", _resume(services, 15), "ms", 64)
    yield Row(f"{CLIENTS} clients, chain of 10", _throughput(services, chain(10)), "runs/s")


def _flat(services: Services) -> Iterator[Row]:
    workflow = _publish(services, chain(3))
    for _ in range(50):
        _run(services, workflow)
    before = memory_mb()
    for _ in range(FLAT_RUNS):
        _run(services, workflow)
    grown = (memory_mb() - before) / FLAT_RUNS * 1024
    yield Row("memory after 500 more runs, grown per run", grown, "KiB", note="data kept in memory")


def _requests(cloud: LocalCloud) -> Row:
    """Requests per node: what 90 further nodes in a chain add to a run."""
    clients = CountingClients(cloud.clients)
    services = build(cloud.settings, clients.as_clients, compiler=GraphCompiler())
    provider.provide(lambda: services)
    counts = []
    for size in (10, 100):
        workflow = _publish(services, chain(size))
        _run(services, workflow)
        before = clients.counts.now()
        run = _start(services, workflow)
        time.sleep(2)  # without looking at the run, which would count
        counts.append(clients.counts.since(before).requests)
        _await(services, run, RunStatus.COMPLETED)
    note = "one batch read, one write: computations"
    return Row("requests to DynamoDB per node", (counts[1] - counts[0]) / 90, "", note=note)


def _median(services: Services, graph: Graph, times: int) -> float:
    workflow = _publish(services, graph)
    _run(services, workflow)
    return statistics.median(_run(services, workflow) for _ in range(times))


def _run(services: Services, workflow: WorkflowId) -> float:
    """Start a run, wait until it is completed, and return the milliseconds that it took."""
    began = time.perf_counter()
    run = _start(services, workflow)
    _await(services, run, RunStatus.COMPLETED)
    return _since(began)


def _resume(services: Services, times: int) -> float:
    nodes: list[JsonValue] = [
        {"key": "t", "type": "trigger.manual"},
        {"key": "ask", "type": "input.approval", "parameters": {"assignees": ["role:user"]}},
        {"key": "after", "type": "data.set"},
    ]
    edges = [("t", "out", "ask"), ("ask", "approved", "after")]
    workflow = _publish(services, _drawn(nodes, edges))
    taken = []
    for _ in range(times):
        run = _start(services, workflow)
        _await(services, run, RunStatus.PAUSED)
        (task,) = (task for task in services.tasks.list(SCOPE).items if task.run == run)
        began = time.perf_counter()
        services.tasks.decide(SCOPE, task.id, "approved")
        _await(services, run, RunStatus.COMPLETED)
        taken.append(_since(began))
    return statistics.median(taken)


def _throughput(services: Services, graph: Graph) -> float:
    workflow = _publish(services, graph)
    began = time.perf_counter()
    _together(CLIENTS, lambda: [_run(services, workflow) for _ in range(CALLS // CLIENTS)])
    return CALLS / (_since(began) / 1000)


def _together(count: int, work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _publish(services: Services, graph: Graph) -> WorkflowId:
    title = f"bench {time.perf_counter_ns()}"
    workflow, _ = services.workflows.publish(SCOPE, graph, title=title)
    return workflow.id


def _start(services: Services, workflow: WorkflowId) -> RunId:
    return services.runs.start(SCOPE, workflow, trigger=None, payload={}, delivery=None).id


def _await(services: Services, run: RunId, status: RunStatus) -> None:
    """Ask until `run` stands at `status`; every millisecond, later every 1 % of what has passed.

    Asking a process takes its time: it must not become much of what is measured.
    """
    began, end = time.perf_counter(), time.monotonic() + PATIENCE
    while (found := services.runs.get(SCOPE, run).status) is not status:
        if time.monotonic() > end or found is RunStatus.FAILED:
            raise TimeoutError(f"run {run} is {found}, not {status}")
        time.sleep(max(0.001, (time.perf_counter() - began) / 100))


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _fan_out(width: int) -> Graph:
    nodes: list[JsonValue] = [{"key": "t", "type": "trigger.manual"}]
    nodes += [{"key": f"n{i}", "type": "data.set"} for i in range(width)]
    nodes.append({"key": "merge", "type": "flow.merge", "parameters": {"mode": "append"}})
    edges = [("t", "out", f"n{i}") for i in range(width)]
    return _drawn(nodes, edges + [(f"n{i}", "out", "merge") for i in range(width)])


def _loop(items: int) -> Graph:
    nodes: list[JsonValue] = [
        {"key": "t", "type": "trigger.manual"},
        {
            "key": "each",
            "type": "flow.for_each",
            "parameters": {"items": f"{{{{ [1..{items}] }}}}", "max_items": items},
        },
        {"key": "a", "type": "data.set", "parent": "each"},
        {"key": "b", "type": "data.set", "parent": "each"},
    ]
    return _drawn(nodes, [("t", "out", "each"), ("a", "out", "b")])


def _drawn(nodes: list[JsonValue], edges: list[tuple[str, str, str]]) -> Graph:
    drawn: JsonObject = {
        "nodes": nodes,
        "edges": [{"from": source, "port": port, "to": target} for source, port, target in edges],
    }
    return Graph.model_validate(drawn)
