"""Guests decide by a link that was sent to them: once, for a time, and only where they may."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, InvalidParameters, NotFound
from stellwerk.runs.asking import Question, check_question
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.links import scope_of
from stellwerk.runs.model import HumanTask, Run, TaskStatus
from tests.fakes.people import FakeNotices
from tests.runs.stage import FOREIGN, QUESTION, Stage, graph

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
EVA = "mail:eva@kunde.example"
TO_EVA = replace(QUESTION, assignees=("role:finance", EVA))


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


def links(notices: FakeNotices) -> list[str]:
    """Return the links that were sent, without the path before them."""
    sent = [
        notice.link.rpartition("/link/")[2] for notice in notices.told if "/link/" in notice.link
    ]
    assert sent
    return sent


def test_a_guest_is_sent_a_link_of_his_own_and_others_are_not(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    task = stage.ask(run, question=TO_EVA)
    first, second = notices.told
    assert (first.to, first.link) == (
        ("role:finance",),
        f"/mandates/m-demo/instances/i-demo/tasks/{task.id}",
    )
    assert second.to == ("eva@kunde.example",)
    [token] = links(notices)
    assert second.link == f"/tasks/link/{token}"
    assert token.startswith(f"m-demo.i-demo.{task.id}.")
    stored = stage.world.tasks.get(stage.scope, task.id)
    secret = token.rpartition(".")[2]
    assert len(secret) == 43
    assert secret not in stored.model_dump_json()


def test_the_holder_of_a_link_decides_once(stage: Stage, run: Run, notices: FakeNotices) -> None:
    task = stage.ask(run, question=TO_EVA)
    [token] = links(notices)
    tasks = stage.assembly.tasks
    assert tasks.by_link(stage.scope, token).id == task.id
    assert tasks.get(stage.scope, task.id).status is TaskStatus.PENDING
    decided = tasks.decide_by_link(stage.scope, token, "approved", comment="yes")
    assert decided.decision is not None
    assert (decided.decision.by, decided.decision.comment) == (EVA, "yes")
    assert stage.executions.succeeded == [("token-1", {})]
    with pytest.raises(Conflict, match=r"mail:eva@kunde\.example chose 'approved'"):
        tasks.decide_by_link(stage.scope, token, "rejected")


def test_a_guest_has_one_vote_whichever_of_the_links_is_used(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    day = timedelta(days=1)
    question = replace(TO_EVA, quorum=Quorum(needed=2), reminders=(day,))
    task = stage.ask(run, question=question)
    stage.clock.advance(days=1)
    stage.assembly.sweeper.sweep(stage.scope)
    first, second = links(notices)
    tasks = stage.assembly.tasks
    assert tasks.by_link(stage.scope, second).id == task.id
    assert tasks.decide_by_link(stage.scope, first, "approved").status is TaskStatus.PENDING
    with pytest.raises(Conflict, match=r"has the vote of mail:eva@kunde\.example already"):
        tasks.decide_by_link(stage.scope, second, "approved")
    assert tasks.decide(stage.scope, task.id, "approved").status is TaskStatus.COMPLETED


def test_of_many_links_the_last_five_open_the_task(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    days = tuple(timedelta(days=number) for number in range(1, 8))
    stage.ask(run, question=replace(TO_EVA, reminders=days))
    for _ in days:
        stage.clock.advance(days=1)
        stage.assembly.sweeper.sweep(stage.scope)
    opens = []
    for token in links(notices):
        try:
            opens.append(bool(stage.assembly.tasks.by_link(stage.scope, token)))
        except NotFound:
            opens.append(False)
    assert opens == [False] * 3 + [True] * 5


def test_a_link_whose_time_is_over_opens_nothing(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    stage.ask(run, question=TO_EVA)
    [token] = links(notices)
    stage.clock.advance(days=30)
    _opens_nothing(stage, token)


def test_a_link_is_good_until_the_task_is_due(stage: Stage, run: Run, notices: FakeNotices) -> None:
    stage.ask(run, question=replace(TO_EVA, due=stage.clock.now() + timedelta(days=2)))
    [token] = links(notices)
    stage.clock.advance(days=2)
    _opens_nothing(stage, token)


def test_a_link_opens_nothing_where_guests_may_not_decide_any_more(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    stage.ask(run, question=TO_EVA)
    [token] = links(notices)
    stage.guests.allow = False
    _opens_nothing(stage, token)


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "x", "{task}.{secret}", "m-demo.i-demo.{task}", "m-demo.i-demo.{task}."),
        *("m-demo.i-demo.{task}.{secret}x", "m-demo.i-demo..{secret}", "..{task}.{secret}"),
        *("m-demo.i-other.{task}.{secret}", "m-other.i-demo.{task}.{secret}"),
    ],
)
def test_what_is_no_link_of_the_task_opens_nothing(
    stage: Stage, run: Run, notices: FakeNotices, wrong: str
) -> None:
    task = stage.ask(run, question=TO_EVA)
    [token] = links(notices)
    secret = token.rpartition(".")[2]
    _opens_nothing(stage, wrong.format(task=task.id, secret=secret))
    _opens_nothing(stage, f"m-demo.i-demo.{task.id}.{'A' * 43}")
    with pytest.raises(NotFound):
        stage.assembly.tasks.by_link(FOREIGN, token)
    other = stage.ask(stage.start(), question=TO_EVA)
    _opens_nothing(stage, f"m-demo.i-demo.{other.id}.{secret}")
    scope = scope_of(token)
    assert (scope.mandate, scope.instance, scope.user) == ("m-demo", "i-demo", "")
    assert stage.assembly.tasks.by_link(scope, token).id == task.id
    with pytest.raises(NotFound):
        scope_of("m-demo.i-demo")


def test_a_link_decides_nothing_that_the_task_does_not_have(
    stage: Stage, run: Run, notices: FakeNotices
) -> None:
    stage.ask(run, question=TO_EVA)
    [token] = links(notices)
    with pytest.raises(BadInput, match="no outcome 'expired'"):
        stage.assembly.tasks.decide_by_link(stage.scope, token, "expired")


def test_guests_are_asked_only_where_the_mandate_allows_it_and_never_for_files(
    stage: Stage,
) -> None:
    def check(question: Question) -> None:
        check_question(stage.world, stage.scope, question)

    check(TO_EVA)
    with pytest.raises(InvalidParameters, match="guests cannot upload any"):
        check(replace(TO_EVA, kind="upload"))
    stage.guests.allow = False
    check(QUESTION)
    with pytest.raises(Forbidden, match=f"asks {EVA}, and guests may not decide"):
        check(TO_EVA)
    with pytest.raises(Forbidden):
        check(replace(QUESTION, escalate_to=(EVA,)))
    with pytest.raises(Forbidden):
        check_question(replace(stage.world, guests=None), stage.scope, TO_EVA)


def _opens_nothing(stage: Stage, token: str) -> None:
    tasks = stage.assembly.tasks
    with pytest.raises(NotFound):
        tasks.by_link(stage.scope, token)
    with pytest.raises(NotFound):
        tasks.decide_by_link(stage.scope, token, "approved")
    left: list[HumanTask] = list(tasks.list(stage.scope).items)
    assert all(task.status is TaskStatus.PENDING for task in left)
