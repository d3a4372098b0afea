from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import RunId, UserId, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.tenancy.scope import Scope
from tests.contracts.records import RUN, SCOPE, START, STRANGERS, WORKFLOW, run, task, waiting
from tests.contracts.stores import Stores

OTHER = WorkflowId("w-other")
ALL = RunFilter()


def over(record: Run, status: RunStatus = RunStatus.COMPLETED) -> Run:
    return record.model_copy(update={"status": status, "ended": START + timedelta(hours=2)})


def test_a_created_run_is_found_as_it_is(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    assert created == run().model_copy(update={"revision": 1})
    assert stores.runs.get(SCOPE, RUN) == created


def test_a_delivery_that_comes_twice_starts_one_run(stores: Stores) -> None:
    first = stores.runs.create(SCOPE, run(1, delivery="mail-7 ✉" * 300))
    second = stores.runs.create(SCOPE, run(2, delivery="mail-7 ✉" * 300))
    assert second == first
    with pytest.raises(NotFound):
        stores.runs.get(SCOPE, RunId("r-2"))


def test_a_delivery_is_found_by_the_run_that_it_started(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run(1, delivery="mail-7 ✉" * 300))
    assert stores.runs.delivered(SCOPE, WORKFLOW, "mail-7 ✉" * 300) == created
    assert stores.runs.delivered(SCOPE, WORKFLOW, "mail-7") is None
    assert stores.runs.delivered(SCOPE, OTHER, "mail-7 ✉" * 300) is None
    for stranger in STRANGERS:
        assert stores.runs.delivered(stranger, WORKFLOW, "mail-7 ✉" * 300) is None


def test_the_same_delivery_starts_another_workflow_too(stores: Stores) -> None:
    stores.runs.create(SCOPE, run(1, delivery="same"))
    assert stores.runs.create(SCOPE, run(2, delivery="same", workflow=OTHER)).id == "r-2"


def test_a_run_id_cannot_be_taken_twice(stores: Stores) -> None:
    stores.runs.create(SCOPE, run(1, delivery="one"))
    with pytest.raises(Conflict):
        stores.runs.create(SCOPE, run(1, delivery="two"))


def test_a_write_replaces_the_run_at_its_revision(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    written = stores.runs.write(SCOPE, created.model_copy(update={"execution": "arn"}))
    assert (written.execution, written.revision) == ("arn", 2)
    assert stores.runs.get(SCOPE, RUN) == written
    with pytest.raises(Conflict):
        stores.runs.write(SCOPE, created)


def test_a_write_leaves_status_and_waits_to_the_tasks(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    stores.tasks.open(SCOPE, task(), waiting())
    written = stores.runs.write(SCOPE, created.model_copy(update={"execution": "arn", "waits": 7}))
    assert (written.status, written.waits) == (RunStatus.PAUSED, 1)
    assert stores.runs.get(SCOPE, RUN) == written


def test_ending_a_run_leaves_no_wait(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    stores.tasks.open(SCOPE, task(), waiting())
    ended = stores.runs.end(SCOPE, over(created, RunStatus.CANCELLED))
    assert (ended.status, ended.waits) == (RunStatus.CANCELLED, 0)
    assert stores.runs.get(SCOPE, RUN) == ended


def test_a_run_ends_once(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    stores.runs.end(SCOPE, over(created))
    with pytest.raises(Conflict, match="completed"):
        stores.runs.end(SCOPE, over(created, RunStatus.FAILED))
    assert stores.runs.get(SCOPE, RUN).status is RunStatus.COMPLETED


def test_ending_replaces_whatever_was_written_meanwhile(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    written = stores.runs.write(SCOPE, created.model_copy(update={"execution": "arn"}))
    ended = stores.runs.end(SCOPE, over(created))
    assert ended.revision == written.revision + 1


def test_a_run_cannot_end_as_running(stores: Stores) -> None:
    with pytest.raises(ValueError, match="running"):
        stores.runs.end(SCOPE, run())


def test_a_run_with_a_large_record_survives(stores: Stores) -> None:
    large = run().model_copy(update={"vars": {"text": "ü" * 300_000}})
    created = stores.runs.create(SCOPE, large)
    assert stores.runs.get(SCOPE, RUN) == created
    small = stores.runs.write(SCOPE, created.model_copy(update={"vars": {}}))
    assert stores.runs.get(SCOPE, RUN) == small
    again = stores.runs.write(SCOPE, small.model_copy(update={"vars": large.vars}))
    assert stores.runs.get(SCOPE, RUN) == again


@pytest.fixture
def many(stores: Stores) -> Stores:
    """Runs 1 to 12; the even ones of another workflow; 3 and 4 over, 5 and 6 failed, one paused."""
    for number in range(1, 13):
        workflow = WORKFLOW if number % 2 else OTHER
        created = stores.runs.create(SCOPE, run(number, workflow=workflow))
        if number in {3, 4}:
            stores.runs.end(SCOPE, over(created))
        if number in {5, 6}:
            stores.runs.end(SCOPE, over(created, RunStatus.FAILED))
    stores.tasks.open(SCOPE, task(), waiting())
    return stores


def numbers(stores: Stores, wanted: RunFilter = ALL, *, limit: int = 50) -> list[int]:
    found: list[int] = []
    cursor: str | None = None
    while True:
        page = stores.runs.list(SCOPE, wanted, cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found += [int(run.id[2:]) for run in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 3, 4, 12, 50])
def test_all_runs_are_listed_newest_first_in_pages(many: Stores, limit: int) -> None:
    assert numbers(many, limit=limit) == list(range(12, 0, -1))


def second(number: int) -> datetime:
    return START + timedelta(seconds=number)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunFilter(workflow=OTHER), [12, 10, 8, 6, 4, 2]),
        (RunFilter(status=RunStatus.FAILED), [6, 5]),
        (RunFilter(status=RunStatus.PAUSED), [1]),
        (RunFilter(workflow=OTHER, status=RunStatus.COMPLETED), [4]),
        (RunFilter(workflow=WORKFLOW, status=RunStatus.RUNNING), [11, 9, 7]),
        (RunFilter(since=second(10)), [12, 11, 10]),
        (RunFilter(until=second(3)), [2, 1]),
        (RunFilter(since=second(4), until=second(7)), [6, 5, 4]),
        (RunFilter(workflow=OTHER, since=second(4), until=second(7)), [6, 4]),
        (RunFilter(since=second(7), until=second(4)), []),
        (RunFilter(user=SCOPE.user), list(range(12, 0, -1))),
        (RunFilter(user=SCOPE.user, status=RunStatus.FAILED), [6, 5]),
        (RunFilter(user=UserId("u-else")), []),
        (RunFilter(version=1, trigger="trigger.manual", until=second(2)), [1]),
        (RunFilter(version=2), []),
        (RunFilter(trigger="trigger.webhook"), []),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 50])
def test_runs_are_listed_as_wanted(
    many: Stores, wanted: RunFilter, expected: list[int], limit: int
) -> None:
    assert numbers(many, wanted, limit=limit) == expected


def test_a_moment_within_a_millisecond_is_told_apart(stores: Stores) -> None:
    early, late = (START + timedelta(microseconds=number) for number in (100, 900))
    for number, moment in ((1, early), (2, late)):
        stores.runs.create(SCOPE, run(number).model_copy(update={"started": moment}))
    between = START + timedelta(microseconds=500)
    assert numbers(stores, RunFilter(until=between)) == [1]
    assert numbers(stores, RunFilter(since=between)) == [2]


def test_a_cursor_stays_good_when_its_run_moves_away(many: Stores) -> None:
    page = many.runs.list(SCOPE, RunFilter(status=RunStatus.RUNNING), limit=2)
    assert [run.id for run in page.items] == ["r-12", "r-11"]
    many.runs.end(SCOPE, over(page.items[1]))
    more = many.runs.list(SCOPE, RunFilter(status=RunStatus.RUNNING), limit=2, cursor=page.cursor)
    assert [run.id for run in more.items] == ["r-10", "r-9"]


def test_a_cursor_made_up_is_refused(many: Stores) -> None:
    with pytest.raises(BadInput):
        many.runs.list(SCOPE, RunFilter(), cursor="nonsense!")


def test_the_counts_add_up(many: Stores) -> None:
    counts = many.runs.count(SCOPE)
    assert counts == {
        RunStatus.QUEUED: 0,
        RunStatus.RUNNING: 7,
        RunStatus.PAUSED: 1,
        RunStatus.COMPLETED: 2,
        RunStatus.FAILED: 2,
        RunStatus.CANCELLED: 0,
    }
    assert many.runs.count(SCOPE, workflow=OTHER)[RunStatus.RUNNING] == 4
    assert many.runs.count(SCOPE, user=SCOPE.user) == counts
    assert many.runs.count(SCOPE, user=SCOPE.user, workflow=OTHER)[RunStatus.RUNNING] == 4
    assert many.runs.count(SCOPE, user=UserId("u-else"))[RunStatus.RUNNING] == 0


def test_open_runs_are_those_not_over(many: Stores) -> None:
    assert {run.id for run in many.runs.open_runs(SCOPE)} == {
        f"r-{number}" for number in (1, 2, 7, 8, 9, 10, 11, 12)
    }


def test_open_runs_come_in_the_order_of_their_start_and_from_a_moment_on(many: Stores) -> None:
    found = list(many.runs.open_runs(SCOPE))
    assert found == sorted(found, key=lambda run: run.started)
    assert list(many.runs.open_runs(SCOPE, since=found[3].started)) == found[3:]
    assert list(many.runs.open_runs(SCOPE, since=found[-1].started + timedelta(days=1))) == []


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_runs(stores: Stores, stranger: Scope) -> None:
    created = stores.runs.create(SCOPE, run().model_copy(update={"input": Stored(text="1")}))
    with pytest.raises(NotFound):
        stores.runs.get(stranger, RUN)
    with pytest.raises(NotFound):
        stores.runs.write(stranger, created)
    with pytest.raises(NotFound):
        stores.runs.end(stranger, over(created))
    assert stores.runs.list(stranger, RunFilter()).items == []
    assert stores.runs.list(stranger, RunFilter(user=SCOPE.user)).items == []
    assert list(stores.runs.open_runs(stranger)) == []
    assert set(stores.runs.count(stranger).values()) == {0}
    assert set(stores.runs.count(stranger, user=SCOPE.user).values()) == {0}
    assert stores.runs.create(stranger, run(9, delivery="d-1")).id == "r-9"
    assert stores.runs.get(SCOPE, RUN) == created


def test_more_open_runs_than_one_read_takes_are_all_found(stores: Stores) -> None:
    for number in range(103):
        stores.runs.create(SCOPE, run(number))
    assert len({found.id for found in stores.runs.open_runs(SCOPE)}) == 103
    assert len(stores.runs.list(SCOPE, RunFilter(), limit=1000).items) == 100
