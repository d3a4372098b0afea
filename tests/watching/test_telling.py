"""A storm is one message, and whatever is broken loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from email import message_from_bytes
from email.message import Message as Mail
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from stellwerk.kernel.errors import Conflict, PermanentError, ServiceUnavailable
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.bundles import GIVEN_UP, WINDOW, Bundle, Message, Sent
from stellwerk.watching.channels import NoMail, SmtpMail
from stellwerk.watching.telling import Channel, Outgoing, Postman, shown
from tests.contracts.records import SCOPE
from tests.fakes.clock import FixedClock
from tests.fakes.mailserver import free_port
from tests.fakes.outbox import FakeOutbox

LINK = "/runs/r-1"


def notice(text: str = "It failed.", *, group: str = "w-1", to: str = "a@b.example") -> Notice:
    return Notice("run.failed", (to,), "Invoices has failed", text, group=group, link=LINK)


class Box:
    """A channel that keeps what it is given, or refuses it."""

    def __init__(self, *, broken: int = 0) -> None:
        self.messages: list[Message] = []
        self.broken = broken

    def send(self, address: str, message: Message) -> None:
        if self.broken:
            self.broken -= 1
            raise ServiceUnavailable("no answer")
        self.messages.append(message)


class Named:
    """Takes names for mail addresses."""

    def addresses(self, scope: Scope, to: Sequence[str]) -> Sequence[str]:
        return [f"mail:{one}" for one in to]


class Desk:
    """An outbox, and who sends what is in it."""

    def __init__(self, channel: Channel) -> None:
        self.clock = FixedClock()
        self.outbox = FakeOutbox()
        self.outgoing = Outgoing(self.outbox, self.clock)
        self.postman = Postman(self.outbox, Named(), {"mail": channel}, self.clock)

    def round(self, **later: float) -> None:
        """Let time go by, and the sweeper come."""
        self.clock.moment += timedelta(**later)
        for act in self.postman.due(SCOPE):
            act()

    def sent(self) -> Sequence[Sent]:
        return self.outbox.sent(SCOPE, limit=99)


def test_the_first_notice_is_sent_at_once_and_a_storm_is_one_more_message() -> None:
    box = Box()
    desk = Desk(box)
    for number in range(500):
        desk.outgoing.notify(SCOPE, notice(f"failure {number}"))
        if number == 0:
            desk.round()
    desk.round(seconds=59)
    assert [message.count for message in box.messages] == [1]
    desk.round(minutes=5)
    assert [message.count for message in box.messages] == [1, 499]
    last = box.messages[-1]
    assert last.subject == "499 times: Invoices has failed"
    assert "499 times since" in last.text
    assert "failure 499" in last.text
    assert [each.count for each in desk.sent()] == [499, 1]


def test_a_group_that_is_quiet_is_told_at_once_again() -> None:
    box = Box()
    desk = Desk(box)
    desk.outgoing.notify(SCOPE, notice())
    desk.round()
    desk.round(minutes=5)
    assert desk.outbox.open(SCOPE) == []
    desk.outgoing.notify(SCOPE, notice())
    desk.round(minutes=1)
    assert [message.count for message in box.messages] == [1, 1]
    assert len({message.id for message in box.messages}) == 2


def test_groups_and_people_are_told_apart() -> None:
    box = Box()
    desk = Desk(box)
    for group, to in (("w-1", "a@b.example"), ("w-2", "a@b.example"), ("w-1", "c@b.example")):
        desk.outgoing.notify(SCOPE, notice(group=group, to=to))
    for _ in range(2):
        desk.outgoing.notify(SCOPE, notice(group=""))
    desk.round()
    assert [message.count for message in box.messages] == [1] * 5


def test_what_cannot_be_sent_is_tried_again_under_the_same_id() -> None:
    box = Box(broken=3)
    desk = Desk(box)
    desk.outgoing.notify(SCOPE, notice("one"))
    desk.round()
    [waiting] = desk.outbox.open(SCOPE)
    assert (waiting.tries, waiting.error) == (1, "mail:a@b.example: no answer")
    desk.outgoing.notify(SCOPE, notice("two"))
    for _ in range(6):
        desk.round(minutes=10)
    assert [message.count for message in box.messages] == [1, 1]
    assert desk.outbox.open(SCOPE) == []


def test_who_was_reached_is_not_told_again_for_the_sake_of_others() -> None:
    class Picky(Box):
        def send(self, address: str, message: Message) -> None:
            if address == "bad@b.example" and self.broken:
                self.broken -= 1
                raise ServiceUnavailable("greylisted")
            self.messages.append(message)

    box = Picky(broken=1)
    desk = Desk(box)
    both = Notice("run.failed", ("a@b.example", "bad@b.example"), "S", "T", group="g")
    desk.outgoing.notify(SCOPE, both)
    desk.round()
    desk.round(minutes=10)
    assert len(box.messages) == 2
    assert desk.sent()[0].reached == ("mail:a@b.example", "mail:bad@b.example")


def test_a_message_that_never_gets_through_is_given_up_and_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = Desk(Box(broken=10_000))
    desk.outgoing.notify(SCOPE, notice())
    for _ in range(GIVEN_UP + 1):
        desk.round(hours=2)
    [lost] = desk.sent()
    assert (lost.given_up, lost.reached) == (True, ())
    assert "no answer" in lost.error
    assert "is given up" in caplog.text


def test_a_sender_that_died_is_followed_by_another_one() -> None:
    class Dying(Box):
        def send(self, address: str, message: Message) -> None:
            if self.broken:
                self.broken -= 1
                raise KeyboardInterrupt
            super().send(address, message)

    box = Dying(broken=1)
    desk = Desk(box)
    desk.outgoing.notify(SCOPE, notice())
    with pytest.raises(KeyboardInterrupt):
        desk.round()
    desk.round(minutes=1)
    assert not box.messages
    desk.round(minutes=2)
    assert len(box.messages) == 1


def test_of_two_senders_one_sends() -> None:
    box = Box()
    desk = Desk(box)

    class Late(FakeOutbox):
        def write(self, scope: Scope, bundle: Bundle, sent: Sent | None = None) -> Bundle:
            raise Conflict("somebody else was faster")

    late = Late()
    late.add(SCOPE, desk_bundle(desk))
    postman = Postman(late, Named(), {"mail": box}, desk.clock)
    postman.look_at(SCOPE, desk_bundle(desk).id)
    assert not box.messages
    postman.look_at(SCOPE, "nowhere")


def desk_bundle(desk: Desk) -> Bundle:
    desk.outgoing.notify(SCOPE, notice())
    return desk.outbox.open(SCOPE)[0]


def test_an_unknown_way_and_an_unexpected_fault_are_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Faulty:
        def send(self, address: str, message: Message) -> None:
            raise ZeroDivisionError

    desk = Desk(Faulty())
    desk.outgoing.notify(SCOPE, notice())
    desk.round()
    assert desk.outbox.open(SCOPE)[0].error == "mail:a@b.example: ZeroDivisionError"
    none = Postman(desk.outbox, Named(), {}, desk.clock)
    desk.clock.moment += timedelta(minutes=10)
    none.look_at(SCOPE, desk.outbox.open(SCOPE)[0].id)
    assert "told by 'mail'" in desk.outbox.open(SCOPE)[0].error


def test_telling_never_raises(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeOutbox):
        def add(self, scope: Scope, bundle: Bundle) -> None:
            raise ServiceUnavailable("no table")

    Outgoing(Broken(), FixedClock()).notify(SCOPE, notice())
    assert "nobody could be told" in caplog.text


def test_what_is_as_good_as_a_password_is_not_shown() -> None:
    assert shown("slack:https://hooks.slack.example/T1/B2/s3cr3t") == (
        "slack:https://hooks.slack.example/…"
    )
    assert shown("mail:a@b.example") == "mail:a@b.example"


class Inbox:
    """What a real SMTP server was given."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.answers: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answers:
            return self.answers.pop()
        self.mails.append(message_from_bytes(envelope.content))
        return "250 OK"


