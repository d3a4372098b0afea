"""Who may do what with runs and tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.audited import AuditedRuns, AuditedTasks
from stellwerk.runs.model import HumanTask, Run, RunStatus, TaskStatus
from stellwerk.runs.service import RunService
from stellwerk.runs.tasks import TaskService
from stellwerk.tenancy.access import AccessRule, Level
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, Scope
from stellwerk.workflows.faults import InvalidGraph
from stellwerk.workflows.model import Reference
from tests.fakes.audit import FakeAuditLog
from tests.fakes.compiler import FakeThings
from tests.runs.stage import QUESTION, Stage, graph
from tests.workflows.desk import ADMIN, READER, USER, operation, person, rule

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])


def here(user: str, *rules: AccessRule, label: str = "role") -> Scope:
    return person(user, rules, mandate=SEEDED_MANDATE, instance=SEEDED_INSTANCE, label=label)


DECIDE = operation("decide")
ROOT = here("u-root", *ADMIN)
ANNA = here("u-anna", *USER, DECIDE, rule("data.feature.graphicalEditor.workflows", Level.INSTANCE))
BEN = here("u-ben", *ANNA.principal.grants[0].rules)
VIEWER = here("u-viewer", *READER)
FINANCE = here("u-fred", DECIDE, label="finance")
NOBODY = here("u-nobody")


@pytest.fixture
def log() -> FakeAuditLog:
    return FakeAuditLog()


@pytest.fixture
def runs(stage: Stage, log: FakeAuditLog) -> RunService:
    return AuditedRuns(stage.assembly, ChainedAudit(log, stage.clock))


@pytest.fixture
def tasks(stage: Stage, log: FakeAuditLog) -> TaskService:
    return AuditedTasks(stage.assembly, ChainedAudit(log, stage.clock))


@pytest.fixture
def run(stage: Stage, runs: RunService) -> Run:
    """A run of Anna's."""
    stage.publish(ASKING)
    return runs.start(ANNA, "demo")


def acts(log: FakeAuditLog) -> list[tuple[str, str, str]]:
    return [
        (record.action, str(record.outcome), record.user)
        for record in log.all(SEEDED_MANDATE)
        if str(record.outcome) != "begun"
    ]


def test_whoever_may_execute_starts_runs_that_are_hers(run: Run, log: FakeAuditLog) -> None:
    assert run.user == "u-anna"
    assert acts(log) == [("run.start", "done", "u-anna")]
    assert log.all(SEEDED_MANDATE)[-1].object == f"run:{run.id}"


@pytest.mark.parametrize(("scope", "error"), [(VIEWER, Forbidden), (NOBODY, NotFound)])
def test_others_start_nothing(
    stage: Stage, runs: RunService, run: Run, scope: Scope, error: type[Exception]
) -> None:
    with pytest.raises(error):
        runs.start(scope, "demo")
    assert len(runs.list(ROOT).items) == 1


def test_a_workflow_that_one_may_not_read_cannot_be_started(stage: Stage, run: Run) -> None:
    stranger = here("u-carl", *USER)
    with pytest.raises(NotFound):
        stage.assembly.runs.start(stranger, "demo")


Act = Callable[[RunService, Scope, Run], object]
READING: dict[str, Act] = {
    "get": lambda runs, scope, run: runs.get(scope, run.id),
    "steps": lambda runs, scope, run: runs.steps(scope, run.id),
    "cancel": lambda runs, scope, run: runs.cancel(scope, run.id),
    "replay": lambda runs, scope, run: runs.replay(scope, run.id),
    "writes_again": lambda runs, scope, run: runs.writes_again(scope, run.id),
    "continue": lambda runs, scope, run: runs.continue_(scope, run.id),
}


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("scope", [BEN, NOBODY], ids=lambda scope: scope.user)
def test_a_run_that_one_may_not_read_does_not_exist(
    runs: RunService, run: Run, scope: Scope, name: str
) -> None:
    with pytest.raises(NotFound):
        READING[name](runs, scope, run)
    assert runs.get(ANNA, run.id) == run


@pytest.mark.parametrize("name", ["cancel", "replay", "continue"])
def test_a_viewer_reads_runs_and_changes_none(
    runs: RunService, run: Run, log: FakeAuditLog, name: str
) -> None:
    assert runs.get(VIEWER, run.id) == run
    assert list(runs.steps(VIEWER, run.id)) == []
    with pytest.raises(Forbidden):
        READING[name](runs, VIEWER, run)
    if name != "continue":
        assert acts(log)[-1] == (f"run.{name}", "denied", "u-viewer")
    assert runs.get(ANNA, run.id) == run


