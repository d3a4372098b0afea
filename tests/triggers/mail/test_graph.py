"""Mail of Microsoft 365, by Graph's delta query, against Graph in small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from stellwerk.files.model import FileId
from stellwerk.kernel.errors import NotFound, PermanentError, ServiceUnavailable
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import RunStatus
from stellwerk.toolboxes.graph import GraphMailbox
from stellwerk.toolboxes.model import Status
from stellwerk.toolboxes.ports import Answer
from tests.fakes.graph import Letter, microsoft
from tests.triggers.mail.office import Office


@pytest.fixture
def office() -> Iterator[Office]:
    with microsoft() as server:
        yield Office(microsoft=server)


def letter(office: Office, subject: str, **more: Any) -> None:
    """Let a mail arrive now; `more` are any of its other fields."""
    now = office.floor.clock.now()
    office.microsoft.letters.append(replace(Letter(now, subject), **more))


def test_mail_is_read_by_page_once(office: Office) -> None:
    office.triggered(office.mailbox())
    letter(office, "Old", received=office.floor.clock.now() - timedelta(hours=1))
    for number in range(5):
        letter(office, f"Invoice {number}")
    letter(office, "Draft", draft=True)
    letter(office, "Removed", removed=True)
    assert office.poll() == {"mailboxes": 1, "mails": 5}
    assert office.subjects() == [f"Invoice {number}" for number in range(5)]
    letter(office, "Invoice 5")
    assert office.poll()["mails"] == 1
    assert office.poll()["mails"] == 0
    (payload,) = (one for one in office.payloads() if "<1@example.com>" in str(one))
    assert isinstance(payload, dict)
    assert payload["subject"] == "Invoice 0"
    assert (payload["sender"], payload["text"]) == ("anna@example.com", "Please pay.")


def test_attachments_are_fetched_where_the_mail_is_wanted(office: Office) -> None:
    office.triggered(office.mailbox(), attachment="*.pdf")
    letter(office, "Plain")
    letter(office, "Invoice", files=(("Rechnung.pdf", b"%PDF"),))
    office.poll()
    (payload,) = office.payloads()
    assert isinstance(payload, dict)
    attachments = payload["attachments"]
    assert isinstance(attachments, list)
    (attachment,) = attachments
    assert isinstance(attachment, dict)
    file = office.files.get(office.scope, FileId(str(attachment["file"])))
    assert office.files.content(office.scope, file) == b"%PDF"


def test_a_state_that_graph_has_forgotten_is_made_anew(office: Office) -> None:
    office.triggered(office.mailbox())
    letter(office, "Before")
    office.poll()
    office.later(minutes=1)
    letter(office, "After")
    office.microsoft.forgets = True
    office.poll()
    assert office.subjects() == ["Before", "After"]


def test_patience_that_graph_asks_for_is_had(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    letter(office, "Invoice")
    office.microsoft.busy = 1
    assert office.poll()["mails"] == 0
    assert office.desk.store.get(office.floor.scope, connection.id).status is Status.ACTIVE
    office.later(minutes=2)
    assert office.poll()["mails"] == 1
    office.microsoft.broken = 1
    assert office.poll()["mails"] == 0


def test_a_consent_that_is_over_expires_the_connection_and_reading_ends(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection)
    office.poll()
    office.microsoft.revoke()
    office.poll()
    marked = office.desk.store.get(office.floor.scope, connection.id)
    assert marked.status is Status.EXPIRED
    asked = len(office.microsoft.asked)
    office.later(hours=2)
    office.poll()
    assert len(office.microsoft.asked) == asked, "nobody knocks where he was refused"


def test_a_token_is_renewed_on_the_way(office: Office) -> None:
    office.triggered(office.mailbox())
    office.later(hours=2)
    letter(office, "Invoice")
    assert office.poll()["mails"] == 1
    assert office.microsoft.refreshed == 1


@pytest.mark.parametrize(("given", "text"), [("Please pay.", "Please pay."), ({"a": 1}, "")])
def test_started_by_hand_it_has_what_was_said(office: Office, given: JsonValue, text: str) -> None:
    office.triggered(office.mailbox())
    office.floor.start(given)
    office.floor.call("start")
    value = office.floor.value("start")
    assert isinstance(value, dict)
    assert (value["text"], value["sender"], value["attachments"]) == (text, "", [])


def test_folders_are_found_by_name(office: Office) -> None:
    connection = office.mailbox()
    office.triggered(connection, folder="Orders")
    letter(office, "Order", folder="Orders")
    office.poll()
    assert office.subjects() == ["Order"]
    mailbox = office.desk.accounts.mailbox(office.floor.scope, connection)
    with pytest.raises(NotFound, match="no folder 'Nowhere'"):
        mailbox.read("Nowhere", "", office.floor.clock.now())
    assert office.runs()[0].status is RunStatus.RUNNING


class Canned:
    """Answers everything alike."""

    def __init__(self, status: int, body: bytes = b"{}") -> None:
        self.answer = Answer(status, {}, body)

    def send(self, *_: object, **__: object) -> Answer:
        return self.answer


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, b"", PermanentError),
        (403, b'{"error":{"code":"ErrorAccessDenied"}}', PermanentError),
        (404, b"[]", NotFound),
        (410, b"{}", ServiceUnavailable),
        (500, b"{", ServiceUnavailable),
        (200, b'{"value":[],"@odata.deltaLink":"https://attacker.example/"}', ServiceUnavailable),
    ],
)
def test_odd_answers_are_told(
    office: Office, status: int, body: bytes, kind: type[Exception]
) -> None:
    mailbox = GraphMailbox(
        "https://graph.example/v1.0", Canned(status, body), lambda refused="": "token"
    )
    with pytest.raises(kind):
        mailbox.read("INBOX", "https://attacker.example/", office.floor.clock.now())
