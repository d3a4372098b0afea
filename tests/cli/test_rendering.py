from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console, RenderableType

from localcloud.cli.rendering import (
    fault_table,
    run_lines,
    run_table,
    step_table,
    type_table,
    where,
)
from localcloud.cli.task_tables import task_table
from localcloud.cli.views import RunView, StepView, TaskView
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.ids import NodeKey, Path, RunId, TaskId, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.runs.model import (
    Attempt,
    Decision,
    Failure,
    HumanTask,
    Run,
    RunStatus,
    Step,
    StepStatus,
    TaskStatus,
    TriggeredBy,
)
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, SEEDED_USER
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Edge

NOW = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)
RUN = Run(
    id=RunId("r1"),
    mandate=SEEDED_MANDATE,
    instance=SEEDED_INSTANCE,
    user=SEEDED_USER,
    workflow=WorkflowId("w1"),
    version=2,
    title="Order [draft]",
    status=RunStatus.RUNNING,
    trigger=TriggeredBy(node=NodeKey("start"), delivery="r1"),
    started=NOW,
)
STEP = Step(run=RUN.id, node=NodeKey("book"), type="data.set", status=StepStatus.SUCCEEDED)
FAILURE = Failure(type="InvalidParameters", message="amount [x] is no number", remedy="Mend it.")
TASK = HumanTask(
    id=TaskId("t1"),
    run=RUN.id,
    path=Path("lines[3]"),
    node=NodeKey("approve"),
    workflow=RUN.workflow,
    kind="approval",
    title="Approve [4711]",
    assignees=("role:finance",),
    ports=("approved", "rejected"),
    created=NOW,
    due=NOW + timedelta(days=3),
)


def drawn(*parts: RenderableType) -> str:
    console = Console(width=200, file=io.StringIO())
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_step_shows_how_often_it_was_tried_how_long_it_took_and_its_values() -> None:
    attempts = (
        Attempt(started=NOW, ended=NOW, error=FAILURE),
        Attempt(started=NOW, ended=NOW + timedelta(seconds=1.5)),
    )
    changes = {"port": "out", "attempts": attempts, "input": Stored(text="1"), "value": Stored()}
    step = STEP.model_copy(update=changes)
    row = drawn(step_table([StepView(step, {"amount": 12}, ["ä" * 100])])).splitlines()[1]
    for part in ("book", "succeeded", "out", " 2 ", "1.5 s", '{"amount":12}', '["ääää', "…"):
        assert part in row


def test_a_step_that_failed_shows_its_last_error() -> None:
    attempts = (Attempt(started=NOW, ended=NOW + timedelta(milliseconds=20), error=FAILURE),)
    failed = STEP.model_copy(update={"status": StepStatus.FAILED, "attempts": attempts})
    text = drawn(step_table([StepView(failed, None, None)]))
    assert "InvalidParameters: amount [x] is no number" in text
    assert "20 ms" in text


def test_a_step_that_has_not_begun_shows_no_time() -> None:
    text = drawn(step_table([StepView(STEP, None, None)]))
    assert " ms" not in text
    assert "null" not in text
    assert "error" not in text


@pytest.mark.parametrize("status", RunStatus)
def test_the_head_of_a_run_names_it_and_its_status(status: RunStatus) -> None:
    view = RunView(RUN.model_copy(update={"status": status}), None, {"sum": 3}, ())
    text = drawn(*run_lines(view))
    assert "Order [draft] v2" in text
    assert status in text
    assert ('output {"sum":3}' in text) is (status is RunStatus.COMPLETED)
    assert text.splitlines()[0].endswith(status)


def test_the_head_of_a_failed_run_says_what_where_and_the_remedy() -> None:
    error = FAILURE.model_copy(update={"node": NodeKey("book")})
    text = drawn(*run_lines(RunView(RUN.model_copy(update={"error": error}), None, None, ())))
    assert "InvalidParameters at book: amount [x] is no number" in text
    assert "Mend it." in text


def test_runs_are_listed_with_their_waits_and_errors() -> None:
    failed = RUN.model_copy(update={"error": FAILURE, "ended": NOW + timedelta(seconds=2)})
    text = drawn(run_table([RUN.model_copy(update={"waits": 7}), failed]))
    for part in ("r1", "Order [draft] v2", "2026-12-01 08:30:00", " 7 ", "2.0 s", "[x]"):
        assert part in text


def test_tasks_are_listed_with_what_can_be_answered_or_was() -> None:
    text = drawn(task_table([TaskView(TASK, "Order")]))
    for part in ("t1", "Approve [4711]", "lines[3].approve", "role:finance", "2026-12-04 08:30"):
        assert part in text
    assert "approved, rejected" in text
    decision = Decision(port="rejected", by=SEEDED_USER, at=NOW)
    changes = {"status": TaskStatus.COMPLETED, "decision": decision, "due": None}
    assert "completed: rejected" in drawn(
        task_table([TaskView(TASK.model_copy(update=changes), "Order")])
    )


def test_a_task_for_machines_keeps_its_token_to_itself() -> None:
    secret = TASK.model_copy(update={"token": "secret"})
    data = TaskView(secret, "Order").as_json()
    assert "token" not in data
    assert data["step"] == "lines[3].approve"


def test_every_fault_says_where_and_how_to_mend_it() -> None:
    edge = Edge.model_validate({"from": "a", "port": "no", "to": "b"})
    faults = [
        Fault(Code.PARAMETER_INVALID, "not [this]", "do that", NodeKey("a"), parameter="x"),
        Fault(Code.EDGE_PORT_UNKNOWN, "no such port", edge=edge, example=("d:yes", "e:no")),
        Fault(Code.FIELD_MISSING, "to is missing", place="edges[0]"),
        Fault(Code.ERROR_PORT_OPEN, "open", node=NodeKey("c")),
    ]
    assert [where(fault) for fault in faults] == [
        "a.x",
        "a:no → b via d:yes e:no",
        "edges[0]",
        "c",
    ]
    text = drawn(fault_table(faults))
    for part in ("✗", "!", "parameter_invalid", "not [this]", "do that", "Add the field."):
        assert part in text


def test_types_are_listed_with_ports_and_effect() -> None:
    text = drawn(type_table(StoredCatalogue().types()))
    for part in ("flow.if", "true, false", "flow.switch", "http.request", "write"):
        assert part in text
