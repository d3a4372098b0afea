"""Limits of open runs: never more than allowed, none lost, whatever dies in between."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from moto import mock_aws

from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import ROOT, InstanceId, NodeKey, RunId, WorkflowId
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.finishing import Ended
from stellwerk.runs.limits import PARTS, ConcurrencyReached, limits_of
from stellwerk.runs.model import ParentStep, Run, RunStatus
from stellwerk.runs.starting import Order
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Concurrency, Overflow
from tests.contracts import records
from tests.contracts.stores import Moto
from tests.runs.stage import Crash, Power, Stage, fragile, graph, race

LINE = graph({"start": "trigger", "set": "data.set"}, ["start set"])


@dataclass
class FakeShares:
    most: int

    def share(self, scope: Scope) -> int:
        return self.most


def limited(
    stage: Stage, policy: Overflow, limit: int = 1, *, slug: str = "demo", publish: bool = True
) -> WorkflowId:
    workflow = stage.publish(LINE, slug=slug) if publish else WorkflowId(f"w-{slug}")
    before = stage.versions.workflow(stage.scope, workflow)
    wanted = Concurrency(limit=limit, policy=policy)
    stage.versions.change(stage.scope, before, before.model_copy(update={"concurrency": wanted}))
    return workflow


def end(stage: Stage, run: Run) -> Run:
    return stage.assembly.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))


def standing(stage: Stage) -> dict[RunStatus, int]:
    found = stage.world.runs.count(stage.scope)
    return {status: count for status, count in found.items() if count}


def statuses(stage: Stage, *runs: Run) -> list[RunStatus]:
    return [stage.run(run).status for run in runs]


def test_without_a_policy_runs_start_however_many_are_open(stage: Stage) -> None:
    limited(stage, Overflow.ALLOW)
    assert statuses(stage, stage.start(), stage.start()) == [RunStatus.RUNNING] * 2


def test_a_run_beyond_the_limit_waits_and_starts_when_one_ends(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    first, second, third = (started_later(stage) for _ in range(3))
    assert statuses(stage, first, second, third) == [
        RunStatus.RUNNING,
        RunStatus.QUEUED,
        RunStatus.QUEUED,
    ]
    assert list(stage.executions.started) == [first.execution]
    end(stage, first)
    assert statuses(stage, second, third) == [RunStatus.RUNNING, RunStatus.QUEUED]
    assert stage.run(second).execution in stage.executions.started
    end(stage, stage.run(second))
    assert statuses(stage, second, third) == [RunStatus.COMPLETED, RunStatus.RUNNING]


def started_later(stage: Stage) -> Run:
    stage.clock.advance(seconds=1)
    return stage.start()


def test_a_run_beyond_the_limit_is_refused_where_the_policy_is_to_skip(stage: Stage) -> None:
    workflow = limited(stage, Overflow.SKIP)
    first = stage.start()
    with pytest.raises(ConcurrencyReached, match="1 of 'demo' are open"):
        stage.start()
    with pytest.raises(ConcurrencyReached):
        stage.assembly.firing.fire(
            stage.scope, workflow, trigger=NodeKey("start"), delivery="slot-7"
        )
    assert standing(stage) == {RunStatus.RUNNING: 1}
    end(stage, first)
    fired = stage.assembly.firing.fire(
        stage.scope, workflow, trigger=NodeKey("start"), delivery="slot-7"
    )
    assert fired.status is RunStatus.RUNNING


def test_the_oldest_run_makes_room_where_the_policy_is_to_replace(stage: Stage) -> None:
    limited(stage, Overflow.REPLACE, 2)
    first, second, third = (started_later(stage) for _ in range(3))
    assert statuses(stage, first, second, third) == [
        RunStatus.CANCELLED,
        RunStatus.RUNNING,
        RunStatus.RUNNING,
    ]
    error = stage.run(first).error
    assert error is not None
    assert error.message == f"Run {third.id} takes its place."
    assert third.execution


def test_a_queued_run_can_be_cancelled_and_never_starts(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    first, second = stage.start(), stage.start()
    stage.assembly.runs.cancel(stage.scope, second.id)
    end(stage, first)
    assert statuses(stage, first, second) == [RunStatus.COMPLETED, RunStatus.CANCELLED]
    assert list(stage.executions.started) == [first.execution]


def test_a_queued_run_is_not_continued(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    stage.start()
    queued = stage.start()
    with pytest.raises(Conflict, match="is queued"):
        stage.assembly.runs.continue_(stage.scope, queued.id)
    assert stage.assembly.starting.restart(stage.scope, queued.id).execution == ""


def test_a_redelivery_finds_the_queued_run(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    stage.start()
    queued = stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7")
    assert stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7") == queued


def test_tests_and_child_runs_do_not_count(stage: Stage) -> None:
    limited(stage, Overflow.SKIP)
    parent = stage.start()
    assert stage.assembly.runs.start(stage.scope, "demo", mode="test").execution
    place = ParentStep(run=parent.id, path=ROOT, node=NodeKey("set"), depth=1)
    child = records.run(5).model_copy(update={"parent": place})
    assert limits_of(child, Concurrency(policy=Overflow.SKIP), 1) == ()


def test_a_trigger_has_a_limit_of_its_own(stage: Stage) -> None:
    stage.publish(graph({"a": "trigger", "b": "trigger", "set": "data.set"}, ["a set", "b set"]))

    def fired(trigger: str, policy: Overflow) -> Run:
        order = Order(workflow="demo", trigger=NodeKey(trigger), overlap=policy)
        recorded = stage.assembly.starting.record(stage.scope, order)
        return stage.assembly.starting.launch(stage.scope, recorded)

    first = fired("a", Overflow.SKIP)
    with pytest.raises(ConcurrencyReached):
        fired("a", Overflow.SKIP)
    assert fired("b", Overflow.SKIP).execution
    assert fired("b", Overflow.ALLOW).execution
    assert stage.start().execution  # by a person: not by the trigger's own schedule
    queued = fired("a", Overflow.QUEUE)
    assert queued.status is RunStatus.QUEUED
    end(stage, first)
    assert stage.run(queued).execution


def sharing(stage: Stage, most: int) -> Stage:
    stage.world = replace(stage.world, shares=FakeShares(most))
    stage.assembly = Assembly.of(stage.world)
    return stage


def test_a_mandate_has_a_share_and_its_runs_wait_beyond_it(stage: Stage) -> None:
    sharing(stage, 2)
    stage.publish(LINE)
    beside = replace(stage, scope=stage.scope.at(InstanceId("i-beside")), actors=stage.actors)
    sharing(beside, 2)
    beside.publish(LINE)
    first, second = stage.start(), beside.start()
    third = stage.start()
    assert (second.status, third.status) == (RunStatus.RUNNING, RunStatus.QUEUED)
    end(beside, second)
    assert stage.run(third).execution
    assert end(stage, first).status is RunStatus.COMPLETED


def test_a_run_waits_for_one_pool_after_the_other(stage: Stage) -> None:
    sharing(stage, 2)
    limited(stage, Overflow.QUEUE, slug="narrow")
    stage.publish(LINE, slug="wide")
    first = stage.start("narrow")
    waiting = stage.start("narrow")
    assert stage.run(waiting).queue == "workflow#w-narrow"
    others = [stage.start("wide"), stage.start("wide")]
    assert stage.run(others[1]).queue == "mandate#0"
    end(stage, first)  # its share goes to whoever has waited longest for it
    assert sorted(statuses(stage, waiting, others[1])) == [RunStatus.QUEUED, RunStatus.RUNNING]
    end(stage, others[0])
    assert statuses(stage, waiting, others[1]) == [RunStatus.RUNNING] * 2


def test_when_the_limit_is_lifted_those_that_wait_start_with_the_next_look(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    runs = [stage.start() for _ in range(3)]
    limited(stage, Overflow.ALLOW, publish=False)
    assert stage.assembly.sweeper.sweep(stage.scope).started == 1  # a queue is looked at once
    assert statuses(stage, *runs) == [RunStatus.RUNNING] * 3


def test_a_large_share_is_spread_and_a_small_one_exact() -> None:
    pools = {limits_of(records.run(n), Concurrency(), 5000)[0] for n in range(60)}
    assert len(pools) == PARTS
    assert {limit.most for limit in pools} == {625}
    small = {limits_of(records.run(n), Concurrency(), 799)[0] for n in range(60)}
    assert [(limit.pool, limit.most) for limit in small] == [("mandate#0", 799)]


def test_what_is_wrong_with_a_waiting_run_does_not_touch_the_one_that_ends(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    first, second = stage.start(), stage.start()
    stage.executions.machines_gone = True
    assert end(stage, first).status is RunStatus.COMPLETED
    assert (stage.run(second).status, stage.run(second).execution) == (RunStatus.RUNNING, "")
    stage.executions.machines_gone = False
    stage.clock.advance(seconds=300)
    assert stage.assembly.sweeper.sweep(stage.scope).started == 1
    assert stage.run(second).execution


@pytest.mark.parametrize("policy", [Overflow.QUEUE, Overflow.REPLACE])
def test_a_crash_between_any_two_writes_loses_no_run_and_no_slot(
    stage: Stage, policy: Overflow
) -> None:
    limited(stage, policy, 2)
    for at in range(1, 60):
        power = Power(at)
        broken = Assembly.of(fragile(stage.world, power))
        delivery = f"d-{at}"
        try:
            broken.runs.start(stage.scope, "demo", delivery=delivery)
            begun = [run for run in stage.world.runs.open_runs(stage.scope) if not run.queue]
            for run in begun[:1]:
                broken.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
        except Crash:
            pass
        stage.assembly.runs.start(stage.scope, "demo", delivery=delivery)
        check(stage, 2)
    stage.clock.advance(seconds=300)
    for _ in range(100):
        for run in stage.world.runs.open_runs(stage.scope):
            if run.execution:
                end(stage, run)
        stage.assembly.sweeper.sweep(stage.scope)
    assert not list(stage.world.runs.open_runs(stage.scope))
    assert sum(standing(stage).values()) == 59
    assert statuses(stage, stage.start(), stage.start()) == [RunStatus.RUNNING] * 2


def check(stage: Stage, limit: int) -> None:
    started = [run for run in stage.world.runs.open_runs(stage.scope) if not run.queue]
    assert len(started) <= limit


@pytest.mark.parametrize("policy", [Overflow.QUEUE, Overflow.REPLACE])
def test_of_thirty_starters_at_once_never_more_run_than_allowed_and_none_is_lost(
    policy: Overflow,
) -> None:
    _crowd(Stage(), policy, 30)


@pytest.mark.parametrize("policy", [Overflow.QUEUE, Overflow.REPLACE])
def test_of_some_starters_at_once_none_is_lost_on_the_tables(policy: Overflow) -> None:
    with mock_aws():
        _crowd(Stage(stores=Moto().stores()[0]), policy, 6)


@pytest.mark.soak
@pytest.mark.parametrize("policy", [Overflow.QUEUE, Overflow.REPLACE])
def test_of_thirty_starters_at_once_none_is_lost_on_the_tables(policy: Overflow) -> None:
    with mock_aws():
        _crowd(Stage(stores=Moto().stores()[0]), policy, 30)


def _crowd(stage: Stage, policy: Overflow, starters: int) -> None:
    limited(stage, policy, 3)

    def start() -> Run:
        run = stage.start()
        check(stage, 3)
        now = stage.run(run)
        if now.status is RunStatus.RUNNING and now.execution:
            end(stage, now)
        return run

    results = race(*[start] * starters)
    failed = [result for result in results if isinstance(result, Exception)]
    assert failed == []
    while list(stage.world.runs.open_runs(stage.scope)):
        check(stage, 3)
        for run in stage.world.runs.open_runs(stage.scope):
            if run.execution:
                end(stage, run)
    over = standing(stage)
    assert sum(over.values()) == starters
    assert over.keys() <= {RunStatus.COMPLETED, RunStatus.CANCELLED}
    assert policy is Overflow.REPLACE or over == {RunStatus.COMPLETED: starters}


def test_a_queue_that_cannot_be_read_does_not_keep_a_run_from_ending(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    run = stage.start()

    class Unreadable:
        def __getattr__(self, name: str) -> object:
            if name == "waiting":
                raise ServiceUnavailable("the table does not answer")
            return getattr(stage.world.runs, name)

    world = replace(stage.world, runs=Unreadable())  # type: ignore[arg-type]
    ended = Assembly.of(world).endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
    assert ended.status is RunStatus.COMPLETED


def test_a_run_that_was_let_in_meanwhile_is_left_alone(stage: Stage) -> None:
    limited(stage, Overflow.QUEUE)
    first, second = stage.start(), stage.start()
    turns = stage.assembly.endings.turns
    assert turns.urge(stage.scope, second) == 0
    end(stage, first)
    assert turns.next(stage.scope, "workflow#w-demo") == 0
    assert stage.run(second).id == RunId(second.id)
