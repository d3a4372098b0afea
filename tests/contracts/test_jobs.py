from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.runs.jobs import Job, JobStatus, Member
from tests.contracts.records import SCOPE, START, STRANGERS, WORKFLOW
from tests.contracts.stores import Stores


def job(number: int = 1, *, members: int = 2) -> Job:
    return Job(
        id=f"j-{number}",
        workflow=WORKFLOW,
        user=SCOPE.user,
        created=START + timedelta(seconds=number),
        version=2,
        members=tuple(Member(source=RunId(f"r-{each}")) for each in range(members)),
    )


def over(record: Job) -> Job:
    return record.model_copy(update={"status": JobStatus.COMPLETED, "ended": START})


def test_a_job_is_found_as_it_was_written(stores: Stores) -> None:
    created = stores.jobs.create(SCOPE, job(members=1000))
    assert stores.jobs.get(SCOPE, created.id) == created
    written = stores.jobs.write(SCOPE, created.model_copy(update={"reason": "why"}))
    assert stores.jobs.get(SCOPE, created.id) == written
    with pytest.raises(Conflict):
        stores.jobs.write(SCOPE, created)
    with pytest.raises(Conflict):
        stores.jobs.create(SCOPE, job())


def test_jobs_are_listed_the_newest_first(stores: Stores) -> None:
    for number in (2, 1, 3):
        stores.jobs.create(SCOPE, job(number))
    first = stores.jobs.list(SCOPE, limit=2)
    rest = stores.jobs.list(SCOPE, cursor=first.cursor, limit=2)
    assert [each.id for each in [*first.items, *rest.items]] == ["j-3", "j-2", "j-1"]


def test_a_job_that_is_over_is_not_open(stores: Stores) -> None:
    for number in (1, 2):
        stores.jobs.create(SCOPE, job(number))
    stores.jobs.write(SCOPE, over(stores.jobs.get(SCOPE, "j-1")))
    assert [each.id for each in stores.jobs.open(SCOPE)] == ["j-2"]


def test_strangers_find_and_change_nothing(stores: Stores) -> None:
    created = stores.jobs.create(SCOPE, job())
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            stores.jobs.get(stranger, created.id)
        with pytest.raises(NotFound):
            stores.jobs.write(stranger, over(created))
        assert list(stores.jobs.open(stranger)) == []
        assert stores.jobs.list(stranger).items == []
    assert stores.jobs.get(SCOPE, created.id) == created
