"""`email.check_mail`: a run waits for a mail, and goes on with the first that fits."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from stellwerk.kernel.errors import ConnectionRejected, InvalidParameters, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import RunStatus, StepStatus
from stellwerk.toolboxes.connections import New
from stellwerk.toolboxes.model import Connection, Kind, Status
from tests.fakes.graph import Letter, microsoft
from tests.triggers.mail.office import Office


@pytest.fixture
def office() -> Iterator[Office]:
    with microsoft() as server:
        yield Office(microsoft=server)


def waiting(office: Office, connection: Connection, **more: JsonValue) -> None:
    """Start a run that waits for a mail under `token-1`."""
    begun(office, connection.id, **more)
    office.floor.call("node", phase="open")
    office.floor.call("node", phase="wait", token="token-1")


def begun(office: Office, connection: str, **more: JsonValue) -> None:
    nodes: dict[str, JsonObject] = {
        "start": {"type": "trigger.manual"},
        "node": {"type": "email.check_mail", "parameters": {"connection": connection, **more}},
    }
    office.floor.publish(nodes, ["start node"])
    office.floor.start(5)
    office.floor.call("start")


def letter(office: Office, subject: str) -> None:
    office.later(seconds=1)
    office.microsoft.letters.append(Letter(office.floor.clock.now(), subject))


def status(office: Office) -> RunStatus:
    return office.floor.world.runs.get(office.scope, office.floor.run.id).status


def woken(office: Office) -> list[str]:
    return [token for token, _ in office.floor.executions.succeeded]


def test_a_run_is_paused_until_the_first_mail_that_fits(office: Office) -> None:
    waiting(office, office.mailbox(), subject="order")
    assert status(office) is RunStatus.PAUSED
    assert office.floor.step("node").status is StepStatus.WAITING
    letter(office, "Hello")
    office.poll()
    assert woken(office) == []
    letter(office, "Order 1")
    letter(office, "Order 2")
    office.poll()
    assert woken(office) == ["token-1"]
    assert status(office) is RunStatus.RUNNING
    assert office.floor.call("node", phase="close")["port"] == "received"
    value = office.floor.value("node")
    assert isinstance(value, dict)
    assert value["subject"] == "Order 1"
    assert office.floor.call("node", phase="close")["port"] == "received"
    assert office.poll() == {"mailboxes": 1, "mails": 0}
    assert office.poll() == {"mailboxes": 0, "mails": 0}, "nobody watches any more"


def test_a_run_whose_time_is_over_goes_on_without_a_mail(office: Office) -> None:
    waiting(office, office.mailbox(), due="PT1H")
    assert office.floor.call("node", phase="open")["seconds"] == 3600
    office.later(hours=1)
    assert office.floor.call("node", phase="close")["port"] == "expired"
    assert office.floor.value("node") is None
    assert status(office) is RunStatus.RUNNING
    letter(office, "Late")
    office.poll()
    assert woken(office) == []


def test_a_mail_that_beats_the_end_of_the_time_counts(office: Office) -> None:
    waiting(office, office.mailbox(), due="PT1H")
    letter(office, "In time")
    office.poll()
    office.later(hours=1)
    assert office.floor.call("node", phase="close")["port"] == "received"


def test_two_pollers_at_once_wake_a_run_with_the_same_mail(office: Office) -> None:
    waiting(office, office.mailbox())
    for number in range(3):
        letter(office, f"Order {number}")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: office.poll(), range(2)))
    assert set(woken(office)) == {"token-1"}
    office.floor.call("node", phase="close")
    value = office.floor.value("node")
    assert isinstance(value, dict)
    assert value["subject"] == "Order 0"
    assert office.floor.world.runs.get(office.scope, office.floor.run.id).waits == 0


def test_a_retry_that_waits_anew_is_woken_at_once(office: Office) -> None:
    waiting(office, office.mailbox())
    office.floor.call("node", phase="wait", token="token-2")
    assert office.floor.world.runs.get(office.scope, office.floor.run.id).waits == 1
    letter(office, "Order")
    office.poll()
    assert woken(office) == ["token-2"]
    office.floor.call("node", phase="wait", token="token-3")
    assert woken(office)[-1] == "token-3"


def test_a_poller_that_died_before_it_woke_is_made_good(office: Office) -> None:
    connection = office.mailbox()
    waiting(office, connection)
    box = office.box(connection)
    found = office.boxes.find(office.scope, box)
    assert found is not None
    kept = office.floor.world.values.keep(office.scope, office.floor.run.id, {"subject": "Order"})
    office.boxes.arrive(office.scope, box, found[1][0].id, kept)
    office.poll()
    assert woken(office) == ["token-1"]
    assert office.floor.call("node", phase="close")["port"] == "received"


def test_a_run_that_was_cancelled_watches_no_more(office: Office) -> None:
    waiting(office, office.mailbox())
    office.floor.assembly.runs.cancel(office.floor.scope, office.floor.run.id)
    assert office.floor.step("node").status is StepStatus.CANCELLED
    office.poll()
    assert office.poll() == {"mailboxes": 0, "mails": 0}
    assert list(office.boxes.everywhere(office.scope)) == []


def test_a_wait_that_was_over_before_it_began_expires(office: Office) -> None:
    begun(office, office.mailbox().id, due="PT1S")
    office.floor.call("node", phase="open")
    office.later(seconds=5)
    assert office.floor.call("node", phase="close")["port"] == "expired"


def test_a_disabled_wait_passes_its_input_on(office: Office) -> None:
    nodes: dict[str, JsonObject] = {
        "start": {"type": "trigger.manual"},
        "node": {
            "type": "email.check_mail",
            "disabled": True,
            "parameters": {"connection": "none"},
        },
    }
    office.floor.publish(nodes, ["start node"])
    office.floor.start(5)
    office.floor.call("start")
    office.floor.call("node", phase="open")
    assert office.floor.value("node") == 5


def test_a_run_waits_only_where_its_user_may_read(office: Office) -> None:
    made = office.mailbox()
    stored = office.desk.store.get(office.floor.scope, made.id)
    other = stored.model_copy(update={"owner": UserId("u-other")})
    office.desk.store.write(office.floor.scope, other)
    begun(office, made.id)
    with pytest.raises(NotFound, match="no connection"):
        office.floor.call("node", phase="open")
    assert office.floor.step("node").status is StepStatus.FAILED


def test_a_run_waits_only_in_a_mailbox_that_works(office: Office) -> None:
    scope = office.floor.scope
    slack = office.desk.connections.create(scope, New(Kind.SLACK, "x", {}, {"bot_token": "t"}))
    begun(office, slack.id)
    with pytest.raises(InvalidParameters, match="of kind slack"):
        office.floor.call("node", phase="open")


def test_an_expired_connection_is_told(office: Office) -> None:
    made = office.mailbox()
    expired = {"status": Status.EXPIRED, "problem": "The password has changed"}
    stored = office.desk.store.get(office.floor.scope, made.id)
    office.desk.store.write(office.floor.scope, stored.model_copy(update=expired))
    begun(office, made.id)
    with pytest.raises(ConnectionRejected, match="The password has changed"):
        office.floor.call("node", phase="open")
