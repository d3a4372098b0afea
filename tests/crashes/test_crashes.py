"""Each step, ended at each of its store calls: nothing twice unnoticed, nothing lost."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from localcloud.cloud import LocalCloud
from stellwerk.bootstrap import Services, build
from stellwerk.config import Settings
from stellwerk.kernel.errors import EffectUncertain
from stellwerk.kernel.ids import ROOT, NodeKey, RunId, new_id
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import Run, RunStatus, Step, StepKey, StepStatus, TriggeredBy
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version
from tests.crashes.victim import Context

SCOPE = seeded()
VICTIM = Path(__file__).parent / "victim.py"
MOST_CALLS = 20
LEASE = 1.2
"""Seconds after which the lease of a step with a timeout of 1 s is over."""


class Counting(ThreadingHTTPServer):
    """Counts the requests that reach it, by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.counts: dict[str, int] = {}
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Counting

    def do_POST(self) -> None:
        with self.server.lock:
            self.server.counts[self.path] = self.server.counts.get(self.path, 0) + 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@dataclass
class Scene:
    """A published workflow on a local cloud that outlives the processes of its steps."""

    cloud: LocalCloud
    services: Services
    outside: Counting
    version: Version

    def run(self) -> Run:
        now = datetime.now(UTC)
        return self.services.assembly.world.runs.create(
            SCOPE,
            Run(
                id=RunId(new_id(now)),
                mandate=SCOPE.mandate,
                instance=SCOPE.instance,
                user=SCOPE.user,
                workflow=self.version.workflow,
                version=self.version.number,
                status=RunStatus.RUNNING,
                trigger=TriggeredBy(node=NodeKey("start"), delivery=new_id(now)),
                started=now,
            ),
        )

    def event(self, run: Run, node: str, phase: str) -> JsonObject:
        reference: JsonObject = {
            "id": run.id,
            "mandate": run.mandate,
            "instance": run.instance,
            "user": run.user,
            "workflow": run.workflow,
            "version": run.version,
            "execution": 1,
            "trigger": "start",
            "started": run.started.isoformat(),
            "origin": run.id,
            "mode": "live",
        }
        event: JsonObject = {"run": reference, "path": "", "node": node}
        if phase:
            event |= {"phase": phase, "token": "t"}
        return event

    def step(self, run: Run, node: str) -> Step | None:
        key = StepKey(path=ROOT, node=NodeKey(node))
        return self.services.assembly.world.journal.read(SCOPE, run.id, [key]).get(key)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Counting() as outside:
        threading.Thread(target=outside.serve_forever, daemon=True).start()
        settings = Settings.of({"STELLWERK_HTTP_ALLOW": outside.address})
        with LocalCloud(port=0, settings=settings) as cloud:
            services = build(settings, cloud.clients, compiler=GraphCompiler())
            _, version = services.workflows.publish(SCOPE, _graph(outside.address), title="Crash")
            yield Scene(cloud, services, outside, version)
        outside.shutdown()


def _graph(address: str) -> Graph:
    def call(method: str) -> JsonObject:
        url = f"http://{address}/{method}/{{{{ $run.id }}}}"
        return {"type": "http.request", "timeout": 1, "parameters": {"method": method, "url": url}}

    nodes: list[JsonObject] = [
        {"key": "start", "type": "trigger.manual"},
        {"key": "write", **call("POST")},
        {"key": "read", **call("GET")},
        {"key": "pure", "type": "data.set", "timeout": 1},
        {"key": "ask", "type": "input.approval", "parameters": {"assignees": ["role:finance"]}},
    ]
    edges = [{"from": "start", "to": node["key"]} for node in nodes[1:]]
    return Graph.model_validate({"nodes": nodes, "edges": edges})


HANDLERS = {
    "write": "toolboxes.http.request.handler",
    "read": "toolboxes.http.request.handler",
    "pure": "nodes.data.set.handler",
    "ask": "nodes.input.approval.handler",
}


