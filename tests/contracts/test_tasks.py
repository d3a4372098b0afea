from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import RunId, TaskId, UserId
from stellwerk.kernel.records import Stale
from stellwerk.runs.ballots import Vote
from stellwerk.runs.model import HumanTask, RunStatus, Step, StepStatus, TaskStatus
from stellwerk.runs.notes import News, reminder
from stellwerk.tenancy.scope import Scope, of_run
from tests.contracts.records import (
    RUN,
    SCOPE,
    START,
    STRANGERS,
    decision,
    run,
    task,
    waiting,
)
from tests.contracts.stores import Stores
from tests.runs.stage import race

OTHER_PERSON = of_run("m-one", "i-one", "u-bert")
FIRST = TaskId("task-1")


@pytest.fixture
def opened(stores: Stores) -> Stores:
    """A run that waits for one task."""
    stores.runs.create(SCOPE, run())
    stores.tasks.open(SCOPE, task(), waiting())
    return stores


def standing(stores: Stores) -> tuple[RunStatus, int]:
    found = stores.runs.get(SCOPE, RUN)
    return found.status, found.waits


def test_an_opened_task_pauses_its_run_and_its_step_waits(opened: Stores) -> None:
    assert opened.tasks.get(SCOPE, FIRST) == task().model_copy(update={"revision": 1})
    assert standing(opened) == (RunStatus.PAUSED, 1)
    step = opened.journal.read(SCOPE, RUN, [waiting().key])[waiting().key]
    assert (step.status, step.token, step.revision) == (StepStatus.WAITING, "t-1", 1)


def test_opening_again_replaces_the_token_and_nothing_else(opened: Stores) -> None:
    asked_again = task(token="t-2").model_copy(update={"title": "Another title"})
    found = opened.tasks.open(SCOPE, asked_again, waiting(token="t-2", revision=1))
    assert (found.token, found.title, found.status) == (
        "t-2",
        "Approve the invoice",
        TaskStatus.PENDING,
    )
    assert opened.tasks.get(SCOPE, FIRST) == found
    assert standing(opened) == (RunStatus.PAUSED, 1)
    assert len(opened.tasks.of_run(SCOPE, RUN)) == 1


def test_a_task_that_is_over_gets_a_new_token_and_is_not_answered_again(opened: Stores) -> None:
    opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision())
    opened.tasks.mark_answered(SCOPE, FIRST, "t-1")
    found = opened.tasks.open(SCOPE, task(token="t-2"), waiting(token="t-2", revision=1))
    assert (found.status, found.token, found.answered) == (TaskStatus.COMPLETED, "t-2", False)
    assert found.decision == decision()
    assert [waiting.id for waiting in opened.tasks.unanswered(SCOPE)] == [FIRST]
    assert standing(opened) == (RunStatus.RUNNING, 0)


def test_a_step_at_another_revision_opens_nothing(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    with pytest.raises(Conflict):
        stores.tasks.open(SCOPE, task(), waiting(revision=3))
    assert standing(stores) == (RunStatus.RUNNING, 0)
    with pytest.raises(NotFound):
        stores.tasks.get(SCOPE, FIRST)


def test_a_step_at_another_revision_replaces_no_token(opened: Stores) -> None:
    with pytest.raises(Conflict):
        opened.tasks.open(SCOPE, task(token="t-2"), waiting(token="t-2", revision=0))
    assert opened.tasks.get(SCOPE, FIRST).token == "t-1"


def test_a_run_that_is_over_opens_no_task(stores: Stores) -> None:
    created = stores.runs.create(SCOPE, run())
    stores.runs.end(SCOPE, created.model_copy(update={"status": RunStatus.CANCELLED}))
    with pytest.raises(Conflict, match="cancelled"):
        stores.tasks.open(SCOPE, task(), waiting())
    assert stores.journal.read(SCOPE, RUN, [waiting().key]) == {}


def test_a_run_that_is_over_takes_no_new_token(opened: Stores) -> None:
    created = opened.runs.get(SCOPE, RUN)
    opened.runs.end(SCOPE, created.model_copy(update={"status": RunStatus.FAILED}))
    with pytest.raises(Conflict):
        opened.tasks.open(SCOPE, task(token="t-2"), waiting(token="t-2", revision=1))
    assert opened.tasks.get(SCOPE, FIRST).token == "t-1"


def test_a_task_of_an_unknown_run_is_not_opened(stores: Stores) -> None:
    with pytest.raises(NotFound):
        stores.tasks.open(SCOPE, task(), waiting())


def test_closing_the_last_wait_lets_the_run_go_on(opened: Stores) -> None:
    ended = opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision())
    assert (ended.status, ended.decision, ended.answered) == (
        TaskStatus.COMPLETED,
        decision(),
        False,
    )
    assert opened.tasks.get(SCOPE, FIRST) == ended
    assert standing(opened) == (RunStatus.RUNNING, 0)


