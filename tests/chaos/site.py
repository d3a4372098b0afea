"""A local cloud in a process of its own that is killed, and what is done from outside meanwhile."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from localcloud.clients import BotoClients
from localcloud.discovery import find_running
from localcloud.dynamodb.values import Item
from localcloud.storage import Storage
from stellwerk.bootstrap import Services, build
from stellwerk.config import Settings
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Run, Step, StepStatus
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler
from tests.chaos.outside import Effects
from tests.chaos.work import CASES, called, workflows

SCOPE = seeded()
PATIENCE = 300.0
"""Seconds that all runs together may take to come to rest, however busy the machine is."""
_LOOK = 0.2
_AGAIN = 0.1


@dataclass(frozen=True)
class Asked:
    """A start, which is asked for until it is answered."""

    workflow: str
    delivery: str
    payload: JsonValue


@dataclass
class Site:
    """The data folder, the service outside, and all that was started."""

    folder: Path
    effects: Effects
    started: dict[str, RunId] = field(default_factory=dict)
    in_flight: int = 0
    """Writes that had begun and not ended at some kill."""

    @contextmanager
    def up(self) -> Iterator[subprocess.Popen[str]]:
        """Run the cloud for the block, which ends with its sudden death."""
        environment = {
            **os.environ,
            "STELLWERK_DATA": str(self.folder),
            "STELLWERK_HTTP_ALLOW": self.effects.place,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "localcloud.cli.main", "up", "--api-port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stdout is not None
        try:
            assert "is up at" in process.stdout.readline()
            yield process
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def services(self) -> Services:
        """Return services on the cloud that is up; raise ConnectionError if none is."""
        found = find_running(self.folder)
        if found is None:
            raise ConnectionError("no cloud is up")
        clients = BotoClients(found.endpoint)
        return build(Settings.of({}), clients, compiler=GraphCompiler())

    def publish(self) -> None:
        services = self.services()
        services.workflows.publish(SCOPE, called(), slug="chaos-called")
        for slug, graph in workflows().items():
            services.workflows.publish(SCOPE, graph, slug=slug)

    def count_writes_in_flight(self) -> None:
        """Look into the file of the cloud, which is dead."""
        storage = Storage(self.folder)
        try:
            self.in_flight += sum(_is_write_in_flight(item) for _, item in storage.items())
        finally:
            storage.close()

    def start_all(self, orders: Sequence[Asked], pause: float) -> None:
        """Start each, as a caller who asks again until there is an answer."""
        services: Services | None = None
        for asked in orders:
            while asked.delivery not in self.started:
                try:
                    services = services or self.services()
                    self.started[asked.delivery] = _start(services, asked).id
                except Exception:  # noqa: BLE001 - whatever it is, the cloud may have died of it
                    services = None
                    time.sleep(_AGAIN)
            time.sleep(pause)


def orders(number: int, service: str, seed: int) -> list[Asked]:
    """Return what is started, mixed by the seed."""
    slugs = [slug for slug in workflows() if slug.startswith("chaos-")]
    found = []
    for at in range(number):
        if at % 5 == 4:
            case = CASES[at // 5 % len(CASES)]
            found.append(Asked(case.sample, f"chaos-{at}", case.payload(service)))
        else:
            given: JsonObject = {"id": f"r{at}", "service": f"http://{service}"}
            found.append(Asked(slugs[at % len(slugs)], f"chaos-{at}", given))
    random.Random(seed).shuffle(found)
    return found


def _start(services: Services, asked: Asked) -> Run:
    return services.runs.start(
        SCOPE, asked.workflow, payload=asked.payload, delivery=asked.delivery
    )


def _is_write_in_flight(item: Item) -> bool:
    body = item.get("body", {}).get("S")
    if not isinstance(body, str) or '"type":"http.request"' not in body:
        return False
    step = Step.model_validate_json(body)
    last = step.attempts[-1] if step.attempts else None
    return step.status is StepStatus.RUNNING and last is not None and last.ended is None


class Killer:
    """Kills the cloud so many times, each at a moment that the seed chooses."""

    def __init__(self, site: Site, kills: int, seed: int) -> None:
        self._site = site
        self._kills = kills
        self._random = random.Random(seed)

    def run(self, work: threading.Thread) -> None:
        """Let the cloud live for some moments at a time while `work` goes on."""
        for number in range(self._kills):
            with self._site.up():
                if number == 0:
                    self._site.publish()
                    work.start()
                time.sleep(self._random.uniform(0.2, 1.6))
            self._site.count_writes_in_flight()
