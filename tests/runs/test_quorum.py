"""Several people decide a task: one vote each, and the one that suffices ends it once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from moto import mock_aws

from stellwerk.kernel.errors import Conflict, StellwerkError
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.asking import Question
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.model import HumanTask, Run, RunStatus, TaskStatus
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, Scope, of_run
from tests.contracts.stores import Moto
from tests.runs.stage import QUESTION, Stage, graph, race

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
TWO_OF_THREE = replace(QUESTION, quorum=Quorum(needed=2, of=3), assignees=("*",))


def person(name: str) -> Scope:
    return of_run(SEEDED_MANDATE, SEEDED_INSTANCE, f"u-{name}")


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with mock_aws():
        yield Moto()


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(ASKING)
    return stage.start()


def vote(stage: Stage, task: TaskId, name: str, port: str, data: JsonValue = None) -> HumanTask:
    return stage.assembly.tasks.decide(person(name), task, port, data, comment=f"so says {name}")


def test_a_vote_is_kept_and_the_task_goes_on_until_there_are_enough(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=TWO_OF_THREE)
    first = vote(stage, task.id, "anna", "approved", {"n": 1})
    assert (first.status, first.decision) == (TaskStatus.PENDING, None)
    assert stage.run(run).status is RunStatus.PAUSED
    assert stage.executions.succeeded == []
    [kept] = first.votes
    assert (kept.by, kept.port, kept.comment, kept.data) == (
        "u-anna",
        "approved",
        "so says anna",
        {"n": 1},
    )
    assert kept.at == stage.clock.now()
    second = vote(stage, task.id, "ben", "approved", {"n": 2})
    assert second.status is TaskStatus.COMPLETED
    assert second.decision is not None
    assert (second.decision.port, second.decision.by, second.decision.data) == (
        "approved",
        "u-ben",
        {"n": 2},
    )
    assert second.decision.comment == "so says ben"
    assert len(second.votes) == 2
    assert stage.executions.succeeded == [("token-1", {})]
    assert stage.run(run).status is RunStatus.RUNNING


def test_whoever_has_voted_is_told_so_and_has_nothing_more_in_the_inbox(
    stage: Stage, run: Run
) -> None:
    task = stage.ask(run, question=TWO_OF_THREE)
    tasks = stage.assembly.tasks
    assert len(tasks.list(person("anna"), mine=True).items) == 1
    vote(stage, task.id, "anna", "approved")
    assert tasks.list(person("anna"), mine=True).items == []
    [waiting] = tasks.list(person("ben"), mine=True).items
    assert len(waiting.votes) == 1
    with pytest.raises(Conflict, match="has the vote of u-anna already: 'approved' at 2026-11-02"):
        vote(stage, task.id, "anna", "rejected")


def test_a_rejection_decides_at_once(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=TWO_OF_THREE)
    vote(stage, task.id, "anna", "approved")
    ended = vote(stage, task.id, "ben", "rejected")
    assert ended.decision is not None
    assert ended.decision.port == "rejected"
    with pytest.raises(Conflict, match="u-ben chose 'rejected'"):
        vote(stage, task.id, "eva", "approved")


def test_a_vote_that_is_lost_ends_with_what_was_said_for_its_port(stage: Stage, run: Run) -> None:
    question = Question(
        "choice", "Which?", ("*",), ("red", "green", "blue"), quorum=Quorum(needed=2, of=3)
    )
    task = stage.ask(run, question=question)
    for name, port in (("anna", "blue"), ("ben", "red"), ("eva", "green")):
        ended = vote(stage, task.id, name, port)
    assert ended.decision is not None
    assert (ended.decision.port, ended.decision.by, ended.decision.comment) == (
        "red",
        "u-eva",
        "so says ben",
    )


def test_a_task_that_is_handed_on_by_one_goes_on_waiting_for_the_others(
    stage: Stage, run: Run
) -> None:
    names = ("user:u-anna", "u-ben", "user:u-eva")
    task = stage.ask(run, question=replace(TWO_OF_THREE, assignees=names))
    handed = stage.assembly.tasks.delegate(person("ben"), task.id, UserId("u-max"))
    assert handed.assignees == ("user:u-anna", "user:u-eva", "user:u-max")
    again = stage.assembly.tasks.delegate(person("max"), task.id, UserId("u-anna"))
    assert again.assignees == ("user:u-anna", "user:u-eva")
    assert [(one.by, one.to) for one in again.delegations] == [
        ("u-ben", "u-max"),
        ("u-max", "u-anna"),
    ]


@pytest.mark.parametrize("kind", ["memory", "dynamo"])
def test_however_many_vote_at_once_the_task_ends_once_and_every_vote_counts(
    kind: str, moto: Moto
) -> None:
    outcomes: Counter[int] = Counter()
    for _ in range(10):
        case = Stage(stores=moto.stores()[0] if kind == "dynamo" else None)
        case.publish(ASKING)
        run = case.start()
        question = replace(TWO_OF_THREE, quorum=Quorum(needed=3))
        task = case.ask(run, question=question).id
        results = race(*(_voting(case, task, f"p{number}") for number in range(5)))
        stored = case.assembly.tasks.get(case.scope, task)
        counted = [found for found in results if isinstance(found, HumanTask)]
        refused = [found for found in results if isinstance(found, StellwerkError)]
        assert (len(counted), len(refused)) == (3, 2)
        assert len({vote.by for vote in stored.votes}) == len(stored.votes) == 3
        assert sum(found.status is TaskStatus.COMPLETED for found in counted) == 1
        assert all("chose 'approved'" in str(found) for found in refused)
        assert case.executions.succeeded == [("token-1", {})]
        assert (case.run(run).status, case.run(run).waits) == (RunStatus.RUNNING, 0)
        outcomes[len(counted)] += 1
    assert outcomes == {3: 10}


def test_of_two_votes_of_one_person_at_once_one_counts() -> None:
    for _ in range(20):
        case = Stage()
        case.publish(ASKING)
        task = case.ask(case.start(), question=TWO_OF_THREE).id
        race(_voting(case, task, "anna"), _voting(case, task, "anna"))
        stored = case.assembly.tasks.get(case.scope, task)
        assert (stored.status, len(stored.votes)) == (TaskStatus.PENDING, 1)


def _voting(case: Stage, task: TaskId, name: str) -> Callable[[], object]:
    return lambda: vote(case, task, name, "approved")
