"""Mail starts runs once, through a real IMAP server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from stellwerk.files.model import FileId
from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.ids import UserId
from stellwerk.runs.deadline import Deadline
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.mail import Batch, Mailbox
from stellwerk.toolboxes.model import Connection, Status
from tests.fakes.mailserver import MailServer, imap_server
from tests.triggers.mail.office import Office


@pytest.fixture(scope="module")
def servers() -> Iterator[MailServer]:
    with imap_server() as server:
        yield server


@pytest.fixture
def office(servers: MailServer) -> Iterator[Office]:
    yield Office(servers)
    servers.clear()


def deliver(office: Office, subject: str, **more: Any) -> None:
    """Put a mail into the mailbox that arrives now, and let a second go by."""
    assert office.server is not None
    office.server.deliver(subject, **{"received": office.floor.clock.now(), **more})
    office.later(seconds=1)


def test_a_mail_starts_a_run_once(office: Office) -> None:
    office.triggered(office.mailbox())
    deliver(office, "Invoice 1")
    assert office.poll() == {"mailboxes": 1, "mails": 1}
    assert office.poll() == {"mailboxes": 1, "mails": 0}
    (run,) = office.runs()
    assert (run.user, run.trigger.kind) == ("u-demo", "trigger.mail")
    assert run.trigger.delivery == "mail/start/<Invoice.1@example.com>"
    (payload,) = office.payloads()
    assert payload == {
        "id": "<Invoice.1@example.com>",
        "received": "2026-11-02T09:00:00.000Z",
        "sender": "anna@example.com",
        "sender_name": "Anna Muster",
        "to": ["office@example.com"],
        "cc": [],
        "subject": "Invoice 1",
        "text": "About Invoice 1.\r\n",
        "html": "",
        "attachments": [],
    }
    office.floor.run = run
    office.floor.call("start")
    assert office.floor.value("start") == payload
    assert office.server is not None
    assert office.server.unseen() == 1, "reading leaves no trace"


def test_what_lay_there_before_starts_nothing(office: Office) -> None:
    deliver(office, "Old", received=office.floor.clock.now() - timedelta(hours=2))
    office.triggered(office.mailbox())
    deliver(office, "New")
    assert office.poll()["mails"] == 1
    assert office.subjects() == ["New"]


def test_two_pollers_at_once_start_one_run_for_each_mail(office: Office) -> None:
    office.triggered(office.mailbox())
    for number in range(5):
        deliver(office, f"Invoice {number}", files=(("a.pdf", b"%PDF"),))
    barrier = threading.Barrier(2)

    def poll(_: int) -> object:
        barrier.wait(10)
        return office.poll()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(poll, range(2)))
    office.poll()
    assert sorted(office.subjects()) == [f"Invoice {number}" for number in range(5)]
    listed = office.files.list(office.scope, created_by=None, cursor=None, limit=99).items
    assert len(listed) == 5, "the same mail makes the same files"


def test_a_poller_that_dies_before_it_has_noted_how_far_it_came_loses_nothing(
    office: Office,
) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    deliver(office, "Invoice 1")
    found = office.boxes.find(office.scope, office.box(connection))
    assert found is not None
    office.poll()
    office.boxes.forget_progress(office.scope, found[0])
    deliver(office, "Invoice 2")
    assert office.poll()["mails"] == 2
    assert office.subjects() == ["Invoice 1", "Invoice 2"]


def test_only_what_fits_starts_a_run(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection, "by-subject", subject="INVOICE")
    office.triggered(connection, "by-sender", sender="@supplier.example")
    office.triggered(connection, "by-name", sender="muster")
    office.triggered(connection, "by-file", attachment="*.pdf")
    office.triggered(connection, "by-folder", folder="Orders")
    deliver(office, "An invoice", sender="a@supplier.example")
    deliver(office, "Hello", files=(("Scan.PDF", b"%PDF"), ("b.txt", b"b")))
    deliver(office, "Order", folder="Orders", sender="x@example.com")
    office.poll()
    started = {
        (run.title, subject) for run, subject in zip(office.runs(), office.subjects(), strict=True)
    }
    assert started == {
        ("by-subject", "An invoice"),
        ("by-sender", "An invoice"),
        ("by-name", "Hello"),
        ("by-file", "Hello"),
        ("by-folder", "Order"),
    }


def test_attachments_become_files_of_the_owner(office: Office) -> None:
    office.triggered(office.mailbox())
    big = b"x" * (4 * 1024 * 1024 + 1)
    deliver(office, "Files", files=(("Rechnung.pdf", b"%PDF"), ("big.bin", big)))
    office.poll()
    (payload,) = office.payloads()
    assert isinstance(payload, dict)
    attachments = payload["attachments"]
    assert isinstance(attachments, list)
    small, large = attachments
    assert isinstance(small, dict) and isinstance(large, dict)
    file = office.files.get(office.scope, FileId(str(small["file"])))
    assert (file.name, file.size, file.created_by) == ("Rechnung.pdf", 4, "u-demo")
    assert office.files.content(office.scope, file) == b"%PDF"
    assert len(file.id) == 26
    assert (large["file"], large["problem"]) == (None, "It has more than 4194304 bytes.")


def test_a_mail_without_an_id_is_known_by_its_place(office: Office) -> None:
    office.triggered(office.mailbox())
    deliver(office, "No id", message_id="")
    deliver(office, "No id", message_id="")
    office.poll()
    office.poll()
    assert office.subjects() == ["No id", "No id"]
    ids = {run.trigger.delivery for run in office.runs()}
    assert len(ids) == 2


def test_many_mails_are_read_by_page(office: Office) -> None:
    office.triggered(office.mailbox())
    for number in range(27):
        deliver(office, f"Invoice {number}")
    assert office.poll()["mails"] == 27
    assert len(office.runs()) == 27


def test_a_mailbox_is_read_while_somebody_watches_it(office: Office) -> None:
    connection = office.mailbox()
    workflow = office.triggered(connection)
    office.poll()
    office.arm(workflow, None)
    deliver(office, "Nobody's")
    assert office.poll() == {"mailboxes": 1, "mails": 0}
    assert office.poll() == {"mailboxes": 0, "mails": 0}
    office.arm(workflow, {"connection": connection.id})
    deliver(office, "Ours")
    office.poll()
    assert "Ours" in office.subjects()
    office.arm(workflow, {"connection": connection.id, "folder": "Orders"})
    deliver(office, "Elsewhere", folder="Orders")
    deliver(office, "Not any more")
    office.poll()
    assert "Elsewhere" in office.subjects()
    assert "Not any more" not in office.subjects()


def test_arming_again_changes_nothing(office: Office) -> None:
    connection = office.mailbox()
    workflow = office.triggered(connection, subject="a")
    office.arm(workflow, {"connection": connection.id, "subject": "a"})
    found = office.boxes.find(office.scope, office.box(connection))
    assert found is not None
    assert found[0].joined == 1
    office.arm(workflow, {"connection": connection.id, "subject": "b"})
    found = office.boxes.find(office.scope, office.box(connection))
    assert found is not None
    assert (found[0].joined, [one.filter.subject for one in found[1]]) == (2, ["b"])


def test_a_mailbox_that_begins_anew_is_read_from_the_last_time_on(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    deliver(office, "Before")
    office.poll()
    with imap_server() as other:
        assert office.server is not None
        moved = {**connection.settings, "imap_port": other.port}
        stored = office.desk.store.get(office.floor.scope, connection.id)
        office.desk.store.write(office.floor.scope, stored.model_copy(update={"settings": moved}))
        office.desk.allow(other.place)
        now = office.floor.clock.now()
        other.deliver("Before", received=now)
        other.deliver("Ancient", received=now - timedelta(hours=3))
        other.deliver("After", received=now)
        office.poll()
    assert office.subjects() == ["Before", "After"]


def test_a_wrong_password_marks_the_connection_and_stops_no_other(office: Office) -> None:
    broken, whole = office.mailbox(), office.mailbox()
    office.desk.kept.put(office.floor.scope, broken.id, {"password": "wrong"})
    office.triggered(broken, "broken")
    office.triggered(whole, "whole")
    deliver(office, "Invoice")
    office.poll()
    assert [run.title for run in office.runs()] == ["whole"]
    marked = office.desk.store.get(office.floor.scope, broken.id)
    assert marked.status is Status.EXPIRED
    assert "does not let 'office' in" in marked.problem
    assert office.desk.store.get(office.floor.scope, whole.id).status is Status.ACTIVE


def test_the_owner_of_a_connection_that_expires_is_told_once(office: Office) -> None:
    notices = office.told()
    broken = office.mailbox()
    office.desk.kept.put(office.floor.scope, broken.id, {"password": "wrong"})
    office.triggered(broken)
    for _ in range(3):
        office.poll()
        office.later(hours=2)
    (notice,) = notices.told
    assert (notice.kind, notice.to) == ("connection.expired", ("user:u-demo",))
    assert "does not let 'office' in" in notice.text


def test_a_connection_that_is_gone_is_nobodys_fault(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    office.desk.store.remove(office.floor.scope, connection.id)
    assert office.poll() == {"mailboxes": 1, "mails": 0}


def test_a_server_that_is_down_is_left_alone_longer_each_time(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    office.desk.allowed_now.clear()
    office.poll()
    found = office.boxes.find(office.scope, office.box(connection))
    assert found is not None
    assert (found[0].failures, found[0].retry_at) == (
        1,
        office.floor.clock.now() + timedelta(minutes=2),
    )
    marked = office.desk.store.get(office.floor.scope, connection.id)
    assert (marked.status, bool(marked.problem)) == (Status.ACTIVE, True)
    assert office.server is not None
    office.desk.allow(office.server.place)
    deliver(office, "Invoice")
    office.poll()
    assert office.runs() == [], "its time has not come"
    office.later(minutes=2)
    office.poll()
    assert office.subjects() == ["Invoice"]
    healed = office.boxes.find(office.scope, office.box(connection))
    assert healed is not None
    assert (healed[0].failures, healed[0].retry_at) == (0, None)
    assert office.desk.store.get(office.floor.scope, connection.id).problem == ""


def test_a_folder_that_is_not_there_is_told(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection, folder="Nowhere")
    office.poll()
    marked = office.desk.store.get(office.floor.scope, connection.id)
    assert marked.problem == "The mailbox of 'office' has no folder 'Nowhere'."
    assert marked.status is Status.ACTIVE


def test_an_owner_who_may_not_any_more_starts_nothing_and_keeps_nobody(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    office.floor.actors.refused.add(UserId("u-demo"))
    deliver(office, "Refused")
    office.poll()
    office.floor.actors.refused.clear()
    deliver(office, "Taken")
    office.poll()
    assert office.subjects() == ["Taken"]


def test_a_connection_of_another_is_not_read_for_anybody(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    stored = office.desk.store.get(office.floor.scope, connection.id)
    handed = stored.model_copy(update={"owner": UserId("u-other")})
    office.desk.store.write(office.floor.scope, handed)
    deliver(office, "Private")
    office.poll()
    assert office.runs() == []


def test_a_store_that_does_not_answer_loses_no_mail(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    deliver(office, "Invoice")

    class Down:
        def __init__(self, inner: Mailbox) -> None:
            self._inner, self.check = inner, inner.check

        def read(self, folder: str, mark: str, since: object) -> Batch:
            raise ServiceUnavailable("not now")

    opened = office.opened

    def closed(scope: Scope, connection: Connection) -> Mailbox:
        return Down(opened(scope, connection))

    office.reopen(closed)
    assert office.poll()["mails"] == 0
    office.reopen(opened)
    office.later(minutes=3)
    assert office.poll()["mails"] == 1


def test_a_round_that_has_no_time_left_reads_nothing(office: Office) -> None:
    office.triggered(office.mailbox())
    deliver(office, "Invoice")
    told = office.rounds.go(Deadline.within(office.floor.clock, 0))
    assert told == {"mailboxes": 0, "mails": 0}
