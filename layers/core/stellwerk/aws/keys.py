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
| pending task of an assignee | inbox#sha256 | created#T |
| delivery | delivery#W#sha256 | delivery |
| file | file#F | file |
| entry of the list of files | files | created#F |
| entry of a user's list of files | files#user | created#F |
| request under its idempotency key | repeat#user#sha256 | repeat |
| count of requests (below `system`) | requests#user | window |
| mandate (no instance) | mandate | mandate |
| feature instance (no instance) | instances | its id |
| role | roles | its id |
| membership (no instance) | members | the user |
| access | accesses | the user |
| how often it changed who administrates | administrators | administrators |

What belongs to no mandate has `system` in its place, and no instance:

| item | pk (after system##) | sk |
|---|---|---|
| entry of a mandate | mandates | its id |
| user | user#U | user |
| entry of a membership or access | user#U | place#M#I |
| secret of a machine | user#U | secret |
| user by token | subject#sha256 | subject |
| user by address | email#sha256 | email |
| where the sweeper has stopped | sweep | mark |

Audit records belong to a mandate: they lie below it alone, in a table of their own.

| item | pk (after mandate) | sk |
|---|---|---|
| audit record | audit#day | 0000000012 |
| "this day has records" | audit-days | day |

A scope of another mandate or instance computes other keys and therefore finds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from stellwerk.files.model import FileId
from stellwerk.kernel.clock import instant
from stellwerk.kernel.ids import (
    ROOT,
    InstanceId,
    MandateId,
    Path,
    RoleId,
    RunId,
    TaskId,
    UserId,
    WorkflowId,
)
from stellwerk.runs.model import RunStatus, StepKey, TaskStatus
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope

SHARDS = 8
"""Partitions over which a run's steps inside loops are spread. Fixed: keys depend on it."""

RUN = "run"
LOOPS = "step-in-loops"
STEPS = "step"
"""Begins the keys of all steps at the root, and of the mark that there are others."""
STEP = "step#"
TASK_OF_RUN = "task#"
VERSION = "version#"
PLACE = "place#"
"""Begins the keys of a user's entries of where it belongs."""


class Key(NamedTuple):
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


def runs_of_user(scope: Scope, user: UserId) -> str:
    """Return the index key of the runs for which someone acts."""
    return _within(scope, f"runs-of#{user}")


def inbox(scope: Scope, assignee: str, created: datetime | None = None, task: str = "") -> Key:
    """Return the key of a pending task with an assignee; without a task that of his inbox."""
    place = listed_at(created, task) if created else ""
    return Key(_within(scope, f"inbox#{_digest(assignee)}"), place)


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


def audit_record(scope: Scope, day: str, place: str = "") -> Key:
    """Return the key of an audit record; a day's records share a partition."""
    return Key(_in_mandate(scope, f"audit#{day}"), place)


def audit_day(scope: Scope, day: str = "") -> Key:
    """Return the key of the mark that a day has audit records; all marks share a partition."""
    return Key(_in_mandate(scope, "audit-days"), day)


def audit_of_mandate(scope: Scope) -> str:
    """Return the index key of all audit records."""
    return _in_mandate(scope, "audit")


def audit_of_user(scope: Scope, user: str) -> str:
    """Return the index key of what someone did."""
    return _in_mandate(scope, f"audit-user#{user}")


def audit_of_object(scope: Scope, thing: str) -> str:
    """Return the index key of what was done to something."""
    return _in_mandate(scope, f"audit-object#{thing}")


def _in_mandate(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{partition}"


def mandate(mandate: MandateId) -> Key:
    """Return the key of a mandate."""
    return Key(_at(mandate, NO_INSTANCE, "mandate"), "mandate")


def mandate_entries(scope: Scope) -> str:
    """Return the partition that lists the mandates: that of the system; all others are empty."""
    return _within(scope, "mandates")


def mandate_entry(mandate: MandateId) -> Key:
    """Return the key of the entry that lists a mandate."""
    return Key(_at(SYSTEM, NO_INSTANCE, "mandates"), mandate)


def sweep_mark(scope: Scope) -> Key:
    """Return the key of where the sweeper has stopped: that of the system; others have none."""
    return Key(_within(scope, "sweep"), "mark")


def instance(mandate: MandateId, instance: InstanceId) -> Key:
    """Return the key of a feature instance; those of a mandate share a partition."""
    return Key(_at(mandate, NO_INSTANCE, "instances"), instance)


def role(mandate: MandateId, instance: InstanceId, role: RoleId) -> Key:
    """Return the key of a role; those of a place share a partition."""
    return Key(_at(mandate, instance, "roles"), role)


def membership(mandate: MandateId, user: UserId) -> Key:
    """Return the key of a membership; those of a mandate share a partition."""
    return Key(_at(mandate, NO_INSTANCE, "members"), user)


def access(mandate: MandateId, instance: InstanceId, user: UserId) -> Key:
    """Return the key of an access; those to an instance share a partition."""
    return Key(_at(mandate, instance, "accesses"), user)


def administrators(scope: Scope) -> Key:
    """Return the key of the number that rises when someone ceases to administrate a place."""
    return Key(_within(scope, "administrators"), "administrators")


def user(user: UserId) -> Key:
    """Return the key of a user; the entries of where it belongs share the partition."""
    return Key(_at(SYSTEM, NO_INSTANCE, f"user#{user}"), "user")


def place_of_user(user: UserId, mandate: MandateId, instance: InstanceId = NO_INSTANCE) -> Key:
    """Return the key of the entry that says where a user belongs."""
    return Key(_at(SYSTEM, NO_INSTANCE, f"user#{user}"), f"{PLACE}{mandate}#{instance}")


def secret(user: UserId) -> Key:
    """Return the key of what is kept of a machine's secret."""
    return Key(_at(SYSTEM, NO_INSTANCE, f"user#{user}"), "secret")


def subject(issuer: str, subject: str) -> Key:
    """Return the key of the user of a token; issuers and subjects are texts from outside."""
    return Key(_at(SYSTEM, NO_INSTANCE, f"subject#{_digest(f'{issuer} {subject}')}"), "subject")


def email(address: str) -> Key:
    """Return the key of the user with an address, however it is written."""
    digest = _digest(address.strip().casefold())
    return Key(_at(SYSTEM, NO_INSTANCE, f"email#{digest}"), "email")


def _within(scope: Scope, partition: str) -> str:
    return _at(scope.mandate, scope.instance, partition)


def _at(mandate: MandateId, instance: InstanceId, partition: str) -> str:
    return f"{mandate}#{instance}#{partition}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(4096)
def _shard(path: Path) -> int:
    return hashlib.sha256(path.encode()).digest()[0] % SHARDS


def counter(scope: Scope, principal: UserId, window: datetime) -> Key:
    """Return the key of a principal's count of requests in the window that begins then."""
    return Key(_within(scope, f"requests#{principal}"), instant(window))


def repeat(scope: Scope, key: str) -> Key:
    """Return the key of what came with a user's idempotency key; those come from outside."""
    return Key(_within(scope, f"repeat#{scope.user}#{_digest(key)}"), "repeat")


def file(scope: Scope, file: FileId) -> Key:
    """Return the key of what is known of a file."""
    return Key(_within(scope, f"file#{file}"), "file")


def files(scope: Scope, created_by: UserId | None) -> str:
    """Return the partition that lists an instance's files, or those of one user."""
    return _within(scope, "files" if created_by is None else f"files#{created_by}")
