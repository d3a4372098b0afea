"""Trials: drafts that run as they were when the test began."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import ROOT, NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.calls import RunRef
from stellwerk.runs.model import Run
from stellwerk.runs.world import World
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from stellwerk.workflows.model import Version, Workflow
from tests.fakes.executions import FakeExecutions
from tests.fakes.platform import FakeActors
from tests.runs.stage import CATALOGUE
from tests.workflows.desk import ANNA, CARA, NOBODY, Desk, drawn


@pytest.fixture
def workflow(desk: Desk) -> Workflow:
    return desk.service.create(ANNA, "Invoices", graph=drawn(1))[0]


def assembly(desk: Desk) -> tuple[Assembly, FakeExecutions]:
    stores, executions = desk.stores, FakeExecutions()
    world = World(
        journal=stores.journal,
        runs=stores.runs,
        tasks=stores.tasks,
        waits=stores.waits,
        due=stores.due,
        executions=executions,
        versions=stores.versions,
        blueprints=Blueprints(stores.versions, stores.keeper),
        values=stores.keeper,
        catalogue=CATALOGUE,
        clock=desk.clock,
        actors=FakeActors(),
        machines=desk.machines,
        trials=desk.service,
    )
    return Assembly.of(world), executions


def draft(desk: Desk, workflow: Workflow) -> Version:
    return desk.service.version(ANNA, workflow.id, 1)


def value(runs: Assembly, run: Run) -> JsonObject:
    return runs.world.graph(ANNA, run).by_key[NodeKey("work")].parameters


def test_a_trial_has_machines_named_after_its_graph_and_leaves_the_draft_alone(
    desk: Desk, workflow: Workflow
) -> None:
    before = draft(desk, workflow)
    trial = desk.service.prepare(ANNA, workflow, before)
    [name] = desk.machines.definitions
    assert name.startswith("m-one-invoices-v1-test-")
    assert trial.machines[""].endswith(name)
    assert trial.retiring == desk.clock.now() + timedelta(days=7)
    assert draft(desk, workflow) == before
    assert desk.service.versions(ANNA, workflow.id).items == [before]
    assert desk.service.prepare(ANNA, workflow, before) == trial
    desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(2))
    assert desk.service.prepare(ANNA, workflow, draft(desk, workflow)).trial != trial.trial
    assert len(desk.machines.definitions) == 2


def test_a_trial_that_is_used_again_is_kept_longer(desk: Desk, workflow: Workflow) -> None:
    first = desk.service.prepare(ANNA, workflow, draft(desk, workflow))
    desk.clock.advance(hours=23)
    assert desk.service.prepare(ANNA, workflow, draft(desk, workflow)) == first
    desk.clock.advance(hours=2)
    again = desk.service.prepare(ANNA, workflow, draft(desk, workflow))
    assert again.retiring == desk.clock.now() + timedelta(days=7)


def test_a_large_draft_has_a_trial_too(desk: Desk, workflow: Workflow) -> None:
    desk.service.save_draft(ANNA, workflow.id, 1, None, drawn("x" * 50_000))
    large = draft(desk, workflow)
    assert large.graph.ref is not None
    assert large.graph.ref.sha256.startswith(desk.service.prepare(ANNA, workflow, large).trial)


def test_a_faulty_draft_cannot_be_tried(desk: Desk, workflow: Workflow) -> None:
    desk.compiler.faults = [Fault(Code.CYCLE, "A circle.")]
    with pytest.raises(InvalidGraph, match="A circle"):
        desk.service.prepare(ANNA, workflow, draft(desk, workflow))
    assert desk.machines.definitions == {}


def test_a_draft_that_one_may_not_read_is_not_tried(desk: Desk, workflow: Workflow) -> None:
    found = draft(desk, workflow)
    assert desk.service.prepare(CARA, workflow, found).trial
    with pytest.raises(NotFound):
        desk.service.prepare(NOBODY, workflow, found)


def test_two_tests_that_begin_at_once_share_their_trial(desk: Desk, workflow: Workflow) -> None:
    found = draft(desk, workflow)
    first = desk.service.prepare(ANNA, workflow, found)
    unwritten = first.model_copy(update={"revision": 0})
    assert desk.service._kept_trial(ANNA, unwritten) == first


def test_a_test_runs_the_draft_as_it_was_when_it_began(desk: Desk, workflow: Workflow) -> None:
    runs, executions = assembly(desk)
    first = runs.runs.start(ANNA, workflow.id, mode="test")
    desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(2))
    second = runs.runs.start(ANNA, workflow.id, mode="test")
    assert (first.version, second.version) == (1, 1)
    assert (value(runs, first)["value"], value(runs, second)["value"]) == (1, 2)
    for run in (first, second):
        started = executions.started[run.execution]["run"]
        assert isinstance(started, dict)
        assert started["trial"] == run.trial
        level = runs.level(ANNA, RunRef.model_validate(started), ROOT)
        assert level.blueprint.version.trial == run.trial
    assert runs.runs.continue_(ANNA, first.id).execution.endswith("-g2")


def test_a_published_version_is_tested_on_its_own_machine(desk: Desk, workflow: Workflow) -> None:
    _, version = desk.service.publish_version(ANNA, workflow.id, 1)
    runs, _ = assembly(desk)
    run = runs.runs.start(ANNA, workflow.id, mode="test")
    assert run.trial == ""
    assert version.machines[""].rsplit(":", 1)[-1] in run.execution


def test_an_archived_version_is_tested_on_machines_of_its_trial(
    desk: Desk, workflow: Workflow
) -> None:
    _, version = desk.service.publish_version(ANNA, workflow.id, 1)
    desk.service.archive(ANNA, workflow.id, 1)
    runs, _ = assembly(desk)
    run = runs.runs.start(ANNA, workflow.id, version=1, mode="test")
    assert run.trial
    assert version.machines[""].rsplit(":", 1)[-1] not in run.execution
    desk.clock.advance(days=8)
    assert runs.sweeper.sweep(ANNA).retired == 1
    assert desk.service.republish(ANNA, workflow.id, 1)[0].published == 1


def test_trials_go_when_no_run_has_needed_them_for_a_while(desk: Desk, workflow: Workflow) -> None:
    runs, _ = assembly(desk)
    run = runs.runs.start(ANNA, workflow.id, mode="test")
    desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(2))
    other = runs.runs.start(ANNA, workflow.id, mode="test")
    runs.runs.cancel(ANNA, other.id)
    desk.clock.advance(days=6)
    assert runs.sweeper.sweep(ANNA).retired == 0
    desk.clock.advance(days=1, hours=2)
    assert runs.sweeper.sweep(ANNA).retired == 1
    [name] = desk.machines.definitions
    assert name in run.execution
    with pytest.raises(Conflict, match="no state machine"):
        runs.runs.replay(ANNA, other.id)
    again = runs.runs.start(ANNA, workflow.id, mode="test")
    assert again.trial == other.trial
    assert len(desk.machines.definitions) == 2
    runs.runs.cancel(ANNA, again.id)
    assert runs.runs.replay(ANNA, again.id).trial == again.trial


def test_a_process_that_cannot_compile_tests_no_draft(desk: Desk, workflow: Workflow) -> None:
    runs, _ = assembly(desk)
    bare = Assembly.of(replace(runs.world, trials=None))
    with pytest.raises(Conflict, match="no state machine"):
        bare.runs.start(ANNA, workflow.id, mode="test")
