"""The end of a run is told on the bus before it is written, and chains of runs come to an end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.errors import BadInput, ServiceUnavailable
from stellwerk.kernel.ids import ROOT, NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.announcing import LONGEST_CHAIN, announce
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Failure, ParentStep, Run, RunStatus, TriggeredBy
from stellwerk.tenancy.bus import OURS, RUN_FINISHED, BusEvent
from stellwerk.tenancy.scope import Scope
from tests.fakes.triggers import FakeBus
from tests.runs.stage import Stage, graph


@pytest.fixture
def bus() -> FakeBus:
    return FakeBus()


def telling(bus: FakeBus) -> Stage:
    """Return a stage on which the ends of runs are told."""
    stage = Stage()
    stage.world = replace(stage.world, bus=bus)
    stage.assembly = Assembly.of(stage.world)
    stage.publish(graph({"start": "trigger", "work": "data.set"}, ["start work"]))
    return stage


@pytest.fixture
def stage(bus: FakeBus) -> Stage:
    return telling(bus)


def told(bus: FakeBus) -> list[JsonValue]:
    return [event.data for event in bus.told]


def test_a_run_that_ends_is_told_of_with_how_it_ended(stage: Stage, bus: FakeBus) -> None:
    run = stage.start()
    stage.assembly.endings.execution_ended(stage.scope, run, Ended("FAILED", "Boom", "it broke"))
    [event] = bus.told
    assert (event.source, event.type, event.workflow) == (OURS, RUN_FINISHED, run.workflow)
    assert event.id == f"stellwerk/run.finished/{run.id}/0"
    data = event.data
    assert isinstance(data, dict)
    assert (data["run"], data["status"]) == (run.id, "failed")
    error = data["error"]
    assert isinstance(error, dict)
    assert error["type"] == "Boom"


def test_completed_and_cancelled_runs_say_so(stage: Stage, bus: FakeBus) -> None:
    stage.assembly.endings.execution_ended(stage.scope, stage.start(), Ended("SUCCEEDED"))
    stage.assembly.endings.cancel(stage.scope, stage.start().id, cause="enough")
    stati = [data["status"] for data in told(bus) if isinstance(data, dict)]
    assert stati == ["completed", "cancelled"]


def test_while_nobody_can_be_told_the_run_is_not_over(stage: Stage, bus: FakeBus) -> None:
    run = stage.start()
    bus.down = True
    with pytest.raises(ServiceUnavailable):
        stage.assembly.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
    assert stage.run(run).status is RunStatus.RUNNING
    bus.down = False
    stage.assembly.endings.execution_ended(stage.scope, stage.run(run), Ended("SUCCEEDED"))
    assert stage.run(run).status is RunStatus.COMPLETED
    assert len(bus.told) == 1


class Refusing(FakeBus):
    """A bus that takes no event."""

    def publish(self, scope: Scope, event: BusEvent) -> None:
        raise BadInput("too large")


def test_a_bus_that_refuses_keeps_no_run_open() -> None:
    stage = telling(Refusing())
    run = stage.start()
    stage.assembly.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
    assert stage.run(run).status is RunStatus.COMPLETED


def test_a_decided_task_is_told_of_and_one_that_could_not_be_told_comes_again(
    stage: Stage, bus: FakeBus
) -> None:
    stage.publish(graph({"start": "trigger", "ask": "input.approval"}, ["start ask"]))
    tasks = stage.assembly.tasks
    task = stage.ask(stage.start())
    bus.down = True
    tasks.decide(stage.scope, task.id, "approved")
    assert [left.id for left in stage.world.tasks.unanswered(stage.scope)] == [task.id]
    bus.down = False
    tasks.answer(stage.scope, stage.world.tasks.get(stage.scope, task.id))
    assert [*stage.world.tasks.unanswered(stage.scope)] == []
    [event] = bus.told
    assert (event.id, event.type) == (f"stellwerk/task.decided/{task.id}", "task.decided")
    assert isinstance(event.data, dict)
    assert (event.data["port"], event.data["run"]) == ("approved", task.run)


def test_a_bus_that_refuses_leaves_no_task_unanswered() -> None:
    stage = telling(Refusing())
    stage.publish(graph({"start": "trigger", "ask": "input.approval"}, ["start ask"]))
    task = stage.ask(stage.start())
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    assert [*stage.world.tasks.unanswered(stage.scope)] == []


def started_by(run: Run, delivery: str) -> Run:
    trigger = TriggeredBy(node=NodeKey("start"), delivery=delivery, kind="trigger.event")
    failure = Failure(type="Boom", message="it broke")
    return run.model_copy(update={"trigger": trigger, "error": failure})


def test_a_chain_of_runs_that_start_one_another_is_told_of_no_further(
    stage: Stage, bus: FakeBus
) -> None:
    run = stage.start()
    for depth in range(LONGEST_CHAIN + 3):
        delivery = f"start/event/{OURS}/{RUN_FINISHED}/r-0/{depth}"
        announce(stage.world, stage.scope, started_by(run, delivery))
    assert [event.id.rpartition("/")[2] for event in bus.told] == ["1", "2", "3", "4", "5"]
    announce(stage.world, stage.scope, started_by(run, "start/event/shop/run.finished/r/9"))
    assert bus.told[-1].id.endswith("/0")


def test_nobody_is_told_of_tests_and_of_runs_that_others_have_called(
    stage: Stage, bus: FakeBus
) -> None:
    run = stage.start()
    parent = ParentStep(run=run.id, path=ROOT, node=NodeKey("a"), depth=1)
    for changes in ({"mode": "test"}, {"parent": parent}):
        announce(stage.world, stage.scope, run.model_copy(update=changes))
    assert bus.told == []
