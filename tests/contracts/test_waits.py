from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.runs.model import RunStatus, Step, StepStatus
from stellwerk.tenancy.scope import Scope
from tests.contracts.records import RUN, SCOPE, STRANGERS, run, task, waiting
from tests.contracts.stores import Stores


def ended(step: Step) -> Step:
    return step.model_copy(update={"status": StepStatus.SUCCEEDED, "port": "out"})


def standing(stores: Stores) -> tuple[RunStatus, int]:
    found = stores.runs.get(SCOPE, RUN)
    return found.status, found.waits


def stored(stores: Stores) -> Step:
    return stores.journal.read(SCOPE, RUN, [waiting().key])[waiting().key]


def test_a_wait_pauses_its_run_until_it_is_closed(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    opened = stores.waits.open(SCOPE, waiting())
    assert opened == waiting(revision=1) == stored(stores)
    assert standing(stores) == (RunStatus.PAUSED, 1)
    closed = stores.waits.close(SCOPE, ended(opened))
    assert closed.revision == 2
    assert closed == stored(stores)
    assert standing(stores) == (RunStatus.RUNNING, 0)


def test_waits_and_tasks_are_counted_together(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    stores.tasks.open(SCOPE, task(), waiting("ask"))
    opened = stores.waits.open(SCOPE, waiting())
    assert standing(stores) == (RunStatus.PAUSED, 2)
    stores.waits.close(SCOPE, ended(opened))
    assert standing(stores) == (RunStatus.PAUSED, 1)


@pytest.mark.parametrize("revision", [0, 2])
def test_a_wait_is_opened_and_closed_on_its_revision_only(stores: Stores, revision: int) -> None:
    stores.runs.create(SCOPE, run())
    stores.waits.open(SCOPE, waiting())
    with pytest.raises(Conflict):
        stores.waits.open(SCOPE, waiting(revision=revision))
    with pytest.raises(Conflict):
        stores.waits.close(SCOPE, ended(waiting(revision=revision)))
    assert standing(stores) == (RunStatus.PAUSED, 1)


def test_a_run_that_is_over_waits_for_nothing(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    opened = stores.waits.open(SCOPE, waiting())
    stores.runs.end(SCOPE, created.model_copy(update={"status": RunStatus.FAILED}))
    with pytest.raises(Conflict, match="failed"):
        stores.waits.open(SCOPE, waiting("more"))
    assert stores.waits.close(SCOPE, ended(opened)).revision == 2
    assert standing(stores) == (RunStatus.FAILED, 0)


def test_an_unknown_run_waits_for_nothing(stores: Stores) -> None:
    with pytest.raises(NotFound):
        stores.waits.open(SCOPE, waiting())


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_opens_and_closes_no_wait(stores: Stores, stranger: Scope) -> None:
    stores.runs.create(SCOPE, run())
    opened = stores.waits.open(SCOPE, waiting())
    with pytest.raises(NotFound):
        stores.waits.open(stranger, waiting("more"))
    with pytest.raises(NotFound):
        stores.waits.close(stranger, ended(opened))
    assert stored(stores) == opened
    assert standing(stores) == (RunStatus.PAUSED, 1)