def test_ones_own_run_can_be_cancelled_and_replayed(
    runs: RunService, run: Run, log: FakeAuditLog
) -> None:
    assert runs.cancel(ANNA, run.id).status is RunStatus.CANCELLED
    assert runs.replay(ANNA, run.id).origin == run.id
    assert [act[:2] for act in acts(log)[1:]] == [("run.cancel", "done"), ("run.replay", "done")]


def test_lists_and_counts_show_what_one_may_read(runs: RunService, run: Run) -> None:
    theirs = runs.start(BEN, "demo")
    assert [found.id for found in runs.list(ANNA).items] == [run.id]
    assert runs.list(ANNA, user=UserId("u-ben")).items == []
    assert [found.id for found in runs.list(ANNA, user=UserId("u-anna")).items] == [run.id]
    assert {found.id for found in runs.list(VIEWER).items} == {run.id, theirs.id}
    assert [found.id for found in runs.list(VIEWER, user=UserId("u-ben")).items] == [theirs.id]
    assert runs.count(ANNA)[RunStatus.RUNNING] == 1
    assert runs.count(VIEWER)[RunStatus.RUNNING] == 2
    for act in (runs.list, runs.count):
        with pytest.raises(Forbidden):
            act(NOBODY)


@pytest.fixture
def task(stage: Stage, run: Run) -> HumanTask:
    """A task that waits for finance."""
    return stage.ask(run)


@pytest.mark.parametrize(
    ("assignee", "scope", "sees"),
    [
        ("role:finance", FINANCE, True),
        ("role:finance", ANNA, False),
        ("user:u-fred", FINANCE, True),
        ("u-fred", FINANCE, True),
        ("*", NOBODY, True),
        ("role:Finance", FINANCE, False),
        ("user:u-anna", FINANCE, False),
    ],
)
def test_a_task_is_in_the_inbox_of_those_for_whom_it_waits(
    stage: Stage, run: Run, tasks: TaskService, assignee: str, scope: Scope, sees: bool
) -> None:
    task = stage.ask(run, question=replace(QUESTION, assignees=(assignee,)))
    assert tasks.list(scope).items == ([task] if sees else [])
    assert tasks.list(scope, mine=True).items == ([task] if sees else [])
    if sees:
        assert tasks.get(scope, task.id) == task
    else:
        with pytest.raises(NotFound):
            tasks.get(scope, task.id)


def test_whoever_may_read_all_tasks_sees_all_unless_he_asks_for_his(
    tasks: TaskService, task: HumanTask
) -> None:
    assert tasks.list(VIEWER).items == [task]
    assert tasks.list(VIEWER, mine=True).items == []
    assert tasks.get(VIEWER, task.id) == task


def test_a_task_is_decided_by_those_for_whom_it_waits(
    tasks: TaskService, task: HumanTask, log: FakeAuditLog
) -> None:
    with pytest.raises(NotFound):
        tasks.decide(ANNA, task.id, "approved")
    with pytest.raises(Forbidden):
        tasks.decide(VIEWER, task.id, "approved")
    decided = tasks.decide(FINANCE, task.id, "approved")
    assert decided.decision is not None
    assert decided.decision.by == "u-fred"
    assert acts(log)[1:] == [
        ("task.decide", "denied", "u-viewer"),
        ("task.decide", "done", "u-fred"),
    ]
    assert tasks.list(FINANCE).items == []
    [found] = tasks.list(FINANCE, status=TaskStatus.COMPLETED, mine=True).items
    assert found.decision == decided.decision
    assert tasks.list(ANNA, status=TaskStatus.COMPLETED).items == []


def test_deciding_needs_its_operation_and_for_others_a_right_to_all_tasks(
    stage: Stage, tasks: TaskService, task: HumanTask
) -> None:
    powerless = here("u-fred", label="finance")
    with pytest.raises(Forbidden, match="'decide'"):
        tasks.decide(powerless, task.id, "approved")
    deputy = here("u-dora", DECIDE, rule("data.feature.graphicalEditor.tasks", Level.INSTANCE))
    assert tasks.decide(deputy, task.id, "rejected").status is TaskStatus.COMPLETED


def test_a_task_is_handed_on_and_is_then_the_others(
    tasks: TaskService, task: HumanTask, log: FakeAuditLog
) -> None:
    with pytest.raises(Forbidden):
        tasks.delegate(VIEWER, task.id, UserId("u-ben"))
    handed = tasks.delegate(FINANCE, task.id, UserId("u-ben"))
    assert handed.assignees == ("user:u-ben",)
    [delegation] = handed.delegations
    assert (delegation.by, delegation.to) == ("u-fred", "u-ben")
    assert tasks.list(FINANCE).items == []
    assert tasks.list(BEN).items == [handed]
    assert tasks.decide(BEN, task.id, "approved").status is TaskStatus.COMPLETED
    with pytest.raises(Conflict, match="u-ben chose 'approved'"):
        tasks.delegate(BEN, task.id, UserId("u-anna"))
    assert ("task.delegate", "done", "u-fred") in acts(log)