def test_a_run_stays_paused_until_its_last_wait_is_closed(opened: Stores) -> None:
    opened.tasks.open(SCOPE, task(2), waiting("review"))
    opened.tasks.close(SCOPE, FIRST, TaskStatus.EXPIRED, None)
    assert standing(opened) == (RunStatus.PAUSED, 1)
    opened.tasks.close(SCOPE, TaskId("task-2"), TaskStatus.CANCELLED, None)
    assert standing(opened) == (RunStatus.RUNNING, 0)


def test_a_task_of_a_run_that_is_over_can_still_be_closed(opened: Stores) -> None:
    created = opened.runs.get(SCOPE, RUN)
    opened.runs.end(SCOPE, created.model_copy(update={"status": RunStatus.CANCELLED}))
    ended = opened.tasks.close(SCOPE, FIRST, TaskStatus.CANCELLED, None)
    assert ended.status is TaskStatus.CANCELLED
    assert standing(opened) == (RunStatus.CANCELLED, 0)


def test_a_second_decision_is_refused_naming_the_first(opened: Stores) -> None:
    opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision())
    with pytest.raises(Conflict, match=r"completed.*approved.*u-anna.*2026-11-02T10:00:00"):
        opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision("rejected"))
    assert opened.tasks.get(SCOPE, FIRST).decision == decision()


def test_a_task_ends_with_votes_only_as_it_was_read(opened: Stores) -> None:
    first = opened.tasks.get(SCOPE, FIRST)
    once = opened.tasks.amend(SCOPE, first, voted(first, "u-anna"))
    assert once == opened.tasks.get(SCOPE, FIRST)
    with pytest.raises(Stale) as stale:
        close = partial(opened.tasks.close, SCOPE, FIRST, TaskStatus.COMPLETED, decision())
        close(voted=voted(first, "u-ben"))
    assert stale.value.current == once
    assert standing(opened) == (RunStatus.PAUSED, 1)
    ended = opened.tasks.close(
        SCOPE, FIRST, TaskStatus.COMPLETED, decision(), voted=voted(once, "u-ben")
    )
    assert [vote.by for vote in ended.votes] == ["u-anna", "u-ben"]
    assert opened.tasks.get(SCOPE, FIRST) == ended
    with pytest.raises(Conflict, match="over"):
        opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision(), voted=once)
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            opened.tasks.close(stranger, FIRST, TaskStatus.COMPLETED, decision(), voted=once)


def test_a_task_ends_exactly_once_however_many_vote(stores: Stores) -> None:
    for turn in range(20):
        run_id, task_id = RunId(f"r-{turn}"), TaskId(f"t{turn}")
        stores.runs.create(SCOPE, run(turn))
        asked = task().model_copy(update={"id": task_id, "run": run_id})
        first = stores.tasks.open(SCOPE, asked, waiting().model_copy(update={"run": run_id}))
        close = partial(stores.tasks.close, SCOPE, first.id, TaskStatus.COMPLETED, decision())
        results = race(
            partial(stores.tasks.amend, SCOPE, first, voted(first, "u-anna")),
            partial(close, voted=voted(first, "u-ben")),
        )
        assert sum(isinstance(found, Stale | Conflict) for found in results) == 1
        assert len(stores.tasks.get(SCOPE, task_id).votes) == 1


