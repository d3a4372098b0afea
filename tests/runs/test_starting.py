"""Starting: one delivery is one run, whatever happens between its record and its execution."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import RunStatus
from stellwerk.runs.pinning import Pinned
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import VersionStatus
from tests.runs.stage import FOREIGN, Crash, Power, Stage, fragile, graph, machine

LINE = graph({"start": "trigger", "set": "data.set"}, ["start set"])


def test_a_started_run_has_an_execution_named_for_its_generation(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.start(payload={"a": 1})
    assert run.status is RunStatus.RUNNING
    assert run.execution.endswith(f":{run.id}-g1")
    data = stage.executions.started[run.execution]
    assert data["trigger"] == "start"
    assert data["run"] == {
        "id": run.id,
        "mandate": "m-demo",
        "instance": "i-demo",
        "user": "u-demo",
        "workflow": "w-demo",
        "version": 1,
        "execution": 1,
        "trigger": "start",
        "started": "2026-11-02T09:00:00.000Z",
        "origin": run.id,
        "mode": "live",
        "trial": "",
    }
    assert stage.value(run.input) == {"a": 1}


def test_a_redelivery_returns_the_same_run_and_starts_nothing_else(stage: Stage) -> None:
    stage.publish(LINE)
    first = stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7")
    stage.clock.advance(seconds=5)
    second = stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7")
    assert second.id == first.id
    assert list(stage.executions.started) == [first.execution]


def test_a_redelivery_finds_its_run_though_nothing_is_published_any_more(stage: Stage) -> None:
    workflow = stage.publish(LINE)
    first = stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7")
    published = stage.versions.workflow(stage.scope, workflow)
    withdrawn = published.model_copy(update={"published": None})
    stage.memory.of(stage.scope).workflows[workflow] = withdrawn
    assert stage.assembly.runs.start(stage.scope, "demo", delivery="mail-7") == first
    with pytest.raises(BadInput, match="has no published version"):
        stage.assembly.runs.start(stage.scope, "demo", delivery="mail-8")


def test_starts_without_a_delivery_are_different_runs(stage: Stage) -> None:
    stage.publish(LINE)
    assert stage.start().id != stage.start().id


def test_a_crash_at_any_call_of_a_start_is_repaired_by_the_redelivery(stage: Stage) -> None:
    stage.publish(LINE)
    crashes = 0
    for at in range(1, 20):
        power = Power(at)
        broken = Assembly.of(fragile(stage.world, power))
        delivery = f"delivery-{at}"
        pinned = {NodeKey("set"): 5}
        try:
            broken.runs.start(stage.scope, "demo", delivery=delivery, pinned=pinned)
        except Crash:
            crashes += 1
        run = stage.assembly.runs.start(
            stage.scope, "demo", delivery=delivery, pinned={NodeKey("set"): 5}
        )
        assert run.execution in stage.executions.started
        assert stage.step(run, "set").port == "out"
    runs = stage.assembly.runs.list(stage.scope).items
    assert len(runs) == len(stage.executions.started) == 19
    assert crashes == 6


def test_a_redelivery_after_the_end_starts_nothing(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.assembly.runs.start(stage.scope, "demo", delivery="d")
    stage.assembly.runs.cancel(stage.scope, run.id)
    again = stage.assembly.runs.start(stage.scope, "demo", delivery="d")
    assert again.status is RunStatus.CANCELLED
    assert len(stage.executions.started) == 1


def test_a_run_cancelled_before_its_execution_started_is_stopped_when_it_does(
    stage: Stage,
) -> None:
    stage.publish(LINE)
    with pytest.raises(Crash):
        power = Power(3)  # the run is on record, its execution is not started
        Assembly.of(fragile(stage.world, power)).runs.start(stage.scope, "demo", delivery="d")
    stale = stage.assembly.runs.list(stage.scope).items[0]
    stage.assembly.runs.cancel(stage.scope, stale.id)
    noted = stage.assembly.starting.launch(stage.scope, stale)
    assert stage.executions.stopped == [(noted.execution, "cancelled before it was started")]


def test_the_published_version_starts_live_and_the_latest_in_a_test(stage: Stage) -> None:
    stage.publish(LINE)
    stage.publish(LINE, status=VersionStatus.DRAFT)
    assert stage.start().version == 1
    test = stage.assembly.runs.start(stage.scope, "demo", mode="test")
    assert (test.version, test.mode) == (2, "test")


def test_a_workflow_without_a_published_version_says_so(stage: Stage) -> None:
    stage.publish(LINE, status=VersionStatus.DRAFT)
    with pytest.raises(BadInput, match="has no published version"):
        stage.start()


def test_an_archived_version_does_not_start_live(stage: Stage) -> None:
    stage.publish(LINE)
    stage.publish(LINE)
    with pytest.raises(Conflict, match="Version 1 of workflow 'demo' is archived"):
        stage.assembly.runs.start(stage.scope, "demo", version=1)


def test_a_version_without_a_machine_does_not_start(stage: Stage) -> None:
    workflow = stage.publish(LINE, status=VersionStatus.DRAFT)
    tenant = stage.memory.of(stage.scope)
    version = tenant.versions[workflow, 1, ""]
    tenant.versions[workflow, 1, ""] = version.model_copy(update={"machines": {}})
    with pytest.raises(Conflict, match="has no state machine"):
        stage.assembly.runs.start(stage.scope, "demo", mode="test")
    assert stage.assembly.runs.list(stage.scope).items == []


def test_an_unknown_trigger_is_refused_with_the_choices(stage: Stage) -> None:
    stage.publish(graph({"b": "trigger", "a": "trigger", "set": "data.set"}, ["a set", "b set"]))
    assert stage.start().trigger.node == "a"
    with pytest.raises(BadInput, match=r"no trigger 'set'\. Its triggers are: a, b"):
        stage.assembly.runs.start(stage.scope, "demo", trigger=NodeKey("set"))


def test_a_workflow_without_triggers_says_so(stage: Stage) -> None:
    stage.publish(graph({"set": "data.set", "odd": "no.such"}))
    with pytest.raises(BadInput, match=r"has no trigger node\. Its triggers are: none"):
        stage.start()


def test_a_foreign_scope_finds_no_workflow(stage: Stage) -> None:
    workflow = stage.publish(LINE)
    for name in (workflow, "demo"):
        with pytest.raises(NotFound):
            stage.assembly.runs.start(FOREIGN, name)
    assert stage.executions.started == {}


def test_pinned_values_are_entries_of_the_run_before_it_starts(stage: Stage) -> None:
    stage.publish(
        graph({"start": "trigger", "if": "flow.if", "set": "data.set"}, ["start if", "if.true set"])
    )
    run = stage.assembly.runs.start(
        stage.scope,
        "demo",
        pinned={NodeKey("if"): Pinned({"x": 1}, port="false"), NodeKey("set"): [1]},
    )
    pinned = stage.step(run, "if")
    assert (pinned.port, pinned.recorded_from) == ("false", run.id)
    assert stage.value(pinned.value) == {"x": 1}
    assert stage.step(run, "set").port == "out"


def test_pinning_an_unknown_node_or_one_in_a_loop_is_refused(stage: Stage) -> None:
    stage.publish(
        graph(
            {
                "start": "trigger",
                "each": "flow.for_each",
                "in": {"type": "data.set", "parent": "each"},
            },
            ["start each"],
        )
    )
    pinned = {NodeKey("in"): 1, NodeKey("none"): 2}
    with pytest.raises(
        BadInput, match=r"pinned on: in, none\. Nodes outside loops are: each, start"
    ):
        stage.assembly.runs.start(stage.scope, "demo", pinned=pinned)
    assert stage.assembly.runs.list(stage.scope).items == []


def test_versions_of_sub_workflows_are_fixed_at_the_start_however_deep(stage: Stage) -> None:
    grand = stage.publish(graph({"c": "called"}), slug="grand")
    child = stage.publish(_calling("called", "grand"), slug="child")
    draft = stage.publish(graph({"c": "called"}), slug="draft")
    stage.memory.of(stage.scope).workflows[draft] = stage.versions.workflow(
        stage.scope, draft
    ).model_copy(update={"published": None})
    nodes: dict[str, str | JsonObject] = {
        "start": "trigger",
        "by_id": {"type": "flow.subworkflow", "parameters": {"workflow": child}},
        "dynamic": {"type": "flow.subworkflow", "parameters": {"workflow": "{{ $input }}"}},
        "missing": {"type": "flow.subworkflow", "parameters": {"workflow": "nowhere"}},
        "draft": {"type": "flow.subworkflow", "parameters": {"workflow": "draft"}},
    }
    stage.publish(graph(nodes))
    assert stage.start().pinned_versions == {child: 1, grand: 1}


def test_a_workflow_that_calls_itself_is_pinned_once(stage: Stage) -> None:
    own = stage.publish(_calling("trigger", "demo"))
    stage.publish(_calling("trigger", "demo"))
    assert stage.start().pinned_versions == {own: 2}


def test_machine_names_are_the_ones_of_the_version(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.start()
    expected = machine("m-demo-demo-v1").replace("stateMachine", "execution")
    assert run.execution.startswith(expected)


def _calling(trigger: str, slug: str) -> Graph:
    call: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": slug}}
    return graph({"start": trigger, "call": call}, ["start call"])
