"""`stellwerk connections` at an API and here; and mail, from a real mailbox to the end of a run."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from localcloud.cli.hosting import hosted
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import Answer, invoke
from tests.cli.test_remote import Terminal
from tests.fakes.consent import consented
from tests.fakes.graph import REDIRECT, Microsoft, microsoft
from tests.fakes.mailserver import PASSWORD, MailServer, imap_server
from tests.handlers.floor import Context
from triggers.mail.handler import handler as poller

PATIENCE = 30.0
LONG = Context(milliseconds=300_000)


@dataclass(frozen=True)
class Office:
    """A cloud that serves its API, a mailbox, Microsoft, and who uses them."""

    folder: Path
    server: MailServer
    microsoft: Microsoft
    anna: Terminal

    def file(self, content: JsonObject) -> str:
        """Return `@FILE` with the content in it."""
        path = self.folder / f"{len(list(self.folder.iterdir()))}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return f"@{path}"

    def mailbox(self) -> str:
        """Make a connection to the mailbox."""
        settings = json.dumps(self.server.settings)
        secret = self.file({"password": PASSWORD})
        made = self.anna(
            *("connections", "create", "smtp_imap", "Office"),
            *("--settings", settings, "--secret", secret, "--json"),
        )
        assert made.code == 0, made.errors
        return str(made.data["id"])

    def publish(self, graph: JsonObject, slug: str) -> None:
        """Publish a workflow."""
        done = self.anna("publish", self.file(graph)[1:], "--slug", slug, "--json")
        assert done.code == 0, done.errors

    def run(self, workflow: str, status: str) -> JsonObject:
        """Wait until the workflow's only run has a status, and return it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            listed = self.anna("runs", "--workflow", workflow, "--json").data["runs"]
            assert isinstance(listed, list)
            assert len(listed) < 2
            if listed and isinstance(listed[0], dict) and listed[0]["status"] == status:
                return listed[0]
            time.sleep(0.05)
        raise AssertionError(f"no run of {workflow} becomes {status}")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    with imap_server() as server, microsoft() as login:
        allowed = f"{server.place},{login.place}"
        environment = {
            **login.environment,
            "STELLWERK_HTTP_ALLOW": allowed,
            "STELLWERK_DATA": str(folder / "data"),
        }
        (folder / "data").mkdir()
        with hosted(Settings.of(environment), port=0, api_port=0) as connection:
            assert connection.api is not None
            anna = Terminal(connection.api, folder / "anna").signed_in("u-demo")
            yield Office(folder, server, login, anna)


def test_a_mailbox_is_kept_listed_tried_out_and_ended(office: Office) -> None:
    made = office.mailbox()
    listed = office.anna("connections", "list", "--json")
    assert made in listed.shown
    assert PASSWORD not in listed.shown
    tried = office.anna("connections", "test", made)
    assert (tried.code, "lets office in" in tried.shown) == (0, True)
    assert "Office" in office.anna("connections", "list").shown
    assert "Office is revoked" in office.anna("connections", "revoke", made).shown
    assert office.anna("connections", "test", made).code == 2
    assert office.anna("connections", "delete", made).code == 0
    assert office.anna("connections", "test", made).code == 3


def test_a_wrong_secret_is_told_and_ends_the_command_with_1(office: Office) -> None:
    made = office.anna(
        *("connections", "create", "smtp_imap", "Wrong"),
        *("--settings", json.dumps(office.server.settings)),
        *("--secret", office.file({"password": "wrong"}), "--json"),
    )
    tried = office.anna("connections", "test", str(made.data["id"]))
    assert (tried.code, "does not let" in tried.shown) == (1, True)


def test_a_secret_is_not_typed(office: Office) -> None:
    refused = office.anna("connections", "create", "webhook", "x", "--secret", '{"url":"u"}')
    assert (refused.code, "seen by others" in refused.errors) == (2, True)
    listed = office.anna("connections", "create", "webhook", "x", "--settings", "[]")
    assert (listed.code, "JSON object" in listed.errors) == (2, True)


def test_an_account_is_authorised_with_a_browser_between(office: Office) -> None:
    made = office.anna("connections", "create", "microsoft", "365", "--json").data["id"]
    url = office.anna("connections", "authorise", str(made), "--json").data["url"]
    state, code = consented(str(url))
    back = f"{REDIRECT}?{urlencode({'state': state, 'code': code})}"
    assert "365 is active" in office.anna("connections", "finish", back).shown
    assert office.anna("connections", "finish", back).code == 3
    refused = office.anna("connections", "finish", f"{REDIRECT}?error=access_denied")
    assert (refused.code, "access_denied" in refused.errors) == (2, True)
    assert "Microsoft lets" in office.anna("connections", "test", str(made)).shown


def test_here_the_same_commands_reach_the_local_cloud(office: Office) -> None:
    def here(*arguments: str) -> Answer:
        return invoke(office.folder / "data", ["connections", *arguments])

    secret = office.file({"url": "http://127.0.0.1:1/"})
    made = here("create", "webhook", "Door", "--secret", secret, "--shared", "--json")
    one = str(made.data["id"])
    assert made.data["shared"] is True
    assert "the instance" in here("list").shown
    assert here("test", one).code == 1
    account = str(here("create", "microsoft", "365", "--json").data["id"])
    assert here("authorise", account).code == 2, "this process knows no application"
    assert here("finish", f"{REDIRECT}?state=s&code=c").code == 3
    assert here("revoke", one).code == 0
    assert here("delete", one).code == 0


def test_a_mail_runs_a_workflow_to_its_end(office: Office) -> None:
    trigger: JsonObject = {"connection": office.mailbox(), "subject": "order"}
    noted: JsonObject = {"fields": {"who": "{{ $trigger.sender }}"}}
    office.publish(
        {
            "nodes": [
                {"key": "mail", "type": "trigger.mail", "parameters": trigger},
                {"key": "note", "type": "data.set", "parameters": noted},
            ],
            "edges": [{"from": "mail", "to": "note"}],
        },
        "orders",
    )
    office.server.deliver("Order 1", files=(("order.pdf", b"%PDF"),))
    office.server.deliver("Hello")
    told = poller({}, LONG)
    assert told == {"mailboxes": 1, "mails": 1}
    run = office.run("orders", "completed")
    assert poller({}, LONG)["mails"] == 0
    shown = office.anna("show", str(run["id"]), "--json").shown
    assert "anna@example.com" in shown


def test_a_run_waits_for_a_mail_and_goes_on(office: Office) -> None:
    waited: JsonObject = {"connection": office.mailbox(), "subject": "reply", "due": "P1D"}
    noted: JsonObject = {"fields": {"text": "{{ $nodes.wait.subject }}"}}
    office.publish(
        {
            "nodes": [
                {"key": "start", "type": "trigger.manual"},
                {"key": "wait", "type": "email.check_mail", "parameters": waited},
                {"key": "note", "type": "data.set", "parameters": noted},
            ],
            "edges": [
                {"from": "start", "to": "wait"},
                {"from": "wait", "port": "received", "to": "note"},
            ],
        },
        "replies",
    )
    started = office.anna("run", "replies", "--json")
    assert started.code == 0, started.errors
    office.run("replies", "paused")
    poller({}, LONG)
    office.server.deliver("Reply to 4711")
    poller({}, LONG)
    run = office.run("replies", "completed")
    assert "Reply to 4711" in office.anna("show", str(run["id"]), "--json").shown
    poller({}, LONG)
