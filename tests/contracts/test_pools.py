"""Slots of pools, and the queues for them: exact whatever happens at the same moment."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import InstanceId, RunId
from stellwerk.runs.limits import Full, Limit, Queued
from stellwerk.runs.model import Run, RunStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Overflow
from tests.contracts.records import SCOPE, START, STRANGERS, run
from tests.contracts.stores import Stores
from tests.runs.stage import race

OWN = Limit("workflow#w-invoices", 2, Overflow.QUEUE)
SHARED = Limit("mandate#0", 2, Overflow.QUEUE)
BESIDE = SCOPE.at(InstanceId("i-beside"))


def taking(stores: Stores, number: int, *limits: Limit, scope: Scope = SCOPE) -> Run:
    slots = tuple(limit.pool for limit in limits)
    holding = run(number, scope=scope).model_copy(update={"slots": slots})
    return stores.runs.create(scope, holding, limits)


def queueing(stores: Stores, number: int, limit: Limit = OWN, *, scope: Scope = SCOPE) -> Run:
    waiting = {"status": RunStatus.QUEUED, "queue": limit.pool}
    return stores.runs.create(scope, run(number, scope=scope).model_copy(update=waiting))


def ending(stores: Stores, over: Run, scope: Scope = SCOPE) -> Run:
    changes = {"status": RunStatus.CANCELLED, "ended": START + timedelta(hours=1)}
    stored = stores.runs.get(scope, over.id)
    return stores.runs.end(scope, stored.model_copy(update=changes))


def queue(stores: Stores, limit: Limit = OWN) -> list[str]:
    return [waiting.run for waiting in stores.runs.waiting(SCOPE, limit.pool)]


def test_no_more_runs_than_slots_are_created(stores: Stores) -> None:
    first = taking(stores, 1, OWN)
    assert stores.runs.get(SCOPE, first.id) == first
    assert first.slots == (OWN.pool,)
    taking(stores, 2, OWN)
    with pytest.raises(Full) as refused:
        taking(stores, 3, OWN)
    assert refused.value.limit == OWN
    assert stores.runs.delivered(SCOPE, first.workflow, "d-3") is None
    ending(stores, first)
    assert taking(stores, 3, OWN).id == "r-3"


def test_all_slots_are_taken_or_none(stores: Stores) -> None:
    taking(stores, 1, SHARED)
    taking(stores, 2, SHARED)
    with pytest.raises(Full) as refused:
        taking(stores, 3, OWN, SHARED)
    assert refused.value.limit == SHARED
    taking(stores, 4, OWN)
    assert taking(stores, 5, OWN).id == "r-5"


def test_a_known_delivery_is_its_run_though_all_slots_are_taken(stores: Stores) -> None:
    first = taking(stores, 1, OWN)
    taking(stores, 2, OWN)
    assert taking(stores, 1, OWN) == first


def test_a_taken_run_id_is_no_full_pool(stores: Stores) -> None:
    taking(stores, 1, OWN)
    again = run(1, delivery="another").model_copy(update={"slots": (OWN.pool,)})
    with pytest.raises(Conflict) as refused:
        stores.runs.create(SCOPE, again, [OWN])
    assert not isinstance(refused.value, Full)


def test_whoever_holds_a_slot_longest_is_known(stores: Stores) -> None:
    assert stores.runs.holder(SCOPE, OWN.pool) is None
    taking(stores, 2, OWN)
    first = taking(stores, 1, OWN)
    assert stores.runs.holder(SCOPE, OWN.pool) == "r-1"
    ending(stores, first)
    assert stores.runs.holder(SCOPE, OWN.pool) == "r-2"
    for stranger in STRANGERS:
        assert stores.runs.holder(stranger, OWN.pool) is None


def test_a_queue_is_in_the_order_of_starts(stores: Stores) -> None:
    for number in (3, 1, 2):
        queued = queueing(stores, number)
        assert queued.status is RunStatus.QUEUED
        assert stores.runs.get(SCOPE, queued.id) == queued
    assert queue(stores) == ["r-1", "r-2", "r-3"]
    assert len(list(stores.runs.open_runs(SCOPE))) == 3
    for stranger in STRANGERS:
        assert list(stores.runs.waiting(stranger, OWN.pool)) == []


def test_an_admitted_run_holds_its_slots_and_has_left_the_queue(stores: Stores) -> None:
    queued = queueing(stores, 1)
    admitted = stores.runs.admit(SCOPE, queued, [OWN, SHARED])
    assert admitted.status is RunStatus.RUNNING
    assert admitted.slots == (OWN.pool, SHARED.pool)
    assert stores.runs.get(SCOPE, queued.id) == admitted
    assert queue(stores) == []
    assert stores.runs.holder(SCOPE, OWN.pool) == "r-1"
    written = stores.runs.write(SCOPE, admitted.model_copy(update={"execution": "arn"}))
    assert written.slots == admitted.slots
    with pytest.raises(Conflict):
        stores.runs.admit(SCOPE, queued, [OWN])


def test_without_a_limit_any_more_a_queued_run_is_admitted(stores: Stores) -> None:
    assert stores.runs.admit(SCOPE, queueing(stores, 1), []).slots == ()
    assert queue(stores) == []


def test_nobody_is_admitted_where_no_slot_is_free(stores: Stores) -> None:
    taking(stores, 1, OWN)
    taking(stores, 2, OWN)
    queued = queueing(stores, 3)
    with pytest.raises(Full):
        stores.runs.admit(SCOPE, queued, [SHARED, OWN])
    assert stores.runs.get(SCOPE, queued.id) == queued
    assert queue(stores) == ["r-3"]


def test_a_run_moves_to_another_queue_at_its_old_place(stores: Stores) -> None:
    queueing(stores, 2, SHARED)
    moved = stores.runs.requeue(SCOPE, queueing(stores, 1), SHARED.pool)
    assert stores.runs.get(SCOPE, moved.id) == moved
    assert queue(stores) == []
    assert queue(stores, SHARED) == ["r-1", "r-2"]
    with pytest.raises(Conflict):
        stores.runs.requeue(SCOPE, moved.model_copy(update={"revision": 1}), OWN.pool)


def test_a_queued_run_that_ends_has_left_the_queue(stores: Stores) -> None:
    queued = queueing(stores, 1)
    ended = ending(stores, queued)
    assert (ended.status, ended.queue) == (RunStatus.CANCELLED, "")
    assert queue(stores) == []


def test_the_end_of_a_queued_run_meets_its_admission(stores: Stores) -> None:
    queued = queueing(stores, 1)
    stores.runs.admit(SCOPE, queued, [OWN])
    changes = {"status": RunStatus.CANCELLED, "ended": START}
    with pytest.raises(Conflict):
        stores.runs.end(SCOPE, queued.model_copy(update=changes))
    assert ending(stores, queued).status is RunStatus.CANCELLED
    assert stores.runs.holder(SCOPE, OWN.pool) is None


def test_instances_share_the_slots_of_their_mandate(stores: Stores) -> None:
    taking(stores, 1, SHARED)
    taking(stores, 9, SHARED, scope=BESIDE)
    with pytest.raises(Full):
        taking(stores, 2, SHARED)
    taking(stores, 1, SHARED, scope=STRANGERS[0])
    queueing(stores, 3, SHARED, scope=BESIDE)
    waiting = Queued(BESIDE.instance, RunId("r-3"))
    assert list(stores.runs.waiting(SCOPE, SHARED.pool)) == [waiting]


def test_of_many_who_take_a_slot_at_once_as_many_have_one_as_there_are(stores: Stores) -> None:
    def take(number: int) -> Run:
        return taking(stores, number, OWN)

    results = race(*[lambda number=number: take(number) for number in range(8)])
    assert sum(isinstance(result, Run) for result in results) == 2
    assert sum(isinstance(result, Full) for result in results) == 6
