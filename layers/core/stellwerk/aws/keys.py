"""Every key of the two tables, in one place; all of them begin with mandate and instance.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| workflow | workflow#W | workflow |
| version | workflow#W | version#00000012 |
| value of `data.store` | workflow#W | data#sha256 |
| slug | slugs | the slug |
| run | run#R | run |
| step at the root | run#R | step##node |
| step inside a loop | run#R#shard | step#path#node |
| "the run has steps inside loops" | run#R | step-in-loops |
| task | task#T | task |
| task of a run | run#R | task#created#T |
| delivery | delivery#W#sha256 | delivery |

A scope of another mandate or instance computes other keys and therefore finds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.clock import instant
from stellwerk.kernel.ids import ROOT, Path, RunId, TaskId, WorkflowId
from stellwerk.runs.model import RunStatus, StepKey, TaskStatus
from stellwerk.tenancy.scope import Scope

SHARDS = 8
"""Partitions over which a run's steps inside loops are spread. Fixed: keys depend on it."""

RUN = "run"
LOOPS = "step-in-loops"
STEPS = "step"
"""Begins the keys of all steps at the root, and of the mark that there are others."""
STEP = "step#"
TASK_OF_RUN = "task#"
VERSION = "version#"


@dataclass(frozen=True)
class Key:
    """Where an item is."""

    pk: str
    sk: str


def workflow(scope: Scope, workflow: WorkflowId) -> Key:
    """Return the key of a workflow; its versions share the partition."""
    return Key(_within(scope, f"workflow#{workflow}"), "workflow")


def version(scope: Scope, workflow: WorkflowId, number: int) -> Key:
    """Return the key of a version."""
    return Key(_within(scope, f"workflow#{workflow}"), f"{VERSION}{number:08d}")


def datum(scope: Scope, workflow: WorkflowId, key: str) -> Key:
    """Return the key of one value that a workflow stores for itself; keys are texts of users."""
    return Key(_within(scope, f"workflow#{workflow}"), f"data#{_digest(key)}")


def slug(scope: Scope, slug: str) -> Key:
    """Return the key that makes a slug unique; an instance's slugs share a partition."""
    return Key(_within(scope, "slugs"), slug)


def run(scope: Scope, run: RunId) -> Key:
    """Return the key of a run; its steps at the root and list of tasks share the partition."""
    return Key(_within(scope, f"run#{run}"), RUN)


def loops(scope: Scope, run: RunId) -> Key:
    """Return the key of the mark that a run has steps inside loops."""
    return Key(_within(scope, f"run#{run}"), LOOPS)


def step(scope: Scope, run: RunId, step: StepKey) -> Key:
    """Return the key of a step: with the run at the root, else in the shard of its path."""
    partition = f"run#{run}" if step.path == ROOT else f"run#{run}#{_shard(step.path)}"
    return Key(_within(scope, partition), f"{STEP}{step.path}#{step.node}")


def loop_partitions(scope: Scope, run: RunId) -> Iterator[str]:
    """Yield the partitions that hold the run's steps inside loops."""
    for shard in range(SHARDS):
        yield _within(scope, f"run#{run}#{shard}")


def task(scope: Scope, task: TaskId) -> Key:
    """Return the key of a human task."""
    return Key(_within(scope, f"task#{task}"), "task")


def task_of_run(scope: Scope, run: RunId, created: datetime, task: TaskId) -> Key:
    """Return the key of the entry that names a task in its run's partition, the oldest first."""
    return Key(_within(scope, f"run#{run}"), f"{TASK_OF_RUN}{instant(created)}#{task}")


def delivery(scope: Scope, workflow: WorkflowId, delivery: str) -> Key:
    """Return the key of what started a run; delivery ids come from outside, of any length."""
    return Key(_within(scope, f"delivery#{workflow}#{_digest(delivery)}"), "delivery")


def runs_of_instance(scope: Scope) -> str:
    """Return the index key of all runs."""
    return _within(scope, "runs")


def runs_of_workflow(scope: Scope, workflow: WorkflowId) -> str:
    """Return the index key of a workflow's runs."""
    return _within(scope, f"runs#{workflow}")


def runs_by_status(scope: Scope, status: RunStatus) -> str:
    """Return the index key of the runs that stand there."""
    return _within(scope, f"runs#{status}")


def runs_of_workflow_by_status(scope: Scope, workflow: WorkflowId, status: RunStatus) -> str:
    """Return the index key of a workflow's runs that stand there."""
    return _within(scope, f"runs#{workflow}#{status}")


def runs_open(scope: Scope) -> str:
    """Return the index key of the runs that are not over."""
    return _within(scope, "open")


def tasks_by_status(scope: Scope, status: TaskStatus) -> str:
    """Return the index key of the tasks that stand there."""
    return _within(scope, f"tasks#{status}")


def tasks_due(scope: Scope) -> str:
    """Return the index key of pending tasks with a due moment."""
    return _within(scope, "due")


def tasks_unanswered(scope: Scope) -> str:
    """Return the index key of tasks that are over while nothing took their answer."""
    return _within(scope, "unanswered")


def listed_at(moment: datetime, identity: str) -> str:
    """Return the index sort key of what is listed by time: unique, so that a cursor is exact."""
    return f"{instant(moment)}#{identity}"


def value(scope: Scope, key: str) -> str:
    """Return the name of a value's object."""
    return f"{scope.mandate}/{scope.instance}/{key}"


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _shard(path: Path) -> int:
    return hashlib.sha256(path.encode()).digest()[0] % SHARDS
