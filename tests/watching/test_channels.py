"""Services that take JSON: what they are sent, when it is tried again, and what is never called."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from stellwerk.aws.mail import SesMail
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.errors import Forbidden, PermanentError, ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.model import FeatureAccess, Role, User, UserMandate
from stellwerk.tenancy.scope import of_platform
from stellwerk.watching.bundles import Message
from stellwerk.watching.channels import Posted, as_json, for_slack, for_teams, mail_of
from stellwerk.watching.people import KnownPeople
from tests.contracts.directories import instance, mandate
from tests.contracts.records import START
from tests.fakes.directory import directory

MESSAGE = Message(
    "id-1", "run.failed", "Invoices has failed", "No such account.", 3, "/runs/r-1", {"run": "r-1"}
)
EDITOR = "https://editor.example"


class Service:
    """A service that answers as it is told, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[JsonObject] = []
        self.headers: list[dict[str, str]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                service.bodies.append(json.loads(body))
                service.headers.append({k.lower(): v for k, v in self.headers.items()})
                self.send_response(service.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.place}/services/T1/s3cr3t"


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    thread = threading.Thread(target=service.server.serve_forever, daemon=True)
    thread.start()
    yield service
    service.server.shutdown()
    service.server.server_close()
    thread.join()


def channel(service: Service) -> Posted:
    return Posted(as_json, EDITOR, [service.place], SystemClock())


def test_a_webhook_gets_all_of_it_under_a_key_that_stays_the_same(service: Service) -> None:
    channel(service).send(service.url, MESSAGE)
    [body] = service.bodies
    assert body == {
        "id": "id-1",
        "kind": "run.failed",
        "subject": "Invoices has failed",
        "text": "No such account.",
        "count": 3,
        "link": "https://editor.example/runs/r-1",
        "about": {"run": "r-1"},
    }
    assert service.headers[0]["idempotency-key"] == "id-1"


def test_slack_and_teams_get_what_they_take() -> None:
    slack = for_slack(MESSAGE, EDITOR)
    assert slack == {
        "text": "*Invoices has failed*\nNo such account.\n\nhttps://editor.example/runs/r-1"
    }
    teams = json.dumps(for_teams(MESSAGE, EDITOR))
    assert '"type": "AdaptiveCard"' in teams
    assert "https://editor.example/runs/r-1" in teams
    assert "Action.OpenUrl" not in json.dumps(for_teams(MESSAGE, ""))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_is_down_is_tried_again(service: Service, status: int) -> None:
    service.status = status
    with pytest.raises(ServiceUnavailable):
        channel(service).send(service.url, MESSAGE)


def test_a_service_that_refuses_says_so(service: Service) -> None:
    service.status = 404
    with pytest.raises(PermanentError, match="answers 404") as refused:
        channel(service).send(service.url, MESSAGE)
    assert "s3cr3t" not in str(refused.value)


def test_a_service_that_is_not_there_is_tried_again(service: Service) -> None:
    closed = Posted(as_json, EDITOR, ["127.0.0.1:1"], SystemClock())
    with pytest.raises(ServiceUnavailable):
        closed.send("http://127.0.0.1:1/", MESSAGE)


def test_nothing_inside_of_the_network_is_called(service: Service) -> None:
    with pytest.raises(Forbidden):
        Posted(as_json, EDITOR, [], SystemClock()).send(service.url, MESSAGE)
    assert not service.bodies


def test_a_subject_stays_on_its_line() -> None:
    odd = Message("i", "k", "One\r\nBcc: eve@x.example", "t", 1)
    mail = mail_of(odd, sender="s@b.example", to="a@b.example", editor="")
    assert mail["Subject"] == "One Bcc: eve@x.example"
    assert mail["Bcc"] is None


def test_ses_gets_the_same_mail() -> None:
    class Ses:
        def __init__(self) -> None:
            self.sent: list[dict[str, object]] = []

        def send_email(self, **request: object) -> None:
            self.sent.append(request)

    ses = Ses()
    SesMail(lambda: ses, "s@b.example", EDITOR).send("a@b.example", MESSAGE)
    [request] = ses.sent
    assert request["FromEmailAddress"] == "s@b.example"
    assert request["Destination"] == {"ToAddresses": ["a@b.example"]}
    assert b"Invoices has failed" in str(request["Content"]).encode()


def test_people_are_found_by_id_role_and_address() -> None:
    stores, m_one, i_one = directory(), MandateId("m-one"), InstanceId("i-one")
    scope = of_platform(m_one).at(i_one)
    stores.mandates.write_mandate(of_platform(m_one), mandate(m_one))
    stores.mandates.write_instance(of_platform(m_one), instance(i_one, m_one))
    for role, place in (("r-i", i_one), ("r-m", None)):
        at = scope if place else of_platform(m_one)
        stores.roles.write_role(
            at, Role(id=RoleId(role), label="finance", mandate=m_one, instance=place)
        )
    for name, active in (("anna", True), ("ben", True), ("cleo", True), ("dora", False)):
        user = UserId(f"u-{name}")
        stores.members.write_user(
            User(id=user, name=name, email=f"{name}@b.example", active=active, created=START)
        )
        roles = (RoleId("r-m"),) if name in {"cleo", "dora"} else ()
        stores.members.write_membership(
            of_platform(m_one), UserMandate(mandate=m_one, user=user, roles=roles)
        )
    access = FeatureAccess(
        mandate=m_one, instance=i_one, user=UserId("u-ben"), roles=(RoleId("r-i"),)
    )
    stores.members.write_access(scope, access)
    people = KnownPeople(stores)
    assert people.addresses(scope, ["user:u-anna", "it@b.example", "user:u-anna"]) == [
        "mail:anna@b.example",
        "mail:it@b.example",
    ]
    assert people.addresses(scope, ["role:finance"]) == [
        "mail:ben@b.example",
        "mail:cleo@b.example",
    ]
    assert people.addresses(scope, ["role:nobody", "user:u-gone", "odd"]) == []
    slack = "slack:https://hooks.slack.example/x"
    assert people.addresses(scope, [slack, "mail:x@b.example"]) == [slack, "mail:x@b.example"]
