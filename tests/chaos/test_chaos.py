"""Runs survive a cloud that dies again and again: nothing is lost, nothing happens twice unseen.

With `-s` it tells what happened; whoever fails prints the seed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from stellwerk.bootstrap import Services
from stellwerk.kernel.ids import RunId
from stellwerk.runs.model import HumanTask, Run, RunStatus, Step, StepStatus
from tests.chaos.outside import outside
from tests.chaos.site import PATIENCE, SCOPE, Killer, Site, orders
from tests.chaos.work import CASES

WRITE = "http.request"
NAMED = {"EffectUncertain", "SubworkflowFailed", "StoppedWithError"}
"""With what runs may fail here: a write that may have happened, also in the run that one calls, a
sample that stops."""


@pytest.mark.parametrize(("runs", "kills", "seed"), [(40, 4, 1), (24, 0, 2)])
def test_killed_again_and_again(runs: int, kills: int, seed: int, tmp_path: Path) -> None:
    _storm(runs, kills, seed, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [11, 12])
def test_three_hundred_runs_and_twenty_kills(seed: int, tmp_path: Path) -> None:
    _storm(300, 20, seed, tmp_path)


def _storm(number: int, kills: int, seed: int, folder: Path) -> None:
    with outside() as effects:
        site = Site(folder / "data", effects)
        asked = orders(number, effects.place, seed)
        pause = kills * 1.2 / number
        starter = threading.Thread(target=site.start_all, args=(asked, pause), daemon=True)
        Killer(site, kills, seed).run(starter)
        with site.up():
            if not kills:
                site.publish()
                starter.start()
            starter.join(PATIENCE)
            assert len(site.started) == number, f"seed {seed}: not all starts were answered"
            services = site.services()
            while waiting := _rested(services, site.started):
                _decide(services, waiting)
            _check(services, site, seed)


def _rested(services: Services, started: Mapping[str, RunId]) -> list[HumanTask]:
    """Wait until every run is over or waits on a task; return the tasks."""
    end = time.monotonic() + PATIENCE
    while True:
        tasks = services.tasks.list(SCOPE, limit=400).items
        waiting = {task.run for task in tasks}
        stand = {run: services.runs.get(SCOPE, run) for run in started.values()}
        moving = [run.id for run in stand.values() if run.status.open and run.id not in waiting]
        if not moving:
            return list(tasks)
        assert time.monotonic() < end, f"these runs move for ever: {moving}"
        time.sleep(0.3)


def _decide(services: Services, tasks: list[HumanTask]) -> None:
    """Decide each; those of samples as their cases say."""
    said = {asked.node: asked for case in CASES for asked in case.expected.decisions}
    for number, task in enumerate(sorted(tasks, key=lambda task: task.id)):
        asked = said.get(task.node)
        port = asked.port if asked else ("approved", "rejected")[number % 2]
        services.tasks.decide(SCOPE, task.id, port, asked.data if asked else None)


def _check(services: Services, site: Site, seed: int) -> None:
    uncertain = 0
    told: dict[str, int] = dict.fromkeys(site.effects.counts, 0)
    for run_id in site.started.values():
        run = services.runs.get(SCOPE, run_id)
        steps = _steps_with_children(services, run)
        uncertain += sum(step.status is StepStatus.UNCERTAIN for step in steps)
        _check_end(run, seed)
        for step in steps:
            _check_effect(services, site, step, told, seed)
    strange = [path for path, seen in told.items() if not seen]
    assert not strange, f"seed {seed}: happened, and no journal knows it: {strange}"
    assert uncertain <= site.in_flight, f"seed {seed}: more are uncertain than were in flight"
    sys.stdout.write(
        f"seed {seed}: {len(site.started)} runs, {site.in_flight} writes in flight at kills, "
        f"{uncertain} uncertain, {sum(site.effects.counts.values())} effects\n"
    )


def _check_end(run: Run, seed: int) -> None:
    assert run.status in {RunStatus.COMPLETED, RunStatus.FAILED}, f"seed {seed}: {run}"
    if run.status is RunStatus.FAILED:
        assert run.error is not None
        assert run.error.type in NAMED, f"seed {seed}: {run.error}"


def _steps_with_children(services: Services, run: Run) -> list[Step]:
    steps = list(services.runs.steps(SCOPE, run.id))
    for step in list(steps):
        if step.type == "flow.subworkflow" and step.child:
            child = services.runs.get(SCOPE, RunId(step.child))
            steps += _steps_with_children(services, child)
    return steps


def _check_effect(
    services: Services, site: Site, step: Step, told: dict[str, int], seed: int
) -> None:
    """A recorded write happened once; one that is uncertain once or not at all."""
    if step.type != WRITE or step.input is None:
        return
    given = services.runs.value(SCOPE, step.input)
    assert isinstance(given, dict)
    path = str(given["url"]).partition(site.effects.place)[2]
    count = site.effects.counts[path]
    told[path] = told.get(path, 0) + 1
    if step.status is StepStatus.SUCCEEDED:
        assert count == 1, f"seed {seed}: {path} happened {count} times"
    else:
        assert count <= 1, f"seed {seed}: {path} happened {count} times and is {step.status}"