def _kill(scene: Scene, run: Run, node: str, phase: str, nth: int, when: str) -> int | None:
    """Handle an event in a process that ends at its nth call; return its number of calls if not."""
    event = json.dumps(scene.event(run, node, phase))
    endpoint = str(scene.cloud.endpoint)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.crashes.victim",
            endpoint,
            scene.outside.address,
            HANDLERS[node],
            event,
            str(nth),
            when,
        ],
        cwd=VICTIM.parents[2],
        env={"PYTHONPATH": "layers/core:functions:.", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, 9}, done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def _again(scene: Scene, run: Run, node: str, phase: str) -> JsonObject:
    handler = importlib.import_module(HANDLERS[node]).handler
    reply: JsonObject = handler.serve(scene.event(run, node, phase), Context(), scene.services)
    return reply


def _deaths(scene: Scene, node: str, phase: str = "", before: str = "") -> list[tuple[Run, str]]:
    """Kill a process at each of its store calls, before and after; return the runs and moments."""

    def prepared() -> Run:
        run = scene.run()
        if before:
            _again(scene, run, node, before)
        return run

    for _ in range(2):  # what is told first of its kind costs one call more
        calls = _kill(scene, prepared(), node, phase, MOST_CALLS + 1, "after")
    assert calls
    moments = [(nth, when) for nth in range(1, calls + 1) for when in ("before", "after")]
    runs = [prepared() for _ in moments]
    with ThreadPoolExecutor(2) as pool:
        survived = list(
            pool.map(
                lambda at: _kill(scene, at[0], node, phase, *at[1]),
                zip(runs, moments, strict=True),
            )
        )
    assert survived == [None] * len(moments)
    sys.stdout.write(f"\n{node} {phase}: ended at {calls} store calls, before and after each\n")
    time.sleep(LEASE)
    return [(run, f"{when} call {nth}") for run, (nth, when) in zip(runs, moments, strict=True)]


def test_a_write_happens_once_or_is_flagged_uncertain(scene: Scene) -> None:
    uncertain = 0
    for run, moment in _deaths(scene, "write"):
        step = scene.step(run, "write")
        in_flight = step is not None and step.status is StepStatus.RUNNING
        if in_flight:
            with pytest.raises(EffectUncertain):
                _again(scene, run, "write", "")
            uncertain += 1
        else:
            assert _again(scene, run, "write", "")["port"] == "out", moment
        effects = scene.outside.counts.get(f"/POST/{run.id}", 0)
        assert effects <= 1, moment
        assert effects == 1 or in_flight, moment
    assert uncertain


@pytest.mark.parametrize("node", ["read", "pure"])
def test_what_only_reads_succeeds_on_the_next_try(scene: Scene, node: str) -> None:
    for run, moment in _deaths(scene, node):
        assert _again(scene, run, node, "")["port"] == "out", moment
        step = scene.step(run, node)
        assert step is not None
        assert step.status is StepStatus.SUCCEEDED, moment


def test_a_question_is_asked_once(scene: Scene) -> None:
    for run, moment in _deaths(scene, "ask", "wait", before="open"):
        _again(scene, run, "ask", "wait")
        tasks = scene.services.assembly.world.tasks.of_run(SCOPE, run.id)
        assert len(tasks) == 1, moment
        found = scene.services.runs.get(SCOPE, run.id)
        assert (found.status, found.waits) == (RunStatus.PAUSED, 1), moment


def test_the_terms_of_a_question_are_set_once(scene: Scene) -> None:
    for run, moment in _deaths(scene, "ask", "open"):
        first = scene.step(run, "ask")
        seconds = _again(scene, run, "ask", "open")["seconds"]
        assert isinstance(seconds, int), moment
        step = scene.step(run, "ask")
        assert step is not None
        assert first is None or first.due == step.due, moment
