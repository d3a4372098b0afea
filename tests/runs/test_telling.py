"""People are told of tasks: once when asked, once for each reminder, once when it escalates."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.asking import Question
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.model import HumanTask, Run, RunStatus, StepStatus, TaskStatus
from stellwerk.runs.sweeping import Swept
from tests.fakes.people import FakeNotices
from tests.runs.stage import QUESTION, Crash, Power, Stage, fragile, graph, race

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
DAY = timedelta(days=1)


@pytest.fixture
def notices() -> FakeNotices:
    return FakeNotices()


@pytest.fixture
def stage(notices: FakeNotices) -> Stage:
    return Stage(notices=notices)


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(ASKING)
    return stage.start()


def question(stage: Stage, **changes: object) -> Question:
    due = stage.clock.now() + 7 * DAY
    return replace(QUESTION, due=due, **changes)  # type: ignore[arg-type]


def sweep(stage: Stage, **later: float) -> Swept:
    stage.clock.advance(**later)
    return stage.assembly.sweeper.sweep(stage.scope)


def test_whoever_is_asked_is_told_once(stage: Stage, run: Run, notices: FakeNotices) -> None:
    who = ("role:finance", "user:u-anna", "u-ben", "*")
    asked = question(stage, assignees=who, description="Look **well**.")
    task = stage.ask(run, question=asked)
    [notice] = notices.told
    assert (notice.kind, notice.subject) == ("task.asked", "Approve the invoice")
    assert notice.to == ("role:finance", "user:u-anna", "user:u-ben")
    assert notice.text == "Look **well**.\n\nUntil 2026-11-09T09:00:00.000Z."
    assert notice.link == f"/mandates/m-demo/instances/i-demo/tasks/{task.id}"
    about: JsonObject = {"task": task.id, "run": run.id, "workflow": run.workflow, "node": "ask"}
    assert dict(notice.about) == about
    stage.ask(run, question=asked, token="token-2")
    for _ in range(3):
        assert sweep(stage, minutes=10) == Swept()
    assert len(notices.told) == 1
    assert stage.assembly.tasks.get(stage.scope, task.id).news.told == ("asked",)


def test_reminders_come_when_they_are_due_each_once(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    late, soon = -timedelta(hours=4), DAY
    stage.ask(run, question=question(stage, reminders=(late, soon, -30 * DAY, 30 * DAY)))
    assert sweep(stage, hours=23) == Swept()
    assert sweep(stage, hours=1) == Swept(told=1)
    assert sweep(stage, hours=1) == Swept()
    assert notices.kinds == ["task.asked", "task.reminder"]
    assert notices.told[1].subject == "Reminder: Approve the invoice"
    assert sweep(stage, days=5, hours=19) == Swept(told=1)
    assert sweep(stage, hours=1) == Swept()
    assert notices.kinds == ["task.asked", "task.reminder", "task.reminder"]


def test_reminders_that_were_missed_are_one(stage: Stage, run: Run, notices: FakeNotices) -> None:
    task = stage.ask(run, question=question(stage, reminders=(DAY, 2 * DAY, 3 * DAY)))
    assert sweep(stage, days=2) == Swept(told=1)
    assert notices.kinds == ["task.asked", "task.reminder"]
    assert sweep(stage, days=1) == Swept(told=1)
    assert len(stage.assembly.tasks.get(stage.scope, task.id).news.told) == 4


def test_whoever_has_voted_is_not_reminded(stage: Stage, run: Run, notices: FakeNotices) -> None:
    asked = question(
        stage, assignees=("user:u-demo", "user:u-ben"), reminders=(DAY,), quorum=Quorum(needed=2)
    )
    task = stage.ask(run, question=asked)
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    sweep(stage, days=1)
    assert notices.told[-1].to == ("user:u-ben",)


def test_an_escalation_asks_others_as_well(stage: Stage, run: Run, notices: FakeNotices) -> None:
    asked = question(stage, escalate_after=2 * DAY, escalate_to=("role:boss", "role:finance"))
    task = stage.ask(run, question=asked)
    assert sweep(stage, days=1) == Swept()
    assert stage.world.tasks.inbox(stage.scope, ["role:boss"]).items == []
    assert sweep(stage, days=1) == Swept(told=1)
    [waiting] = stage.world.tasks.inbox(stage.scope, ["role:boss"]).items
    assert waiting.assignees == ("role:finance", "role:boss")
    assert (notices.kinds[-1], notices.told[-1].to) == (
        "task.escalated",
        ("role:boss", "role:finance"),
    )
    assert notices.told[-1].subject == "Escalated: Approve the invoice"
    assert sweep(stage, days=1) == Swept()
    assert waiting.id == task.id


def test_where_nobody_is_told_others_are_asked_all_the_same() -> None:
    case = Stage()
    case.publish(ASKING)
    run = case.start()
    asked = question(case, escalate_after=DAY, escalate_to=("role:boss",), reminders=(DAY,))
    case.ask(run, question=asked)
    assert sweep(case, days=1) == Swept(told=1)
    assert len(case.world.tasks.inbox(case.scope, ["role:boss"]).items) == 1
    assert sweep(case, days=1) == Swept()


def test_of_a_task_that_is_over_nothing_is_told(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    task = stage.ask(run, question=question(stage, reminders=(DAY,)))
    stage.assembly.tasks.decide(stage.scope, task.id, "approved")
    assert sweep(stage, days=1) == Swept()
    assert notices.kinds == ["task.asked"]


def test_a_task_of_a_run_that_is_over_is_closed_instead(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    task = stage.ask(run, question=question(stage, reminders=(DAY,)))
    ended = {"status": RunStatus.CANCELLED, "ended": stage.clock.now()}
    stage.world.runs.end(stage.scope, stage.run(run).model_copy(update=ended))
    assert sweep(stage, days=1).expired == 1
    assert notices.kinds == ["task.asked"]
    found = stage.world.tasks.get(stage.scope, task.id)
    assert found.status is TaskStatus.CANCELLED


def test_of_many_who_look_at_once_one_tells() -> None:
    for _ in range(20):
        case = Stage(notices=FakeNotices())
        case.publish(ASKING)
        task = case.ask(case.start(), question=question(case, reminders=(DAY,)))
        case.clock.advance(days=1)
        read = case.world.tasks.get(case.scope, task.id)
        told = race(*[partial(case.assembly.tasks.tell, case.scope, read)] * 4)
        assert sorted(map(str, told)) == ["False", "False", "False", "True"]
        assert case.notices is not None
        assert case.notices.kinds == ["task.asked", "task.reminder"]


def test_a_crash_at_any_call_loses_nothing_and_what_was_told_is_told_twice_at_most() -> None:
    for at in range(1, 12):
        case = Stage(notices=FakeNotices())
        case.publish(ASKING)
        run = case.start()
        task = case.ask(run, question=question(case, reminders=(DAY,)))
        case.clock.advance(days=1)
        broken = Assembly.of(fragile(case.world, Power(at)))
        crashed = False
        try:
            broken.tasks.tell(case.scope, case.world.tasks.get(case.scope, task.id))
        except Crash:
            crashed = True
        for _ in range(3):
            sweep(case, minutes=10)
        assert case.notices is not None
        reminders = case.notices.kinds.count("task.reminder")
        assert reminders == 1 or (crashed and reminders == 2)


def test_who_is_asked_is_told_by_the_sweeper_where_the_opener_died() -> None:
    told = []
    for at in range(1, 9):
        case = Stage(notices=FakeNotices())
        case.publish(ASKING)
        run = case.start()
        step = case.write(run, "ask", StepStatus.RUNNING)
        broken = Assembly.of(fragile(case.world, Power(at)))
        with suppress(Crash):
            broken.tasks.open_task(case.scope, step, question(case), "token-1")
        for _ in range(3):
            sweep(case, minutes=10)
        tasks = case.world.tasks.of_run(case.scope, run.id)
        assert case.notices is not None
        told.append((len(tasks), case.notices.kinds.count("task.asked")))
    assert set(told) <= {(0, 0), (1, 1), (1, 2)}
    assert (0, 0) in told
    assert (1, 1) in told


def test_whoever_is_handed_a_task_is_told(stage: Stage, run: Run, notices: FakeNotices) -> None:
    task = stage.ask(run, question=question(stage))
    handed: HumanTask = stage.assembly.tasks.delegate(stage.scope, task.id, UserId("u-eva"))
    assert handed.assignees == ("user:u-eva",)
    assert (notices.kinds[-1], notices.told[-1].to) == ("task.asked", ("user:u-eva",))
