"""Mailboxes that are watched: in memory, and on moto's DynamoDB."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.aws.mailboxes import DynamoMailboxes
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import of_platform
from stellwerk.toolboxes.model import ConnectionId
from stellwerk.triggers.mail.model import BoxKey, MailFilter, Watched, Watcher
from stellwerk.triggers.mail.ports import Mailboxes
from tests.contracts.records import RUN, SCOPE, START, STRANGERS, WORKFLOW
from tests.contracts.stores import Moto
from tests.fakes.mailboxes import FakeMailboxes

INBOX = BoxKey(ConnectionId("c-1"), "INBOX")
TRIGGER = Watcher(id="trigger#w#start", since=START, workflow=WORKFLOW, node=NodeKey("start"))
WAIT = Watcher(
    id="wait#r#1",
    since=START,
    run=RUN,
    node=NodeKey("reply"),
    token="t-1",
    due=START + timedelta(days=3),
)
MAIL, OTHER = Stored(text='{"subject":"first"}'), Stored(text='{"subject":"second"}')


@pytest.fixture(params=["fake", "moto"])
def boxes(request: pytest.FixtureRequest) -> Mailboxes:
    if request.param == "fake":
        return FakeMailboxes()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoMailboxes(moto.platform())


def test_a_mailbox_is_there_while_somebody_watches_it(boxes: Mailboxes) -> None:
    assert boxes.find(SCOPE, INBOX.id) is None
    boxes.watch(SCOPE, INBOX, TRIGGER, START)
    boxes.watch(SCOPE, INBOX, WAIT, START + timedelta(hours=1))
    found = boxes.find(SCOPE, INBOX.id)
    assert found is not None
    box, watchers = found
    assert (box.key, box.since, box.mark, box.joined) == (INBOX, START, "", 2)
    assert {one.id: one for one in watchers} == {TRIGGER.id: TRIGGER, WAIT.id: WAIT}
    assert list(boxes.everywhere(of_platform())) == [
        Watched(SCOPE.mandate, SCOPE.instance, INBOX.id)
    ]
    boxes.unwatch(SCOPE, INBOX.id, TRIGGER)
    boxes.leave(SCOPE, INBOX.id, 1)
    assert boxes.find(SCOPE, INBOX.id) is not None, "somebody has joined since"
    boxes.unwatch(SCOPE, INBOX.id, WAIT)
    boxes.leave(SCOPE, INBOX.id, 2)
    assert boxes.find(SCOPE, INBOX.id) is None
    assert list(boxes.everywhere(of_platform())) == []
    boxes.leave(SCOPE, INBOX.id, None)


def test_what_a_workflow_watches_is_known_by_node(boxes: Mailboxes) -> None:
    boxes.watch(SCOPE, INBOX, TRIGGER, START)
    boxes.watch(SCOPE, INBOX, WAIT, START)
    (watching,) = boxes.of_workflow(SCOPE, WORKFLOW).values()
    assert (watching.box, watching.watcher) == (INBOX, TRIGGER)
    changed = TRIGGER.model_copy(update={"filter": MailFilter(subject="invoice")})
    boxes.watch(SCOPE, INBOX, changed, START)
    assert boxes.of_workflow(SCOPE, WORKFLOW)[NodeKey("start")].watcher == changed
    boxes.unwatch(SCOPE, INBOX.id, changed)
    assert boxes.of_workflow(SCOPE, WORKFLOW) == {}


def test_how_far_it_was_read_is_written_by_one_of_two(boxes: Mailboxes) -> None:
    boxes.watch(SCOPE, INBOX, TRIGGER, START)
    found = boxes.find(SCOPE, INBOX.id)
    assert found is not None
    read = found[0].model_copy(update={"mark": "7", "checked": START, "failures": 2})
    boxes.watch(SCOPE, INBOX, WAIT, START)
    assert boxes.read_to(SCOPE, read)
    assert not boxes.read_to(SCOPE, read)
    now = boxes.find(SCOPE, INBOX.id)
    assert now is not None
    assert (now[0].mark, now[0].checked, now[0].failures, now[0].joined) == ("7", START, 2, 2)
    assert boxes.read_to(SCOPE, now[0])


def test_the_first_that_comes_for_a_step_stays(boxes: Mailboxes) -> None:
    boxes.watch(SCOPE, INBOX, WAIT, START)
    first = boxes.arrive(SCOPE, INBOX.id, WAIT.id, MAIL)
    second = boxes.arrive(SCOPE, INBOX.id, WAIT.id, OTHER)
    assert first == second == WAIT.model_copy(update={"mail": MAIL})
    retried = WAIT.model_copy(update={"token": "t-2"})
    boxes.watch(SCOPE, INBOX, retried, START)
    found = boxes.watcher(SCOPE, INBOX.id, WAIT.id)
    assert found is not None
    assert (found.token, found.mail) == ("t-2", MAIL)
    assert boxes.withdraw(SCOPE, INBOX.id, WAIT.id) == MAIL
    assert boxes.watcher(SCOPE, INBOX.id, WAIT.id) is not None


def test_a_step_for_which_nothing_came_watches_no_more(boxes: Mailboxes) -> None:
    boxes.watch(SCOPE, INBOX, WAIT, START)
    assert boxes.withdraw(SCOPE, INBOX.id, WAIT.id) is None
    assert boxes.watcher(SCOPE, INBOX.id, WAIT.id) is None
    assert boxes.arrive(SCOPE, INBOX.id, WAIT.id, MAIL) is None
    assert boxes.withdraw(SCOPE, INBOX.id, WAIT.id) is None


def test_a_stranger_finds_and_changes_nothing(boxes: Mailboxes) -> None:
    boxes.watch(SCOPE, INBOX, TRIGGER, START)
    boxes.watch(SCOPE, INBOX, WAIT, START)
    before = boxes.find(SCOPE, INBOX.id)
    assert before is not None
    assert list(boxes.everywhere(SCOPE)) == []
    for stranger in STRANGERS:
        assert boxes.find(stranger, INBOX.id) is None
        assert boxes.of_workflow(stranger, WORKFLOW) == {}
        assert boxes.watcher(stranger, INBOX.id, WAIT.id) is None
        assert boxes.arrive(stranger, INBOX.id, WAIT.id, MAIL) is None
        assert boxes.withdraw(stranger, INBOX.id, WAIT.id) is None
        assert not boxes.read_to(stranger, before[0])
        boxes.unwatch(stranger, INBOX.id, TRIGGER)
        boxes.leave(stranger, INBOX.id, before[0].joined)
    after = boxes.find(SCOPE, INBOX.id)
    assert after is not None
    assert (after[0], list(after[1])) == (before[0], list(before[1]))
    assert len(list(boxes.everywhere(of_platform()))) == 1