def test_of_two_decisions_at_once_exactly_one_wins(opened: Stores) -> None:
    people = [of_run("m-one", "i-one", f"u-{number}") for number in range(8)]

    def decide(person: Scope) -> HumanTask | Conflict:
        port = f"port of {person.user}"
        try:
            return opened.tasks.close(
                person, FIRST, TaskStatus.COMPLETED, decision(port, by=person)
            )
        except Conflict as conflict:
            return conflict

    with ThreadPoolExecutor(len(people)) as pool:
        answers = list(pool.map(decide, people))
    [winner] = [answer for answer in answers if isinstance(answer, HumanTask)]
    stored = opened.tasks.get(SCOPE, FIRST)
    assert stored == winner
    assert stored.decision is not None
    for answer in answers:
        assert answer is winner or str(stored.decision.by) in str(answer)
    assert standing(opened) == (RunStatus.RUNNING, 0)


def test_waits_are_right_after_20_parallel_opens_and_closes(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    numbers = range(20)

    def open_(number: int) -> None:
        stores.tasks.open(SCOPE, task(number), waiting(f"n{number}"))

    def close(number: int) -> None:
        stores.tasks.close(SCOPE, TaskId(f"task-{number}"), TaskStatus.COMPLETED, decision())

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(open_, numbers))
        assert standing(stores) == (RunStatus.PAUSED, 20)
        list(pool.map(close, numbers[:19]))
        assert standing(stores) == (RunStatus.PAUSED, 1)
        list(pool.map(lambda step: step(), [lambda: close(19), lambda: open_(20)]))
    assert standing(stores) == (RunStatus.PAUSED, 1)


def test_an_answer_is_noted_for_its_own_token_only(opened: Stores) -> None:
    opened.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision())
    opened.tasks.mark_answered(SCOPE, FIRST, "t-0")
    assert [task.id for task in opened.tasks.unanswered(SCOPE)] == [FIRST]
    opened.tasks.mark_answered(SCOPE, FIRST, "t-1")
    assert list(opened.tasks.unanswered(SCOPE)) == []
    assert opened.tasks.get(SCOPE, FIRST).answered
    with pytest.raises(NotFound):
        opened.tasks.mark_answered(SCOPE, TaskId("task-9"), "t-1")


def test_pending_tasks_need_no_answer(opened: Stores) -> None:
    assert list(opened.tasks.unanswered(SCOPE)) == []


def test_the_tasks_of_a_run_come_oldest_first(opened: Stores) -> None:
    opened.tasks.open(SCOPE, task(3), waiting("third"))
    opened.tasks.open(SCOPE, task(2), waiting("second"))
    found = [task.id for task in opened.tasks.of_run(SCOPE, RUN)]
    assert found == ["task-1", "task-2", "task-3"]
    assert list(opened.tasks.of_run(SCOPE, RunId("r-2"))) == []


def test_tasks_are_listed_by_status_newest_first_in_pages(opened: Stores) -> None:
    for number in range(2, 8):
        opened.tasks.open(SCOPE, task(number), waiting(f"n{number}"))
    opened.tasks.close(SCOPE, TaskId("task-4"), TaskStatus.COMPLETED, decision())
    first = opened.tasks.list(SCOPE, limit=4)
    second = opened.tasks.list(SCOPE, limit=4, cursor=first.cursor)
    found = [task.id[5:] for page in (first, second) for task in page.items]
    assert found == ["7", "6", "5", "3", "2", "1"]
    assert second.cursor is None
    completed = opened.tasks.list(SCOPE, status=TaskStatus.COMPLETED).items
    assert [task.id for task in completed] == ["task-4"]


