"""Machines of versions that are no longer published go when no run needs them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import Run
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import VersionStatus
from tests.fakes.versions import FakeMachines
from tests.runs.stage import Stage, graph

LINE = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
CALLING = graph(
    {
        "start": "trigger",
        "call": {"type": "flow.subworkflow", "parameters": {"workflow": "demo"}},
    },
    ["start call"],
)
CALLED = graph({"start": "trigger", "called": "called"})


class Yard:
    """A stage with machines that can go."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.machines = FakeMachines()
        self.runs = Assembly.of(replace(self.stage.world, machines=self.machines))

    def publish(self, slug: str = "demo", drawn: Graph = LINE) -> int:
        """Publish a version, the one before retiring; return its number."""
        stage = self.stage
        before = stage.versions.find(stage.scope, slug)
        workflow = stage.publish(drawn, slug=slug)
        found = stage.versions.workflow(stage.scope, workflow)
        version = stage.versions.get(stage.scope, workflow, found.latest)
        for arn in version.machines.values():
            self.machines.create(stage.scope, arn.rsplit(":", 1)[-1], "definition")
        if before is not None and before.published:
            self.retire(workflow_number=before.published, slug=slug)
        return found.latest

    def retire(self, *, workflow_number: int, slug: str = "demo") -> None:
        stage = self.stage
        found = stage.versions.find(stage.scope, slug)
        assert found is not None
        version = stage.versions.get(stage.scope, found.id, workflow_number)
        changes = {"retiring": stage.clock.now()}
        stage.versions.save(stage.scope, version.model_copy(update=changes))

    def sweep(self, *, hours: float = 2) -> int:
        self.stage.clock.advance(hours=hours)
        return self.runs.sweeper.sweep(self.stage.scope).retired

    @property
    def names(self) -> list[str]:
        return sorted(name.removeprefix("m-demo-") for name in self.machines.definitions)


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_a_machine_without_runs_goes_after_a_rest(yard: Yard) -> None:
    yard.publish()
    yard.publish()
    assert yard.names == ["demo-v1", "demo-v2"]
    assert yard.sweep(hours=0.5) == 0
    assert yard.sweep(hours=0.6) == 1
    assert yard.names == ["demo-v2"]
    stage = yard.stage
    found = stage.versions.find(stage.scope, "demo")
    assert found is not None
    first = stage.versions.get(stage.scope, found.id, 1)
    assert (first.machines, first.retiring, first.rebuilt) == ({}, None, 1)
    assert first.status is VersionStatus.ARCHIVED
    assert yard.sweep() == 0


def test_a_machine_stays_while_a_run_of_its_version_is_open(yard: Yard) -> None:
    yard.publish()
    run = yard.stage.start()
    yard.stage.ask(run)
    yard.publish()
    assert yard.sweep(hours=9000) == 0
    assert yard.names == ["demo-v1", "demo-v2"]
    yard.runs.runs.cancel(yard.stage.scope, run.id)
    assert yard.sweep() == 1
    assert yard.names == ["demo-v2"]


def test_a_machine_stays_while_an_open_run_may_call_its_version(yard: Yard) -> None:
    yard.publish(drawn=CALLED)
    yard.publish("caller", CALLING)
    parent = yard.stage.start("caller")
    yard.stage.ask(parent, "call")
    assert parent.pinned_versions == {"w-demo": 1}
    yard.publish()
    assert yard.sweep() == 0
    yard.runs.runs.cancel(yard.stage.scope, parent.id)
    assert yard.sweep() == 1


def test_a_version_that_is_published_meanwhile_keeps_its_machines(yard: Yard) -> None:
    yard.publish()
    yard.publish()
    yard.stage.clock.advance(hours=2)
    retiring = yard.runs.sweeper._retiring
    assert retiring is not None
    [version] = retiring.due(yard.stage.scope)
    again = {"status": VersionStatus.PUBLISHED, "retiring": None}
    yard.stage.versions.save(yard.stage.scope, version.model_copy(update=again))
    with pytest.raises(Conflict):
        retiring.remove(yard.stage.scope, version)
    assert yard.names == ["demo-v1", "demo-v2"]


def test_a_process_without_machines_removes_none(yard: Yard) -> None:
    yard.publish()
    yard.publish()
    yard.stage.clock.advance(hours=2)
    assert yard.stage.assembly.sweeper.sweep(yard.stage.scope).retired == 0


def test_nothing_new_starts_on_a_version_that_retires(yard: Yard) -> None:
    yard.publish()
    run: Run = yard.stage.start()
    runs = yard.runs.runs
    runs.cancel(yard.stage.scope, run.id)
    yard.publish()
    with pytest.raises(Conflict, match="no longer published"):
        runs.replay(yard.stage.scope, run.id)
    again = runs.replay(yard.stage.scope, run.id, version=2)
    assert again.version == 2
