"""Two who both have something to say to a task: one counts, and the run follows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import TaskId
from stellwerk.runs.model import HumanTask, RunStatus, TaskStatus
from stellwerk.runs.tasks import TaskService
from stellwerk.workflows.model import VersionStatus
from tests.tasks.contests import ANNA, BEN, NOBODY, TOGETHER, Arena, Side, Told, arena, until

MOMENT = r"at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"


def approve(tasks: TaskService, task: TaskId) -> HumanTask:
    return tasks.decide(ANNA, task, "approved", comment="by Anna")


def reject(tasks: TaskService, task: TaskId) -> HumanTask:
    return tasks.decide(BEN, task, "rejected", comment="by Ben")


def cancel(tasks: TaskService, task: TaskId) -> HumanTask:
    return tasks.cancel(BEN, task)


def expire(tasks: TaskService, task: TaskId) -> HumanTask:
    """Do what the state does at its timeout, and the sweeper where that was lost."""
    due = tasks.get(NOBODY, task).due
    assert due is not None
    return tasks.expire(NOBODY, task, due)


AGAINST: dict[str, Side] = {"decide": reject, "cancel": cancel, "expire": expire}
ENDS: dict[str, tuple[TaskStatus, str]] = {
    "decide": (TaskStatus.COMPLETED, "u-ben chose 'rejected'"),
    "cancel": (TaskStatus.CANCELLED, "u-ben chose 'cancelled'"),
    "expire": (TaskStatus.EXPIRED, "nobody had answered"),
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Arena]:
    with arena() as made:
        yield made


@pytest.mark.parametrize("other", AGAINST)
def test_of_two_at_once_one_counts_and_the_run_follows(stage: Arena, other: str) -> None:
    wins = contests(stage, other, times=60)
    assert min(wins[0], wins[1]) >= 20, wins
    assert wins.total() == 60


@pytest.mark.soak
@pytest.mark.parametrize("other", AGAINST)
def test_of_two_at_once_one_counts_two_hundred_times(stage: Arena, other: str) -> None:
    wins = contests(stage, other, times=200)
    assert min(wins[0], wins[1]) >= 20, wins
    assert wins.total() == 200


def contests(stage: Arena, other: str, *, times: int) -> Counter[int]:
    """Race a decision against something else, and return how often which of both has won."""
    wins: Counter[int] = Counter()
    workflows = [stage.publish("default"), stage.publish("cancel")]
    done = 0
    while done < times:
        together = min(TOGETHER, times - done)
        half = together // 2
        tasks = [*stage.waiting(workflows[0], half), *stage.waiting(workflows[1], together - half)]
        for number, task in enumerate(tasks):
            told = stage.contest(task, (approve, AGAINST[other]), first=number % 3)
            check(stage, told, other)
            if number % 3 < 2:
                assert told.winner == number % 3
            wins[told.winner] += 1
        done += together
    print(f"decide against {other}: {wins[0]} to {wins[1]}")  # noqa: T201
    return wins


def check(stage: Arena, told: Told, other: str) -> None:
    """One has won, the other knows who and when, and the run has gone where the winner said."""
    task, run = told.task, told.run
    status, how = (TaskStatus.COMPLETED, "u-anna chose 'approved'")
    if told.winner == 1:
        status, how = ENDS[other]
    assert task.status is status
    assert (task.decision, task.answered) != (None, False)
    loser = told.answers[1 - told.winner]
    if isinstance(loser, HumanTask):  # who lets it expire has nobody to complain to
        assert (other, told.winner, loser.decision) == ("expire", 0, task.decision)
    else:
        assert isinstance(loser, Conflict)
        assert re.search(f"is {status}: {re.escape(how)} {MOMENT}", loser.message), loser.message
    assert run.waits == 0
    goes_on = status is TaskStatus.COMPLETED or (
        status is TaskStatus.EXPIRED and task.on_expire == "default"
    )
    assert task.decision is not None
    assert run.status is (RunStatus.COMPLETED if goes_on else RunStatus.CANCELLED)
    assert stage.fired(run) == ({f"then_{task.decision.port}"} if goes_on else set())


def test_a_task_is_finished_on_its_version_however_many_are_published_meanwhile(
    stage: Arena,
) -> None:
    workflow = stage.publish("default", slug="versions")
    [task] = stage.waiting(workflow, 1)
    for number in (2, 3, 4):
        assert stage.publish("default", slug="versions", extra=number) == workflow
    [newer] = stage.waiting(workflow, 1)
    versions = stage.services.workflows.versions(ANNA, workflow).items
    assert {one.number: one.status for one in versions} == {
        4: VersionStatus.PUBLISHED,
        **dict.fromkeys((1, 2, 3), VersionStatus.ARCHIVED),
    }
    for waiting, version, steps in ((task, 1, set()), (newer, 4, {"then_4"})):
        stage.services.tasks.decide(BEN, waiting.id, "approved")
        run = until(partial(stage.ended, waiting))
        assert (run.version, run.status) == (version, RunStatus.COMPLETED)
        assert stage.fired(run) == {"then_approved", *steps}