def inbox(stores: Stores, *names: str, limit: int = 50) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = stores.tasks.inbox(SCOPE, names, cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found += [task.id[5:] for task in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


def voted(seen: HumanTask, user: str) -> HumanTask:
    vote = Vote(port="approved", by=UserId(user), at=START)
    return seen.model_copy(update={"votes": (*seen.votes, vote)})


@pytest.fixture
def asked(stores: Stores) -> Stores:
    """Tasks 1 to 6 of one run, for finance, Anna, both or everyone."""
    stores.runs.create(SCOPE, run())
    finance, anna, everyone = "role:finance", "user:u-anna", "*"
    people = [(finance,), (anna,), (finance, anna), (everyone,), ("role:other",), (anna, anna)]
    for number, assignees in enumerate(people, 1):
        question = task(number).model_copy(update={"assignees": assignees})
        stores.tasks.open(SCOPE, question, waiting(f"n{number}"))
    return stores


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_an_inbox_holds_what_waits_for_one_of_the_names_each_once(
    asked: Stores, limit: int
) -> None:
    assert inbox(asked, "user:u-anna", "role:finance", "*", limit=limit) == list("64321")
    assert inbox(asked, "user:u-anna", limit=limit) == list("632")
    assert inbox(asked, "role:finance", "role:finance", limit=limit) == list("31")
    assert inbox(asked, "user:u-ben", "*", limit=limit) == ["4"]
    assert inbox(asked, "role:fin", limit=limit) == []
    for stranger in STRANGERS:
        assert asked.tasks.inbox(stranger, ["user:u-anna", "*"]).items == []
    with pytest.raises(BadInput):
        asked.tasks.inbox(SCOPE, ["*"], cursor="nonsense!")


def test_a_task_that_is_over_is_in_no_inbox(asked: Stores) -> None:
    asked.tasks.close(SCOPE, TaskId("task-3"), TaskStatus.COMPLETED, decision())
    assert inbox(asked, "role:finance") == ["1"]
    assert inbox(asked, "user:u-anna") == list("62")


def test_a_task_with_other_assignees_is_in_their_inboxes(asked: Stores) -> None:
    before = asked.tasks.get(SCOPE, TaskId("task-3"))
    after = before.model_copy(update={"assignees": ("role:finance", "user:u-ben")})
    assigned = asked.tasks.amend(SCOPE, before, after)
    assert assigned == asked.tasks.get(SCOPE, TaskId("task-3"))
    assert inbox(asked, "user:u-ben") == ["3"]
    assert inbox(asked, "role:finance") == list("31")
    assert inbox(asked, "user:u-anna") == list("62")
    with pytest.raises(Conflict):
        asked.tasks.amend(SCOPE, before, before)
    asked.tasks.close(SCOPE, TaskId("task-3"), TaskStatus.COMPLETED, decision())
    assert inbox(asked, "user:u-ben") == []
    with pytest.raises(Conflict, match="over"):
        asked.tasks.amend(SCOPE, asked.tasks.get(SCOPE, TaskId("task-3")), after)
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            asked.tasks.amend(stranger, assigned, after)


def test_a_task_that_is_handed_on_and_ended_at_once_is_left_in_no_inbox(stores: Stores) -> None:
    for turn in range(20):
        run_id, task_id = RunId(f"r-{turn}"), TaskId(f"t{turn}")
        stores.runs.create(SCOPE, run(turn))
        first = task().model_copy(update={"id": task_id, "run": run_id})
        before = stores.tasks.open(SCOPE, first, waiting().model_copy(update={"run": run_id}))
        after = before.model_copy(update={"assignees": ("user:u-ben",)})
        race(
            partial(stores.tasks.amend, SCOPE, before, after),
            partial(stores.tasks.close, SCOPE, task_id, TaskStatus.COMPLETED, decision()),
        )
        assert stores.tasks.get(SCOPE, task_id).status is TaskStatus.COMPLETED
        assert stores.tasks.inbox(SCOPE, ["user:u-ben", "role:finance"]).items == []


def test_overdue_are_pending_tasks_whose_moment_has_come(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    for number, days in enumerate((1, 2, 3, 2)):
        due = START + timedelta(days=days)
        stores.tasks.open(SCOPE, task(number, due=due), waiting(f"n{number}"))
    stores.tasks.open(SCOPE, task(9), waiting("n9"))
    stores.tasks.close(SCOPE, TaskId("task-0"), TaskStatus.COMPLETED, decision())
    overdue = stores.due.overdue(SCOPE, START + timedelta(days=2))
    assert {task.id for task in overdue} == {"task-1", "task-3"}


def test_a_pending_task_needs_attention_when_there_is_something_to_tell(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    news = News(reminders=(START + timedelta(days=1),), telling=START + timedelta(hours=1))
    asked = task(due=START + timedelta(days=3)).model_copy(update={"news": news})
    first = stores.tasks.open(SCOPE, asked, waiting())

    def needed(days: int) -> list[HumanTask]:
        return list(stores.due.overdue(SCOPE, START + timedelta(days=days)))

    assert (needed(0), needed(1)) == ([], [first])
    told = News(told=(reminder(START + timedelta(days=1)),))
    second = stores.tasks.amend(SCOPE, first, first.model_copy(update={"news": told}))
    assert (needed(1), needed(3)) == ([], [second])
    endless = second.model_copy(update={"due": None})
    third = stores.tasks.amend(SCOPE, second, endless)
    assert needed(9) == []
    assert stores.tasks.get(SCOPE, FIRST) == third


def test_a_task_with_a_large_value_survives(stores: Stores) -> None:
    stores.runs.create(SCOPE, run())
    large = task().model_copy(update={"value": {"lines": ["ü" * 100] * 20_000}})
    opened = stores.tasks.open(SCOPE, large, waiting())
    assert stores.tasks.get(SCOPE, FIRST) == opened
    ended = stores.tasks.close(SCOPE, FIRST, TaskStatus.COMPLETED, decision())
    assert stores.tasks.get(SCOPE, FIRST) == ended
    assert ended.value == large.value


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_tasks(opened: Stores, stranger: Scope) -> None:
    tasks = opened.tasks
    with pytest.raises(NotFound):
        tasks.open(stranger, task(token="t-2"), waiting(token="t-2"))
    with pytest.raises(NotFound):
        tasks.get(stranger, FIRST)
    with pytest.raises(NotFound):
        tasks.close(stranger, FIRST, TaskStatus.COMPLETED, decision())
    with pytest.raises(NotFound):
        tasks.mark_answered(stranger, FIRST, "t-1")
    assert list(tasks.of_run(stranger, RUN)) == []
    assert tasks.list(stranger).items == []
    assert list(tasks.unanswered(stranger)) == []
    assert list(opened.due.overdue(stranger, START + timedelta(days=9))) == []
    assert tasks.get(SCOPE, FIRST) == task().model_copy(update={"revision": 1})
    assert standing(opened) == (RunStatus.PAUSED, 1)


def test_whoever_ends_a_task_that_is_asked_anew_learns_the_token_it_waits_with(
    stores: Stores,
) -> None:
    """A step that waits anew and a decision meet: one of both must see the other."""
    for turn in range(30):
        run_id, task_id = RunId(f"r-{turn}"), TaskId(f"t{turn}")
        stores.runs.create(SCOPE, run(turn))
        first = task().model_copy(update={"id": task_id, "run": run_id, "token": "old"})
        step = waiting().model_copy(update={"run": run_id, "token": "old"})
        stores.tasks.open(SCOPE, first, step)
        barrier = Barrier(2)

        def ask_anew(first: HumanTask = first, step: Step = step, at: Barrier = barrier) -> bool:
            at.wait()
            again = step.model_copy(update={"token": "new", "revision": 1})
            try:
                anew = first.model_copy(update={"token": "new"})
                found = stores.tasks.open(SCOPE, anew, again)
            except Conflict:
                return False
            return found.status is TaskStatus.PENDING

        def decide(task_id: TaskId = task_id, at: Barrier = barrier) -> HumanTask:
            at.wait()
            return stores.tasks.close(SCOPE, task_id, TaskStatus.COMPLETED, decision())

        with ThreadPoolExecutor(2) as pool:
            waits, ended = pool.submit(ask_anew), pool.submit(decide)
            assert not waits.result() or ended.result().token == "new"
