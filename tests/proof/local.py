"""The whole stack on the local cloud: Step Functions, DynamoDB and S3 on moto, real threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from localcloud.cloud import LocalCloud
from stellwerk import bootstrap
from stellwerk.bootstrap import Services
from stellwerk.kernel.errors import Conflict
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler
from tests.proof.alone import Case
from tests.proof.differential import differences
from tests.proof.journaled import journaled, pending
from tests.proof.vocabulary import decision, payload
from tests.proof.world import Hang

PATIENCE = 30.0
"""Seconds after which a run that has not ended hangs."""
_LOOK = 0.02


@contextmanager
def cloud() -> Iterator[Services]:
    """Run a local cloud whose Lambdas act on it for the block."""
    with LocalCloud(retry_pace=0.01) as running:
        services = bootstrap.build(running.settings, running.clients, compiler=GraphCompiler())
        bootstrap.services.provide(lambda: services)
        yield services


def run(services: Services, case: Case) -> list[str]:
    """Publish and run a workflow; return what was wrong.

    Raises InvalidGraph as publishing does, and Hang.
    """
    workflow, _ = services.workflows.publish(seeded(), case.graph)
    started = services.runs.start(
        seeded(), workflow.id, trigger=case.drawn.start, payload=payload(case.drawn)
    )
    _wait(services, case, started)
    return differences(case.expected, journaled(services.assembly, case, started))


def _wait(services: Services, case: Case, started: Run) -> None:
    """Decide what people are asked until the run is over."""
    end = time.monotonic() + PATIENCE
    while services.runs.get(seeded(), started.id).status.open:
        for task in pending(services.assembly, started):
            port = decision(case.drawn, task.node, task.path)
            with suppress(Conflict):  # the run may have failed meanwhile
                services.tasks.decide(seeded(), task.id, port)
        if time.monotonic() > end:
            raise Hang(f"{started.id} has not ended")
        time.sleep(_LOOK)
