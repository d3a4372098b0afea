"""Each kind of connection is tried out without leaving a trace, and says clearly what was found."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from stellwerk.kernel.errors import ConnectionRejected, ServiceUnavailable
from stellwerk.kernel.json import JsonObject
from stellwerk.toolboxes.connections import New
from stellwerk.toolboxes.kinds import MailServers
from stellwerk.toolboxes.model import Kind, Status, Verdict
from stellwerk.toolboxes.smtp import signed_in
from tests.connections.desk import BEN, Desk
from tests.fakes.mailserver import (
    PASSWORD,
    USER,
    MailServer,
    free_port,
    imap_server,
    smtp_server,
)
from tests.secrets.vault import seeded

TOKEN = seeded("bot-token")
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
"""The server of these tests is on this machine."""


class Slack(BaseHTTPRequestHandler):
    """Answers as Slack does, and as some webhooks do."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        if self.path == "/api/auth.test":
            known = self.headers["authorization"] == f"Bearer {TOKEN}"
            good = {"ok": True, "user": "stellwerk", "team": "Muster"}
            self._answer(200, json.dumps(good if known else {"ok": False, "error": "invalid_auth"}))
        else:
            status, said = {"/known": (400, "no_text"), "/busy": (503, "")}.get(
                self.path, (404, "no_service")
            )
            self._answer(status, said)

    def do_HEAD(self) -> None:
        known = self.headers.get("x-key") == seeded("header")
        self._answer(405 if known else 401, "")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def slack() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slack)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[MailServer]:
    with imap_server() as running:
        yield running


def tried(desk: Desk, kind: Kind, settings: JsonObject, secret: JsonObject) -> Verdict:
    made = desk.connections.create(BEN, New(kind, "x", settings, secret))
    verdict = desk.connections.test(BEN, made.id)
    found = desk.connections.get(BEN, made.id)
    assert found.checked == desk.clock.now()
    assert found.problem == ("" if verdict.works else verdict.message)
    return verdict


def test_a_mailbox_is_opened_and_its_sender_signed_in(server: MailServer) -> None:
    with smtp_server() as post:
        desk = Desk(allowed=(server.place, f"127.0.0.1:{post.port}"))
        sending: JsonObject = {"smtp_host": "127.0.0.1", "smtp_port": post.port}
        settings: JsonObject = {**server.settings, **sending, "smtp_security": "none"}
        verdict = tried(desk, Kind.SMTP_IMAP, settings, {"password": PASSWORD})
        assert verdict.works
        assert f"127.0.0.1 lets {USER} in: INBOX has 0 mails." in verdict.message
        assert f"127.0.0.1 takes mail from {USER}." in verdict.message
        assert post.taken == []


def test_a_mailbox_without_a_sender_says_so(server: MailServer) -> None:
    desk = Desk(allowed=(server.place,))
    verdict = tried(desk, Kind.SMTP_IMAP, server.settings, {"password": PASSWORD})
    assert verdict.message.endswith("It sends no mail: no `smtp_host` is set.")


@pytest.mark.parametrize("password", [seeded("wrong"), "päss"])
def test_a_wrong_password_expires_the_connection(server: MailServer, password: str) -> None:
    desk = Desk(allowed=(server.place,))
    verdict = tried(desk, Kind.SMTP_IMAP, server.settings, {"password": password})
    assert (verdict.works, verdict.message) == (False, f"127.0.0.1 does not let '{USER}' in.")
    assert [one.status for one in desk.connections.list(BEN).items] == [Status.EXPIRED]


def test_a_sender_that_is_refused_is_named(server: MailServer) -> None:
    with smtp_server() as post:
        place = f"127.0.0.1:{post.port}"
        desk = Desk(allowed=(server.place, place))
        servers = MailServers.model_validate(
            {
                **server.settings,
                "smtp_host": "127.0.0.1",
                "smtp_port": post.port,
                "smtp_security": "none",
            }
        )
        with (
            pytest.raises(ConnectionRejected, match=place),
            signed_in(servers, seeded("wrong"), desk.allowed),
        ):
            raise AssertionError("it was let in")


