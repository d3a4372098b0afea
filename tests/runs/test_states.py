"""The tables of states: what they allow, and how they refuse."""

from __future__ import annotations

from itertools import product

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.runs.model import HumanTask, Run, RunStatus, TaskStatus
from stellwerk.runs.states import (
    RUN_TRANSITIONS,
    TASK_TRANSITIONS,
    RunEvent,
    TaskEvent,
    run_after,
    task_after,
)
from tests.runs.stage import Stage, graph


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(graph({"start": "trigger", "ask": "input.approval"}, ["start ask"]))
    return stage.start()


def test_every_pair_of_run_state_and_event_is_allowed_by_its_row_or_refused(run: Run) -> None:
    rows = {(row.source, row.event): row.target for row in RUN_TRANSITIONS}
    assert len(rows) == len(RUN_TRANSITIONS)
    for status, event in product(RunStatus, RunEvent):
        found = run.model_copy(update={"status": status})
        if (status, event) in rows:
            assert run_after(found, event) is rows[status, event]
        else:
            with pytest.raises(Conflict, match=f"is {status}: it does not allow '{event}'"):
                run_after(found, event)


def test_every_pair_of_task_state_and_event_is_allowed_by_its_row_or_refused(
    stage: Stage, run: Run
) -> None:
    task: HumanTask = stage.ask(run)
    rows = {(row.source, row.event): row.target for row in TASK_TRANSITIONS}
    for status, event in product(TaskStatus, TaskEvent):
        found = task.model_copy(update={"status": status})
        if (status, event) in rows:
            assert task_after(found, event) is rows[status, event]
        else:
            with pytest.raises(Conflict, match=f"is {status}. It does not allow '{event}'"):
                task_after(found, event)


def test_a_run_that_is_over_leaves_its_state_by_no_event() -> None:
    for row in RUN_TRANSITIONS:
        if row.source is not None and not row.source.open:
            assert row.target is row.source
