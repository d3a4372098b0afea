"""A run goes with all that it has left, and takes nothing of others along."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.remains import DynamoRemains
from stellwerk.aws.run_events import DynamoEventLog
from stellwerk.aws.run_families import DynamoFamilies
from stellwerk.aws.tallies import DynamoTallies
from stellwerk.aws.tasks import DynamoTasks
from stellwerk.aws.values import S3Values
from stellwerk.kernel.ids import Path, RunId
from stellwerk.runs.model import Run, RunStatus, Step
from stellwerk.runs.values import Keeper
from stellwerk.watching.memory import Head, Page
from stellwerk.watching.ports import LogState
from stellwerk.watching.tallies import outcome_of
from tests.contracts import records
from tests.contracts.records import SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.contracts.test_run_events import event

LARGE = "x" * 40_000


class Shelf:
    """A table `runs` and a bucket, and what is kept in them."""

    def __init__(self, moto: Moto) -> None:
        self.moto = moto
        self.items, self.bucket = moto.runs_table(), moto.bucket()
        values = S3Values(lambda _: moto.s3, self.bucket)
        bodies = Bodies(values)
        self.keeper = Keeper(values)
        self.runs = DynamoFamilies(self.items, bodies)
        self.journal = DynamoJournal(self.items, bodies)
        self.tasks = DynamoTasks(self.items, bodies)
        self.log = DynamoEventLog(self.items)
        self.tallies = DynamoTallies(self.items)
        self.remains = DynamoRemains(self.items, lambda _: moto.s3, self.bucket)

    def run(self, number: int, *, origin: RunId | None = None) -> Run:
        """Keep a run with steps, a loop, a task, events, and a large value in each."""
        new = records.run(number).model_copy(update={"origin": origin})
        large = {"input": self.keeper.keep(SCOPE, new.id, f"{LARGE}{number}")}
        run = self.runs.create(SCOPE, new.model_copy(update=large))
        self.journal.write(SCOPE, self.step(run, "check"))
        passes = [self.step(run, "lines", f"lines[{index}]") for index in range(60)]
        self.journal.fill(SCOPE, run.id, passes)
        task = records.task(number).model_copy(update={"run": run.id})
        self.tasks.open(SCOPE, task, self.step(run, "approve"))
        state = LogState(Head(revision=1, last=1), {"lines[3]": Page()})
        self.log.append(SCOPE, run.id, LogState(), state, [event(1)])
        ended = run.model_copy(update={"status": RunStatus.COMPLETED, "ended": START})
        self.runs.end(SCOPE, ended)
        self.tallies.count(SCOPE, outcome_of(ended, RunStatus.COMPLETED, []), START)
        return ended

    def step(self, run: Run, node: str, path: str = "") -> Step:
        step = records.step(node, Path(path), run=run.id)
        value = self.keeper.keep(SCOPE, run.id, f"{LARGE}{node}{path[:9]}")
        return step.model_copy(update={"value": value})

    def left(self, run: RunId) -> list[str]:
        """Return the places of all items that are of a run."""
        found = self.moto.dynamodb.scan(TableName=self.items._table)["Items"]
        places = [f"{item['pk']['S']} {item['sk']['S']}" for item in found]
        of_run = (f"#run#{run} ", f"#run#{run}#", f"#task#task-{run[2:]} ")
        return [place for place in places if any(part in place for part in of_run)]

    def objects(self, run: RunId) -> list[str]:
        found = self.moto.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return [one["Key"] for one in found if f"/runs/{run}/" in one["Key"]]


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()


@pytest.fixture
def shelf(moto: Moto) -> Shelf:
    return Shelf(moto)


def test_a_run_goes_with_steps_tasks_events_and_values(shelf: Shelf) -> None:
    run, other = shelf.run(1), shelf.run(2)
    kept, objects = shelf.left(other.id), shelf.objects(other.id)
    assert len(shelf.left(run.id)) > 65
    assert len(shelf.objects(run.id)) > 3
    assert shelf.remains.remove(SCOPE, run.id) > 65
    assert shelf.left(run.id) == []
    assert shelf.objects(run.id) == []
    assert shelf.left(other.id) == kept
    assert shelf.objects(other.id) == objects
    assert [*shelf.tallies.kept_until(SCOPE, START)] == [other.id]
    assert shelf.remains.remove(SCOPE, run.id) == 0


def test_a_stranger_removes_nothing(shelf: Shelf) -> None:
    run = shelf.run(1)
    before, objects = shelf.left(run.id), shelf.objects(run.id)
    for stranger in STRANGERS:
        assert shelf.remains.remove(stranger, run.id) == 0
        assert not shelf.remains.replayed(stranger, run)
    assert shelf.left(run.id) == before
    assert shelf.objects(run.id) == objects


def test_what_a_replay_may_begin_with_stays(shelf: Shelf) -> None:
    first = shelf.run(1)
    assert not shelf.remains.replayed(SCOPE, first)
    second = shelf.run(2, origin=first.id)
    third = shelf.run(3, origin=first.id)
    family = [first, second, third]
    assert [shelf.remains.replayed(SCOPE, run) for run in family] == [True, True, False]
    shelf.remains.remove(SCOPE, third.id)
    assert [shelf.remains.replayed(SCOPE, run) for run in family[:2]] == [True, False]
    shelf.remains.remove(SCOPE, second.id)
    assert not shelf.remains.replayed(SCOPE, first)


def test_values_of_others_that_a_run_names_stay(shelf: Shelf) -> None:
    first, second = shelf.run(1), shelf.run(2)
    borrowed = shelf.step(first, "check").model_copy(
        update={"run": second.id, "node": "borrowed", "recorded_from": first.id}
    )
    shelf.journal.write(SCOPE, borrowed)
    objects = shelf.objects(first.id)
    shelf.remains.remove(SCOPE, second.id)
    assert shelf.objects(first.id) == objects