def test_a_task_is_handed_only_to_someone_who_is_there(stage: Stage, task: HumanTask) -> None:
    things = {"user": FakeThings((FINANCE, "u-ben"))}
    world = replace(stage.world, things=things)
    tasks = stage.with_world(world).tasks
    with pytest.raises(BadInput, match="no user 'u-zoe'"):
        tasks.delegate(FINANCE, task.id, UserId("u-zoe"))
    assert tasks.delegate(FINANCE, task.id, UserId("u-ben")).assignees == ("user:u-ben",)


def test_a_task_is_cancelled_by_whoever_may_cancel_its_run(
    stage: Stage, tasks: TaskService, run: Run, task: HumanTask
) -> None:
    with pytest.raises(Forbidden):
        tasks.cancel(FINANCE, task.id)
    with pytest.raises(Forbidden):
        tasks.cancel(VIEWER, task.id)
    mine = stage.ask(run, question=replace(QUESTION, assignees=("user:u-anna",)), token="t-2")
    assert mine.id == task.id
    everyone = stage.assembly.runs.start(ANNA, "demo")
    asked = stage.ask(everyone, question=replace(QUESTION, assignees=("user:u-anna",)))
    assert tasks.cancel(ANNA, asked.id).status is TaskStatus.CANCELLED
    assert tasks.cancel(ROOT, task.id).status is TaskStatus.CANCELLED
    assert stage.run(run).status is RunStatus.CANCELLED


@pytest.mark.parametrize(
    "foreign",
    [
        person("u-anna", ADMIN, mandate=MandateId("m-two"), instance=SEEDED_INSTANCE),
        person("u-anna", ADMIN, mandate=SEEDED_MANDATE, instance=InstanceId("i-two")),
    ],
)
def test_in_another_place_there_is_nothing(
    runs: RunService, tasks: TaskService, run: Run, task: HumanTask, foreign: Scope
) -> None:
    for act in READING.values():
        with pytest.raises(NotFound):
            act(runs, foreign, run)
    with pytest.raises(NotFound):
        tasks.get(foreign, task.id)
    with pytest.raises(NotFound):
        tasks.decide(foreign, task.id, "approved")
    with pytest.raises(NotFound):
        tasks.delegate(foreign, task.id, UserId("u-ben"))
    with pytest.raises(NotFound):
        tasks.cancel(foreign, task.id)
    assert runs.list(foreign).items == []
    assert tasks.list(foreign).items == []


def test_a_workflow_that_sleeps_starts_nothing_but_tests(stage: Stage) -> None:
    workflow = stage.publish(ASKING)
    before = stage.versions.workflow(stage.scope, workflow)
    asleep = before.model_copy(update={"active": False})
    stage.versions.change(stage.scope, before, asleep)
    with pytest.raises(Conflict, match="'demo' is not active"):
        stage.start()
    assert stage.assembly.runs.start(stage.scope, "demo", mode="test").mode == "test"


def test_a_sleeping_sub_workflow_is_not_pinned_but_a_pinned_one_goes_on(stage: Stage) -> None:
    stage.publish(graph({"start": "trigger", "called": "called"}), slug="child")
    call: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}
    stage.publish(graph({"start": "trigger", "call": call}, ["start call"]), slug="parent")
    assert stage.start("parent").pinned_versions == {"w-child": 1}
    before = stage.versions.find(stage.scope, "child")
    assert before is not None
    stage.versions.change(stage.scope, before, before.model_copy(update={"active": False}))
    assert stage.start("parent").pinned_versions == {}


def test_what_a_version_names_must_be_there_when_it_starts(stage: Stage) -> None:
    workflow = stage.publish(ASKING)
    version = stage.versions.get(stage.scope, workflow, 1)
    names = (
        Reference(node="ask", parameter="assignees[0]", kind="user", name="u-zoe"),
        Reference(node="ask", parameter="workflow", kind="workflow", name="w-gone"),
    )
    stage.versions.save(stage.scope, version.model_copy(update={"names": names}))
    assert stage.start().workflow == workflow
    things = {"user": FakeThings((stage.scope, "u-anna"))}
    runs = stage.with_world(replace(stage.world, things=things)).runs
    with pytest.raises(InvalidGraph, match="there is no user") as refused:
        runs.start(stage.scope, "demo")
    assert [fault.node for fault in refused.value.faults] == ["ask"]