def test_a_sender_without_tls_is_told() -> None:
    with smtp_server() as post:
        place = f"127.0.0.1:{post.port}"
        servers = MailServers.model_validate(
            {
                "user": USER,
                "imap_host": "127.0.0.1",
                "smtp_port": post.port,
                "smtp_security": "starttls",
            }
        )
        with (
            pytest.raises(ServiceUnavailable, match="as it should"),
            signed_in(servers, PASSWORD, (place,)),
        ):
            raise AssertionError("it was let in")


def test_a_password_is_sent_openly_only_where_the_operator_allows_it(server: MailServer) -> None:
    verdict = tried(Desk(), Kind.SMTP_IMAP, server.settings, {"password": PASSWORD})
    assert "for everybody to read" in verdict.message


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_private_address_is_refused(server: MailServer, security: str) -> None:
    settings: JsonObject = {**server.settings, "imap_security": security}
    verdict = tried(Desk(), Kind.SMTP_IMAP, settings, {"password": PASSWORD})
    assert "not a public address" in verdict.message


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_server_without_tls_is_told_and_expires_nothing(
    server: MailServer, security: str
) -> None:
    desk = Desk(allowed=(server.place,))
    settings: JsonObject = {**server.settings, "imap_security": security}
    verdict = tried(desk, Kind.SMTP_IMAP, settings, {"password": PASSWORD})
    assert "does not answer as it should" in verdict.message
    assert [one.status for one in desk.connections.list(BEN).items] == [Status.ACTIVE]


def test_a_server_that_is_not_there_is_told() -> None:
    port = free_port()
    desk = Desk(allowed=(f"127.0.0.1:{port}",))
    settings: JsonObject = {**MailServer(port).settings}
    verdict = tried(desk, Kind.SMTP_IMAP, settings, {"password": PASSWORD})
    assert "cannot be reached" in verdict.message


def test_slack_knows_its_token_and_its_addresses() -> None:
    with slack() as place:
        desk = Desk(allowed=(place,), slack=f"http://{place}/api")

        def told(**secret: str) -> tuple[bool, str]:
            verdict = tried(desk, Kind.SLACK, {}, {**secret})
            return verdict.works, verdict.message

        assert told(bot_token=TOKEN) == (True, "Slack lets 'stellwerk' into 'Muster'.")
        assert told(bot_token=seeded("wrong")) == (
            False,
            "Slack answered with status 200 (invalid_auth).",
        )
        known = (True, "Slack knows the address; nothing was posted.")
        assert told(webhook_url=f"http://{place}/known") == known
        assert told(webhook_url=f"http://{place}/gone")[1].endswith("404 (no_service).")
        assert told(webhook_url=f"http://{place}/busy")[0] is False
        states = sorted(str(one.status) for one in desk.connections.list(BEN).items)
        assert states == ["active", "active", "active", "expired", "expired"]


def test_a_webhook_is_knocked_at_and_sent_nothing() -> None:
    with slack() as place:
        desk = Desk(allowed=(place,))
        secret: JsonObject = {
            "url": f"http://{place}/{seeded('path')}",
            "headers": {"X-Key": seeded("header")},
        }
        verdict = tried(desk, Kind.WEBHOOK, {}, secret)
        assert (
            verdict.message == "The address answers (status 405 to HEAD); nothing was sent to it."
        )
        refused = tried(desk, Kind.WEBHOOK, {}, {"url": f"http://{place}/x"})
        assert refused.message == "The address answered with status 401."


def test_a_lost_secret_is_told() -> None:
    desk = Desk()
    made = desk.connections.create(BEN, New(Kind.WEBHOOK, "x", {}, {"url": "https://example.com"}))
    desk.kept.remove(BEN, made.id)
    assert "its secret is gone" in desk.connections.test(BEN, made.id).message
