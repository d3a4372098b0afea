"""Every method of every store, called with a foreign scope: it finds and changes nothing.

Mandates, roles and members are in `tests/contracts/test_directory_strangers.py`, state machines and
executions in `tests/aws/test_executions.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import Protocol, cast

import pytest
from moto import mock_aws

from stellwerk.files import ports as of_files
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.requests import ports as of_requests
from stellwerk.runs import ports as of_runs
from stellwerk.runs.model import RunStatus, TaskStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.tenancy import ports as of_tenancy
from stellwerk.tenancy.evidence import AuditFilter
from stellwerk.tenancy.scope import Scope, of_run
from stellwerk.workflows import ports as of_workflows
from stellwerk.workflows.ports import Wanted
from tests.contracts.records import (
    RUN,
    SCOPE,
    START,
    WORKFLOW,
    decision,
    run,
    step,
    task,
    version,
    waiting,
    workflow,
)
from tests.contracts.stores import Moto
from tests.isolation.kept import (
    DAY,
    OBJECT,
    SLOT,
    SLUG,
    Kept,
    new_file,
    on_shelves,
    shelves_in_memory,
    shelves_on_moto,
)

ELSEWHERE = {
    *("Mandates", "Roles", "Members"),  # tests/contracts/test_directory_strangers.py
    *("Executions", "Machines"),  # tests/aws/test_executions.py
    *(
        "Registry",
        "Trials",
        "Resources",
        "Things",
        "Triggers",
    ),  # keep nothing of tenants themselves
}
STRANGERS = (
    of_run("m-two", "i-one", "u-anna"),
    of_run("m-one-two", "i-one", "u-anna"),
    of_run("m-on", "i-one", "u-anna"),
    of_run("m-one", "i-two", "u-anna"),
)
LATER = START.replace(year=START.year + 1)
Call = Callable[[Kept, Scope], object]


class Outcome(Enum):
    """What a call with a foreign scope comes to."""

    NOTHING = auto()  # finds nothing, while the owner's scope finds something
    REFUSED = auto()  # is refused as what does not exist
    OWN = auto()  # acts on the stranger's own place


FINDS: dict[str, Call] = {
    "Journal.read": lambda kept, scope: kept.on.stores.journal.read(scope, RUN, [kept.step.key]),
    "Journal.page": lambda kept, scope: kept.on.stores.journal.page(scope, RUN),
    "Journal.steps": lambda kept, scope: kept.on.stores.journal.steps(scope, RUN),
    "Runs.delivered": lambda kept, scope: kept.on.stores.runs.delivered(scope, WORKFLOW, "d-1"),
    "Runs.list": lambda kept, scope: [
        *kept.on.stores.runs.list(scope, RunFilter()).items,
        *kept.on.stores.runs.list(scope, RunFilter(workflow=WORKFLOW)).items,
        *kept.on.stores.runs.list(scope, RunFilter(user=SCOPE.user)).items,
        *kept.on.stores.runs.list(scope, RunFilter(status=RunStatus.PAUSED)).items,
    ],
    "Runs.open_runs": lambda kept, scope: kept.on.stores.runs.open_runs(scope),
    "Runs.waiting": lambda kept, scope: kept.on.stores.runs.waiting(scope, SLOT.pool),
    "Runs.holder": lambda kept, scope: kept.on.stores.runs.holder(scope, SLOT.pool),
    "Runs.count": lambda kept, scope: [
        count for count in kept.on.stores.runs.count(scope, workflow=WORKFLOW).values() if count
    ],
    "Tasks.inbox": lambda kept, scope: kept.on.stores.tasks.inbox(scope, ["role:finance"]),
    "Tasks.of_run": lambda kept, scope: kept.on.stores.tasks.of_run(scope, RUN),
    "Tasks.list": lambda kept, scope: kept.on.stores.tasks.list(scope),
    "Tasks.unanswered": lambda kept, scope: kept.on.stores.tasks.unanswered(scope),
    "Due.overdue": lambda kept, scope: kept.on.stores.due.overdue(scope, LATER),
    "Jobs.list": lambda kept, scope: kept.on.stores.jobs.list(scope),
    "Jobs.open": lambda kept, scope: kept.on.stores.jobs.open(scope),
    "KeyValues.get": lambda kept, scope: kept.on.stores.key_values.get(scope, WORKFLOW, "n"),
    "Versions.find": lambda kept, scope: kept.on.stores.versions.find(scope, SLUG),
    "Versions.workflows": lambda kept, scope: [
        *kept.on.stores.versions.workflows(scope, Wanted(), cursor=None, limit=9).items,
        *kept.on.stores.versions.workflows(
            scope, Wanted(owner=SCOPE.user), cursor=None, limit=9
        ).items,
        *kept.on.stores.versions.workflows(
            scope, Wanted(words=("invo",)), cursor=None, limit=9
        ).items,
    ],
    "Versions.shared": lambda kept, scope: kept.on.stores.versions.shared(
        scope, cursor=None, limit=9
    ),
    "Versions.versions": lambda kept, scope: kept.on.stores.versions.versions(
        scope, WORKFLOW, cursor=None, limit=9
    ),
    "Versions.published_as": lambda kept, scope: kept.on.stores.versions.published_as(
        scope, WORKFLOW, "hash-1"
    ),
    "Versions.retiring": lambda kept, scope: kept.on.stores.versions.retiring(scope),
    "Files.list": lambda kept, scope: [
        *kept.on.files.list(scope, created_by=None, cursor=None, limit=9).items,
        *kept.on.files.list(scope, created_by=SCOPE.user, cursor=None, limit=9).items,
    ],
    "Repeats.find": lambda kept, scope: kept.on.repeats.find(scope, "k"),
    "AuditLog.last": lambda kept, scope: kept.on.log.last(scope, DAY),
    "AuditLog.entries": lambda kept, scope: kept.on.log.entries(scope, DAY),
    "AuditLog.page": lambda kept, scope: [
        *kept.on.log.page(scope, AuditFilter(), cursor=None, limit=9).items,
        *kept.on.log.page(scope, AuditFilter(user=SCOPE.user), cursor=None, limit=9).items,
        *kept.on.log.page(scope, AuditFilter(object=f"run:{RUN}"), cursor=None, limit=9).items,
    ],
    "AuditLog.days": lambda kept, scope: kept.on.log.days(scope),
    "AuditLog.day_before": lambda kept, scope: kept.on.log.day_before(scope, "2027-01-01"),
}
REFUSES: dict[str, Call] = {
    "Journal.write": lambda kept, scope: kept.on.stores.journal.write(scope, kept.step),
    "Runs.get": lambda kept, scope: kept.on.stores.runs.get(scope, RUN),
    "Runs.write": lambda kept, scope: kept.on.stores.runs.write(scope, kept.run),
    "Runs.admit": lambda kept, scope: kept.on.stores.runs.admit(scope, kept.queued, [SLOT]),
    "Runs.requeue": lambda kept, scope: kept.on.stores.runs.requeue(scope, kept.queued, "other"),
    "Runs.end": lambda kept, scope: kept.on.stores.runs.end(
        scope, kept.run.model_copy(update={"status": RunStatus.CANCELLED, "ended": LATER})
    ),
    "Tasks.open": lambda kept, scope: kept.on.stores.tasks.open(
        scope, task(3, token="t-9"), waiting("third", token="t-9")
    ),
    "Tasks.close": lambda kept, scope: kept.on.stores.tasks.close(
        scope, kept.task.id, TaskStatus.COMPLETED, decision()
    ),
    "Tasks.mark_answered": lambda kept, scope: kept.on.stores.tasks.mark_answered(
        scope, kept.task.id, "t-1"
    ),
    "Tasks.get": lambda kept, scope: kept.on.stores.tasks.get(scope, kept.task.id),
    "Tasks.amend": lambda kept, scope: kept.on.stores.tasks.amend(
        scope, kept.task, kept.task.model_copy(update={"assignees": ("*",)})
    ),
    "Jobs.get": lambda kept, scope: kept.on.stores.jobs.get(scope, kept.job.id),
    "Jobs.write": lambda kept, scope: kept.on.stores.jobs.write(scope, kept.job),
    "Waits.open": lambda kept, scope: kept.on.stores.waits.open(scope, waiting("more")),
    "Waits.close": lambda kept, scope: kept.on.stores.waits.close(scope, kept.child),
    "Values.get": lambda kept, scope: kept.on.stores.values.get(scope, OBJECT),
    "Versions.workflow": lambda kept, scope: kept.on.stores.versions.workflow(scope, WORKFLOW),
    "Versions.get": lambda kept, scope: kept.on.stores.versions.get(scope, WORKFLOW, 1),
    "Versions.change": lambda kept, scope: kept.on.stores.versions.change(
        scope, kept.workflow, kept.workflow.model_copy(update={"title": "Theirs"})
    ),
    "Versions.add": lambda kept, scope: kept.on.stores.versions.add(
        scope, kept.workflow, version(2)
    ),
    "Versions.save": lambda kept, scope: kept.on.stores.versions.save(scope, kept.version),
    "Versions.move": lambda kept, scope: kept.on.stores.versions.move(
        scope, kept.workflow, kept.version
    ),
    "Files.get": lambda kept, scope: kept.on.files.get(scope, kept.file.id),
    "Files.content": lambda kept, scope: kept.on.files.content(scope, kept.file),
    "Repeats.write": lambda kept, scope: kept.on.repeats.write(scope, kept.repeat),
    "AuditLog.append": lambda kept, scope: kept.on.log.append(scope, kept.record),
}
ACTS: dict[str, Call] = {
    "Journal.fill": lambda kept, scope: kept.on.stores.journal.fill(
        scope, RUN, [step("note", value="theirs")]
    ),
    "Runs.create": lambda kept, scope: kept.on.stores.runs.create(scope, run(scope=scope)),
    "Jobs.create": lambda kept, scope: kept.on.stores.jobs.create(
        scope, kept.job.model_copy(update={"revision": 0})
    ),
    "KeyValues.put": lambda kept, scope: kept.on.stores.key_values.put(scope, WORKFLOW, "n", 2),
    "KeyValues.delete": lambda kept, scope: kept.on.stores.key_values.delete(scope, WORKFLOW, "n"),
    "KeyValues.increment": lambda kept, scope: kept.on.stores.key_values.increment(
        scope, WORKFLOW, "n", 5, once="a"
    ),
    "Values.put": lambda kept, scope: kept.on.stores.values.put(scope, OBJECT, b"theirs"),
    "Versions.create": lambda kept, scope: kept.on.stores.versions.create(
        scope, workflow(), version()
    ),
    "Files.add": lambda kept, scope: kept.on.files.add(scope, new_file(), b"theirs"),
    "Files.remove": lambda kept, scope: kept.on.files.remove(scope, kept.file),
    "Counters.take": lambda kept, scope: kept.on.counters.take(scope, scope.user, START, limit=1),
    "Repeats.forget": lambda kept, scope: kept.on.repeats.forget(scope, kept.repeat),
}
OUTCOMES: Mapping[str, Outcome] = {
    **dict.fromkeys(FINDS, Outcome.NOTHING),
    **dict.fromkeys(REFUSES, Outcome.REFUSED),
    **dict.fromkeys(ACTS, Outcome.OWN),
}
OF_THE_MANDATE = {"Versions.shared"} | {name for name in OUTCOMES if name.startswith("AuditLog.")}
"""What all instances of a mandate have in common."""


@pytest.fixture(scope="module", params=["fake", "moto"])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    if request.param == "fake":
        yield on_shelves(shelves_in_memory())
        return
    with mock_aws():
        yield on_shelves(shelves_on_moto(Moto()))


def protocols() -> Iterator[type]:
    for module in (of_files, of_requests, of_runs, of_tenancy, of_workflows):
        for _, found in inspect.getmembers(module, inspect.isclass):
            if found.__module__ == module.__name__ and Protocol in found.__bases__:
                yield found


def test_every_method_of_every_store_is_tested_here() -> None:
    assert not FINDS.keys() & REFUSES.keys()
    stores = [store for store in protocols() if store.__name__ not in ELSEWHERE]
    methods = {
        f"{store.__name__}.{name}"
        for store in stores
        for name, _ in inspect.getmembers(store, inspect.isfunction)
        if not name.startswith("_")
    }
    assert methods == OUTCOMES.keys()
    assert {store.__name__ for store in protocols()} > ELSEWHERE


def test_every_method_of_a_store_takes_a_scope_first() -> None:
    for store in protocols():
        if store.__name__ in ELSEWHERE:
            continue
        for name, method in inspect.getmembers(store, inspect.isfunction):
            if not name.startswith("_"):
                assert list(inspect.signature(method).parameters)[1] == "scope", name


@pytest.mark.parametrize("method", FINDS)
def test_the_owner_finds_something(kept: Kept, method: str) -> None:
    assert found(FINDS[method](kept, SCOPE))


@pytest.mark.parametrize("method", OUTCOMES)
def test_a_stranger_finds_and_changes_nothing(kept: Kept, method: str) -> None:
    for stranger in STRANGERS:
        if stranger.mandate != SCOPE.mandate or method not in OF_THE_MANDATE:
            _called(kept, method, stranger)
    assert kept.on.everything() == kept.before


def test_a_change_would_be_noticed(kept: Kept) -> None:
    kept.on.stores.key_values.put(SCOPE, WorkflowId("w-other"), "n", 7)
    assert kept.on.everything() != kept.before
    kept.on.stores.key_values.delete(SCOPE, WorkflowId("w-other"), "n")


def test_a_counter_is_used_up_by_its_own_principal_alone(kept: Kept) -> None:
    take = kept.on.counters.take
    assert not take(SCOPE, SCOPE.user, START, limit=1)
    assert all(take(_own(one, "used"), one.user, START, limit=1) for one in STRANGERS[:3])


def _called(kept: Kept, method: str, stranger: Scope) -> None:
    outcome = OUTCOMES[method]
    if outcome is Outcome.NOTHING:
        assert found(FINDS[method](kept, stranger)) == []
    elif outcome is Outcome.REFUSED:
        with pytest.raises((NotFound, Conflict)):
            found(REFUSES[method](kept, stranger))
    else:
        ACTS[method](kept, _own(stranger, method.replace(".", "-").lower()))


def _own(stranger: Scope, name: str) -> Scope:
    """Return a place like the stranger's where nobody else has written anything."""
    if stranger.mandate == SCOPE.mandate:
        return of_run(stranger.mandate, f"{stranger.instance}-{name}", stranger.user)
    return of_run(f"{stranger.mandate}-{name}", stranger.instance, stranger.user)


def found(answer: object) -> list[object]:
    """Return what an answer holds."""
    if answer is None:
        return []
    if isinstance(answer, Page):
        return list(answer.items)
    if isinstance(answer, Iterable) and not isinstance(answer, str | bytes):
        return (
            [*cast("Iterable[object]", answer)] if not hasattr(answer, "model_dump") else [answer]
        )
    return [answer]
