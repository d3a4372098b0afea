"""An office that works with the samples: a local cloud, and services that its runs call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from localcloud.cli.hosting import seed
from localcloud.cli.views import RunView, TaskView, open_tasks, run_view
from localcloud.cloud import LocalCloud
from stellwerk.bootstrap import Services, build
from stellwerk.bootstrap import services as provider
from stellwerk.config import Settings
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler
from tests.samples.cases import Asked, Case, graph, samples
from tests.toolboxes.server import Server, running

SCOPE = seeded()
PATIENCE = 20.0
T = TypeVar("T")


@dataclass(frozen=True)
class Office:
    """Where the samples are published."""

    services: Services
    server: Server

    def run(self, case: Case) -> tuple[RunView, dict[str, int]]:
        """Run a case to its end; return the run, and the requests that it made."""
        self.server.sent.clear()
        payload = case.payload(self.server.place)
        run = self.services.runs.start(
            SCOPE, case.sample, trigger=None, payload=payload, delivery=None
        )
        for asked in case.expected.decisions:
            self._decide(run.id, asked)
        view = _awaited(lambda: self._ended(run.id), f"the end of {case}")
        return view, Counter(f"{sent.method} {sent.path}" for sent in self.server.sent)

    def dry(self, case: Case) -> RunView:
        """Run a case dry, and answer whatever it asks, till it ends; return the run."""
        self.server.sent.clear()
        payload = case.payload(self.server.place)
        run = self.services.runs.start(SCOPE, case.sample, payload=payload, mode="dry")
        return _awaited(lambda: self._answered(run.id, case), f"the end of {case}")

    def _answered(self, run: RunId, case: Case) -> RunView | None:
        known = {asked.node: asked for asked in case.expected.decisions}
        for view in open_tasks(self.services, SCOPE, run):
            asked = known.get(view.step.rpartition(".")[2])
            port, data = (asked.port, asked.data) if asked else (view.task.ports[0], None)
            self.services.tasks.decide(SCOPE, view.task.id, port, data)
        return self._ended(run)

    def _decide(self, run: RunId, asked: Asked) -> None:
        task = _awaited(lambda: self._task(run, asked.node), f"a task of {asked.node}").task
        assert (list(task.assignees), task.title) == (asked.asks, asked.title)
        self.services.tasks.decide(SCOPE, task.id, asked.port, asked.data)

    def _task(self, run: RunId, node: str) -> TaskView | None:
        tasks = open_tasks(self.services, SCOPE, run)
        return next((view for view in tasks if view.step == node), None)

    def _ended(self, run: RunId) -> RunView | None:
        if self.services.runs.get(SCOPE, run).status.open:
            return None
        return run_view(self.services, SCOPE, run)


@contextmanager
def opened() -> Iterator[Office]:
    """Open an office in which all samples are published."""
    with running() as server:
        settings = Settings.of({"STELLWERK_HTTP_ALLOW": server.place})
        with LocalCloud(settings=settings, on_start=seed) as cloud:
            services = build(settings, cloud.clients, compiler=GraphCompiler())
            provider.provide(lambda: services)
            for sample in samples():
                services.workflows.publish(SCOPE, graph(sample), slug=sample)
            yield Office(services, server)


def matches(wanted: JsonValue, found: JsonValue) -> bool:
    """Return whether a value is as wanted; objects may have further fields."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(name in found and matches(wanted[name], found[name]) for name in wanted)
    return wanted == found


def _awaited(look: Callable[[], T | None], what: str) -> T:
    until = time.monotonic() + PATIENCE
    while (found := look()) is None:
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not come within {PATIENCE:.0f} s")
        time.sleep(0.01)
    return found
