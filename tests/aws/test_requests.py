"""What each operation costs: the requests it makes, for a person who pays by request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from stellwerk.kernel.ids import Path, RunId, TaskId
from stellwerk.runs.model import RunStatus, TaskStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.workflows.ports import Wanted
from tests.contracts.records import (
    RUN,
    SCOPE,
    WORKFLOW,
    decision,
    run,
    step,
    task,
    version,
    waiting,
    workflow,
)
from tests.contracts.stores import Moto, OneAtATime, Stores


@dataclass
class Meter:
    """Tells what an action asks of DynamoDB."""

    stores: Stores
    client: OneAtATime

    def of(self, action: Callable[[], object]) -> list[str]:
        self.client.requests.clear()
        action()
        return list(self.client.requests)


@pytest.fixture
def meter(moto: Moto) -> Meter:
    return Meter(*moto.stores())


def test_a_step_costs_one_read_and_one_request_per_write(meter: Meter) -> None:
    journal = meter.stores.journal
    keys = [step(f"n{number}").key for number in range(100)]
    assert meter.of(lambda: journal.read(SCOPE, RUN, keys)) == ["batch_get_item"]
    assert meter.of(lambda: journal.write(SCOPE, step())) == ["put_item"]
    assert meter.of(lambda: journal.write(SCOPE, step("n", Path("l[3]")))) == ["put_item"]


def test_a_loop_costs_one_request_per_25_items(meter: Meter) -> None:
    items = [step("l", Path(f"l[{number}]")) for number in range(49)]
    requests = meter.of(lambda: meter.stores.journal.fill(SCOPE, RUN, items))
    assert requests == ["batch_write_item"] * 2


def test_a_run_without_loops_is_read_with_one_query(meter: Meter) -> None:
    stores = meter.stores
    stores.runs.create(SCOPE, run())
    stores.journal.write(SCOPE, step())
    assert meter.of(lambda: list(stores.journal.steps(SCOPE, RUN))) == ["query"]
    stores.journal.write(SCOPE, step("l", Path("l[0]")))
    assert meter.of(lambda: list(stores.journal.steps(SCOPE, RUN))) == ["query"] * 9


def test_starting_and_ending_a_run_is_one_request_each(meter: Meter) -> None:
    runs = meter.stores.runs
    assert meter.of(lambda: runs.create(SCOPE, run())) == ["transact_write_items"]
    assert meter.of(lambda: runs.get(SCOPE, RUN)) == ["get_item"]
    assert meter.of(lambda: runs.write(SCOPE, runs.get(SCOPE, RUN))) == ["get_item", "update_item"]
    ended = run().model_copy(update={"status": RunStatus.FAILED})
    assert meter.of(lambda: runs.end(SCOPE, ended)) == ["update_item"]


def test_a_page_costs_two_requests_however_many_there_are(meter: Meter) -> None:
    stores = meter.stores
    for number in range(12):
        stores.runs.create(SCOPE, run(number))
    page = ["query", "batch_get_item"]
    assert meter.of(lambda: stores.runs.list(SCOPE, RunFilter(), limit=3)) == page
    assert meter.of(lambda: stores.runs.list(SCOPE, RunFilter(workflow=WORKFLOW), limit=3)) == page
    assert meter.of(lambda: list(stores.runs.open_runs(SCOPE))) == page
    assert meter.of(lambda: stores.runs.count(SCOPE)) == ["query"] * 6
    assert meter.of(lambda: stores.tasks.list(SCOPE)) == ["query"]


def test_a_task_is_opened_with_one_request_and_closed_with_two(meter: Meter) -> None:
    stores = meter.stores
    stores.runs.create(SCOPE, run())
    transaction = ["transact_write_items"]
    first = TaskId("task-1")

    def close() -> None:
        stores.tasks.close(SCOPE, first, TaskStatus.COMPLETED, decision())

    assert meter.of(lambda: stores.tasks.open(SCOPE, task(), waiting())) == transaction
    again = waiting(token="t-2", revision=1)
    assert meter.of(lambda: stores.tasks.open(SCOPE, task(token="t-2"), again)) == transaction * 2
    assert meter.of(close) == ["get_item", *transaction]
    assert meter.of(lambda: stores.tasks.mark_answered(SCOPE, first, "t-2")) == ["update_item"]
    assert meter.of(lambda: stores.tasks.of_run(SCOPE, RUN)) == ["query", "batch_get_item"]


def test_a_wait_among_others_costs_one_request_more(meter: Meter) -> None:
    stores = meter.stores
    stores.runs.create(SCOPE, run())
    stores.tasks.open(SCOPE, task(1), waiting("one"))
    both = ["get_item", "transact_write_items"]
    assert meter.of(lambda: stores.waits.open(SCOPE, waiting("two"))) == both
    opened = waiting("two", revision=1)
    assert meter.of(lambda: stores.waits.close(SCOPE, opened)) == [*both, "transact_write_items"]


def test_versions_cost_one_request_each(meter: Meter) -> None:
    versions = meter.stores.versions
    transaction = ["transact_write_items"]
    assert meter.of(lambda: versions.create(SCOPE, workflow())) == transaction
    created = versions.workflow(SCOPE, WORKFLOW)
    assert meter.of(lambda: versions.add(SCOPE, created, version())) == transaction
    assert meter.of(lambda: versions.get(SCOPE, WORKFLOW, 1)) == ["get_item"]
    assert meter.of(lambda: versions.versions(SCOPE, WORKFLOW, cursor=None, limit=5)) == ["query"]
    assert meter.of(lambda: versions.find(SCOPE, "invoices")) == ["get_item"] * 2
    page = ["query", "batch_get_item"]
    for wanted in (Wanted(), Wanted(owner=SCOPE.user), Wanted(tag="a"), Wanted(words=("inv",))):
        cost = meter.of(partial(versions.workflows, SCOPE, wanted, cursor=None, limit=5))
        assert cost == (["query"] if wanted.tag else page)
    assert meter.of(lambda: versions.shared(SCOPE, cursor=None, limit=5)) == ["query"]
    added = versions.get(SCOPE, WORKFLOW, 1)
    moved = versions.workflow(SCOPE, WORKFLOW)
    assert meter.of(lambda: versions.move(SCOPE, moved, added)) == transaction
    changed = versions.workflow(SCOPE, WORKFLOW)
    assert meter.of(lambda: versions.change(SCOPE, changed, changed)) == transaction
    assert meter.of(lambda: versions.published_as(SCOPE, WORKFLOW, "hash-1")) == ["get_item"]
    assert meter.of(lambda: list(versions.retiring(SCOPE))) == ["query"]


def test_an_inbox_costs_a_query_for_each_name_however_many_tasks_there_are(meter: Meter) -> None:
    stores = meter.stores
    for number in range(8):
        stores.runs.create(SCOPE, run(number))
        asked = task(number).model_copy(update={"run": RunId(f"r-{number}")})
        stores.tasks.open(SCOPE, asked, waiting().model_copy(update={"run": asked.run}))
    names = ["*", "user:u-anna", "role:finance"]
    cost = meter.of(lambda: stores.tasks.inbox(SCOPE, names, limit=3))
    assert cost == [*["query"] * 3, "batch_get_item"]
