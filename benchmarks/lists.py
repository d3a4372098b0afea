"""What a page of a list costs with 100, 10,000 and 100,000 workflows and as many runs.

By HTTP, each list's first page of 50; the cloud keeps nothing on disk, so that it fills quickly.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.filling import Filling
from benchmarks.measure import Row
from benchmarks.operations import Starting, chain, published
from benchmarks.served import Answered, Caller, Served, served
from stellwerk.kernel.ids import RunId, WorkflowId

SIZES = (100, 10_000, 100_000)
TIMES, WARM = 60, 10
AIM = 50.0
"""Milliseconds of a page."""


def rows() -> Iterator[Row]:
    """Yield the median of each list at each size, with its requests and the items looked at."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), kept=False) as api:
        anna = api.caller("u-demo")
        workflow = published(anna, chain(1))
        starting = Starting(anna, workflow)
        run = RunId(str(starting().body["id"]))
        starting.rest()
        filling = Filling.like(api.cloud, WorkflowId(workflow), run)
        yield from _grown(api, filling)


def _grown(api: Served, filling: Filling) -> Iterator[Row]:
    measured: dict[str, list[Row]] = {what: [] for what in _lists(filling)}
    there = 0
    for size in SIZES:
        filling.grow(there, size)
        there = size
        gc.collect()
        gc.freeze()  # as the local cloud does with what it has loaded
        anna = api.caller("u-demo")  # the server has closed a connection on which nothing came
        for what, path in _lists(filling).items():
            measured[what].append(_row(f"{what}, of {size:,}", anna, path))
    for found in measured.values():
        yield from found


def _lists(filling: Filling) -> Mapping[str, str]:
    """Return what is asked for, by what it is: lists that fill a page at each size."""
    return {
        "workflows by name": "/workflows",
        "workflows of a word": "/workflows?limit=10&query=invoice",
        "my workflows": "/workflows?mine=true",
        "runs, newest first": "/runs",
        "failed runs": "/runs?limit=5&status=failed",
        "runs of a workflow": f"/runs?limit=3&workflow={filling.busy()}",
        "runs of a person": "/runs?limit=25&user=u-demo-user",
    }


def _row(what: str, caller: Caller, path: str) -> Row:
    answers: list[Answered] = [caller.ask("GET", path) for _ in range(WARM + TIMES)][WARM:]
    cost = answers[-1].cost
    note = f"{cost.requests} requests, {cost.evaluated} items looked at"
    return Row(what, statistics.median(answer.ms for answer in answers), "ms", AIM, note)