@pytest.fixture
def inbox() -> Iterator[tuple[Inbox, str]]:
    inbox, port = Inbox(), free_port()
    server = Controller(inbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        yield inbox, f"127.0.0.1:{port}"
    finally:
        server.stop()


def test_a_mail_reaches_a_real_server_once_it_works_again(inbox: tuple[Inbox, str]) -> None:
    box, address = inbox
    desk = Desk(SmtpMail(address, "stellwerk@b.example", "https://editor.example"))
    box.answers = ["451 try later"]
    desk.outgoing.notify(SCOPE, notice("Zürich — ✓"))
    desk.round()
    assert not box.mails
    desk.round(minutes=10)
    [mail] = box.mails
    assert (mail["From"], mail["To"]) == ("stellwerk@b.example", "a@b.example")
    assert mail["Subject"] == "Invoices has failed"
    assert mail["Message-ID"].endswith("@stellwerk>")
    payload = mail.get_payload(decode=True)
    assert isinstance(payload, bytes)
    assert "Zürich — ✓" in payload.decode()
    assert "https://editor.example/runs/r-1" in payload.decode()


def test_a_server_that_is_not_there_loses_nothing() -> None:
    desk = Desk(SmtpMail("127.0.0.1:1", "stellwerk@b.example", ""))
    desk.outgoing.notify(SCOPE, notice())
    desk.round()
    [waiting] = desk.outbox.open(SCOPE)
    assert waiting.news == 1
    assert "does not take mails" in waiting.error


def test_without_a_mail_server_it_says_what_to_set() -> None:
    with pytest.raises(PermanentError, match="no mail server is set"):
        NoMail().send("a@b.example", Message("i", "k", "s", "t", 1))
    assert timedelta(minutes=5) == WINDOW
