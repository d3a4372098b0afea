"""A cloud goes on where the last one on its folder has ended, in all mandates."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from localcloud.cli.hosting import hosted
from stellwerk.bootstrap import services as provided
from stellwerk.config import Settings
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.model import RunStatus
from stellwerk.runs.rounds import Bounds
from stellwerk.tenancy.scope import of_run, seeded
from stellwerk.workflows.graph import Graph
from tests.cli.conftest import APPROVAL

SCOPES = (seeded(), of_run("m-nord", "i-nord", "u-nord-admin"))
GRAPH = Graph.model_validate(APPROVAL)


def _paused(settings: Settings) -> list[RunId]:
    """Leave a run in each mandate that waits for a person."""
    with hosted(settings) as connection:
        runs = connection.services.runs
        begun = []
        for scope in SCOPES:
            workflow, _ = connection.services.workflows.publish(scope, GRAPH)
            begun.append(runs.start(scope, workflow.slug, payload={"amount": 4711}).id)
        for scope, run in zip(SCOPES, begun, strict=True):
            while runs.get(scope, run).status is not RunStatus.PAUSED:
                time.sleep(0.05)
    return begun


def test_open_runs_of_every_mandate_are_continued(tmp_path: Path) -> None:
    settings = Settings.of({"STELLWERK_DATA": str(tmp_path)})
    left = _paused(settings)
    with hosted(settings) as connection:
        runs = connection.services.runs
        for scope, run in zip(SCOPES, left, strict=True):
            assert runs.get(scope, run).generation == 2
        rounds = provided().assembly.rounds
        clock = provided().assembly.world.clock
        counts = rounds.go(Bounds(100, Deadline.within(clock, 60)))
        assert set(counts.values()) == {0}


def test_a_run_that_cannot_be_continued_keeps_no_cloud_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings.of({"STELLWERK_DATA": str(tmp_path)})
    left = _paused(settings)
    with hosted(settings) as connection:
        scope = SCOPES[0]
        versions = provided().press.versions
        run = connection.services.runs.get(scope, left[0])
        version = versions.get(scope, run.workflow, run.version)
        versions.save(scope, version.model_copy(update={"machines": {}}))
    with caplog.at_level(logging.ERROR), hosted(settings) as connection:
        assert connection.services.runs.get(SCOPES[1], left[1]).generation == 3
        assert f"run {left[0]} of mandate m-demo could not be continued" in caplog.text
        with pytest.raises(NotFound):
            connection.services.runs.get(SCOPES[1], left[0])
