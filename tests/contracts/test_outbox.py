"""The outbox: one bundle for a group, each change at its revision, and news never lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.notices import DynamoOutbox
from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.bundles import Bundle, Outbox, Sent, opened
from tests.contracts.records import SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.fakes.memory import Memory
from tests.fakes.outbox import FakeOutbox
from tests.fakes.versions import FakeValues

SENT = Sent(at=START, kind="run.failed", subject="Invoices", count=2, reached=("mail:a@b.example",))


def bundle(text: str = "It failed.", *, minute: int = 0) -> Bundle:
    notice = Notice(
        "run.failed", ("user:u-anna",), "Invoices", text, group="w-1", about={"run": text}
    )
    return opened(notice, START + timedelta(minutes=minute), "")


@pytest.fixture(params=["fake", "moto"])
def outbox(request: pytest.FixtureRequest) -> Outbox:
    if request.param == "fake":
        return FakeOutbox()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoOutbox(moto.runs_table(), Bodies(FakeValues(Memory())))


def stored(outbox: Outbox, scope: Scope = SCOPE) -> Bundle:
    found = outbox.find(scope, bundle().id)
    assert found is not None
    return found


def test_notices_of_one_group_are_counted_and_the_latest_is_told(outbox: Outbox) -> None:
    assert outbox.find(SCOPE, bundle().id) is None
    for text in ("one", "two", "three"):
        outbox.add(SCOPE, bundle(text))
    found = stored(outbox)
    assert (found.count, found.news, found.text, found.about) == (3, 3, "three", {"run": "three"})
    assert outbox.open(SCOPE) == [found]


def test_what_is_due_is_found(outbox: Outbox) -> None:
    outbox.add(SCOPE, bundle())
    assert outbox.due(SCOPE, START - timedelta(seconds=1)) == []
    assert outbox.due(SCOPE, START) == [bundle().id]
    later = stored(outbox).model_copy(update={"due": START + timedelta(minutes=5)})
    outbox.write(SCOPE, later)
    assert outbox.due(SCOPE, START) == []
    assert outbox.due(SCOPE, START + timedelta(minutes=5)) == [bundle().id]


def test_a_sender_does_not_take_back_what_was_added_meanwhile(outbox: Outbox) -> None:
    outbox.add(SCOPE, bundle("one"))
    read = stored(outbox)
    outbox.add(SCOPE, bundle("two"))
    written = outbox.write(SCOPE, read.model_copy(update={"told": 1, "upto": 1}), SENT)
    found = stored(outbox)
    assert (found.count, found.news, found.text) == (2, 1, "two")
    assert found.revision == written.revision
    assert [each.subject for each in outbox.sent(SCOPE, limit=9)] == ["Invoices"]


def test_of_two_senders_one_is_refused(outbox: Outbox) -> None:
    outbox.add(SCOPE, bundle())
    read = stored(outbox)
    outbox.write(SCOPE, read)
    with pytest.raises(Conflict):
        outbox.write(SCOPE, read, SENT)
    assert outbox.sent(SCOPE, limit=9) == []


def test_a_bundle_is_closed_only_without_news_and_opened_again_by_a_notice(outbox: Outbox) -> None:
    outbox.add(SCOPE, bundle("one"))
    read = stored(outbox).model_copy(update={"due": None, "closed": True})
    outbox.add(SCOPE, bundle("two"))
    with pytest.raises(Conflict):
        outbox.close(SCOPE, read)
    outbox.close(SCOPE, stored(outbox).model_copy(update={"due": None, "closed": True}))
    assert stored(outbox).closed
    assert outbox.open(SCOPE) == []
    assert outbox.due(SCOPE, START + timedelta(days=9)) == []
    outbox.add(SCOPE, bundle("three", minute=9))
    again = stored(outbox)
    assert (again.closed, again.count, again.text) == (False, 1, "three")
    assert again.opened == START + timedelta(minutes=9)
    with pytest.raises(Conflict):  # by who has seen it before it was closed
        outbox.write(SCOPE, read)


def test_messages_are_shown_the_newest_first(outbox: Outbox) -> None:
    for minute in range(3):
        outbox.add(SCOPE, bundle(minute=minute))
        at = START + timedelta(minutes=minute)
        sent = SENT.model_copy(update={"at": at, "count": minute})
        outbox.write(SCOPE, stored(outbox).model_copy(update={"upto": minute}), sent)
    assert [each.count for each in outbox.sent(SCOPE, limit=2)] == [2, 1]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: scope.mandate + scope.instance)
def test_a_stranger_neither_finds_nor_changes_anything(outbox: Outbox, stranger: Scope) -> None:
    outbox.add(SCOPE, bundle("ours"))
    before = stored(outbox)
    assert outbox.find(stranger, before.id) is None
    assert outbox.open(stranger) == []
    assert outbox.due(stranger, START) == []
    assert outbox.sent(stranger, limit=9) == []
    for change in (outbox.write, outbox.close):
        with pytest.raises(Conflict):
            change(stranger, before)
    outbox.add(stranger, bundle("theirs"))
    assert stored(outbox) == before
