"""The command line at an API: people and machines sign in at a local cloud that serves one."""

from __future__ import annotations

import json
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from localcloud.cli.hosting import hosted
from localcloud.cli.main import app
from localcloud.cli.remote import Api
from localcloud.cli.remote_issuer import Issuer
from localcloud.cli.remote_sessions import FILE, Sessions
from localcloud.cli.remote_signin import KeptPass, sign_in
from stellwerk.config import Settings
from stellwerk.kernel.errors import BadInput, Conflict, Unauthenticated
from stellwerk.kernel.json import JsonValue
from tests.cli.conftest import APPROVAL, Answer


@dataclass
class Terminal:
    """Someone's terminal: an address of an API, and a folder with who is signed in."""

    api: str
    folder: Path

    def __call__(self, *arguments: str, **environment: str) -> Answer:
        """Run a command at the API."""
        return self.run("--api", self.api, *arguments, **environment)

    def run(self, *arguments: str, **environment: str) -> Answer:
        """Run a command as typed."""
        variables = {"XDG_CONFIG_HOME": str(self.folder), "COLUMNS": None, **environment}
        result = CliRunner(env=variables).invoke(app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.folder / "stellwerk")

    def signed_in(self, person: str) -> Terminal:
        """Sign in, with a browser that chooses the person."""
        with Api(self.api) as api:
            issuer = Issuer(str(api.get("/health").object["issuer"]))
        session = sign_in(issuer, "stellwerk", chooses(person), port=0)
        self.sessions.keep(self.api, session)
        return self


def chooses(person: str) -> Callable[[str], None]:
    """Return a browser in which someone chooses that person."""

    def browse(page: str) -> None:
        def follow() -> None:
            shown = httpx2.get(page)
            found = re.findall(r'type="hidden" name="(.*?)" value="(.*?)"', shown.text)
            form = {**dict(found), "person": person}
            address = page.partition("?")[0]
            answer = httpx2.post(address, data=form)
            with suppress(httpx2.HTTPError):
                httpx2.get(answer.headers["location"])

        threading.Thread(target=follow, daemon=True).start()

    return browse


def part(value: JsonValue, *path: str) -> JsonValue:
    """Return what an answer holds there."""
    for name in path:
        assert isinstance(value, dict)
        value = value[name]
    return value


def parts(value: JsonValue) -> list[JsonValue]:
    """Return the items of a list."""
    assert isinstance(value, list)
    return value


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("cloud")
    with hosted(Settings.of({"STELLWERK_DATA": str(data)}), port=0, api_port=0) as connection:
        assert connection.api is not None
        yield connection.api


@pytest.fixture
def anna(api: str, tmp_path: Path) -> Terminal:
    return Terminal(api, tmp_path / "anna").signed_in("u-demo")


@pytest.fixture
def ben(api: str, tmp_path: Path) -> Terminal:
    """Has the role `finance`, which approves payments."""
    return Terminal(api, tmp_path / "ben").signed_in("u-demo-user")


@pytest.fixture
def nobody(api: str, tmp_path: Path) -> Terminal:
    return Terminal(api, tmp_path / "nobody")


def test_a_workflow_is_published_run_and_decided_by_two_people(
    anna: Terminal, ben: Terminal, payment: str
) -> None:
    published = anna("publish", payment, "--json")
    assert published.code == 0, published.shown
    assert (published.data["slug"], published.data["version"]) == ("payment", 1)
    again = anna("publish", payment, "--json")
    assert again.data["version"] == 1, "what is published already stays"
    started = anna("run", "payment", "--input", '{"amount": 5000}', "--json")
    assert started.code == 0, started.shown
    assert started.data["status"] == "paused"
    run = str(started.data["id"])
    asked = ben("tasks", "--json")
    (task,) = [each for each in parts(asked.data["tasks"]) if part(each, "run") == run]
    decided = ben("decide", str(part(task, "id")), "approved", "--json")
    assert decided.code == 0, decided.shown
    assert decided.data["status"] == "completed"
    assert decided.data["output"] == {"pay": {"paid": 5000}}
    shown = anna("show", run)
    assert shown.code == 0
    for word in ("Payment v1", "completed", "approved", '"paid":5000'):
        assert word in shown.shown
    listed = anna("runs", "--workflow", "payment", "--status", "completed", "--json")
    assert run in [part(each, "id") for each in parts(listed.data["runs"])]


def test_a_changed_file_becomes_the_next_version(anna: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "changing.json"
    file.write_text(json.dumps({**APPROVAL, "title": "One"}), encoding="utf-8")
    assert anna("publish", str(file), "--json").data["version"] == 1
    other = json.dumps(APPROVAL).replace('"{{ $trigger.amount }}"', '"{{ $trigger.amount + 1 }}"')
    file.write_text(other, encoding="utf-8")
    changed = anna("run", str(file), "--input", '{"amount": 1}', "--json")
    assert changed.data["version"] == 2
    assert changed.data["output"] == {"pay": {"paid": 2}}


def test_workflows_are_listed_compared_and_rolled_back(anna: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    for limit in ("100", "200"):
        graph = json.dumps(APPROVAL).replace("> 1000", f"> {limit}")
        file.write_text(graph, encoding="utf-8")
        assert anna("publish", str(file)).code == 0
    listed = anna("workflows", "--json").data
    assert "steps" in [part(each, "slug") for each in parts(listed["workflows"])]
    versions = parts(anna("workflows", "versions", "steps", "--json").data["versions"])
    assert [part(each, "status") for each in versions] == ["published", "archived"]
    told = anna("workflows", "diff", "steps", "1", "2").shown
    assert '~  large.condition  "{{ $trigger.amount > 100 }}"' in told
    back = anna("workflows", "rollback", "steps", "1", "--json")
    assert (back.code, part(back.data, "workflow", "published")) == (0, 1)
    again = anna("workflows", "rollback", "steps", "1")
    assert again.code == 2
    assert "is the published one already" in again.errors
    assert anna("workflows", "rollback", "steps", "9").code == 3


def test_a_run_is_cancelled_by_whoever_may(
    anna: Terminal, ben: Terminal, api: str, tmp_path: Path, payment: str
) -> None:
    run = str(anna("run", payment, "--input", '{"amount": 7000}', "--json").data["id"])
    clara = Terminal(api, tmp_path / "clara").signed_in("u-demo-viewer")
    assert part(clara("cancel", run, "--json").data, "error", "type") in {"Forbidden", "NotFound"}
    cancelled = anna("cancel", run, "--json")
    assert (cancelled.code, cancelled.data["status"]) == (0, "cancelled")
    assert run not in ben("tasks").shown
    assert anna("cancel", run).code == 2


def test_a_run_is_replayed_and_writes_again_only_if_that_is_meant(
    anna: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "tell.json"
    call = {"method": "POST", "url": "http://127.0.0.1:9/"}
    tell = {"key": "tell", "type": "http.request", "on_error": "continue", "parameters": call}
    keep = {"key": "keep", "type": "data.set", "parameters": {"fields": {"kept": 1}}}
    nodes = [{"key": "start", "type": "trigger.manual"}, tell, keep]
    edges = [{"from": "start", "to": "tell"}, {"from": "tell", "to": "keep"}]
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    began = anna("run", str(file), "--json")
    assert began.code == 0, began.shown
    before = str(began.data["id"])
    kept = anna("replay", before, "--from", "keep", "--json")
    assert kept.code == 0, kept.shown
    assert (kept.data["origin"], kept.data["status"]) == (before, "completed")
    refused = anna("replay", before, "--from", "tell")
    assert refused.code == 2
    assert "would write again: tell" in refused.errors
    assert "--yes" in refused.errors
    meant = anna("replay", before, "--from", "tell", "--yes", "--json")
    assert (meant.code, meant.data["origin"]) == (0, before)
    runs = parts(anna("runs", "--workflow", "tell", "--json").data["runs"])
    assert len(runs) == 3, "nothing was replayed twice"


def test_many_failed_runs_are_replayed_at_the_api(anna: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "failing.json"
    note = {"key": "note", "type": "data.set", "parameters": {"fields": {"a": "{{ $error('x') }}"}}}
    nodes = [{"key": "start", "type": "trigger.manual"}, note]
    edges = [{"from": "start", "to": "note"}]
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    assert anna("run", str(file)).code == 1
    began = anna("replays", "start", "failing", "--yes", "--assume-done", "note=7", "--json")
    assert (began.code, began.data["total"]) == (0, 1)
    job = str(began.data["id"])
    shown = anna("replays", "show", job, "--json")
    assert len(parts(shown.data["runs"])) == 1
    assert job in anna("replays").shown
    cancelled = anna("replays", "cancel", job)
    assert cancelled.code in {0, 2}, "it may have stopped by itself"


def test_errors_are_those_of_the_api(anna: Terminal, ben: Terminal, payment: str) -> None:
    missing = anna("show", "no-such-run", "--json")
    assert (missing.code, part(missing.data, "error", "type")) == (3, "NotFound")
    assert anna("decide", "no-such-task", "approved").code == 3
    assert anna("replay", "no-such-run").code == 3
    assert anna("cancel", "no-such-run").code == 3
    assert anna("workflows", "diff", "nothing", "1", "2").code == 3
    elsewhere = ben("runs", STELLWERK_MANDATE="m-nord", STELLWERK_INSTANCE="i-nord")
    assert elsewhere.code == 3


def test_a_viewer_is_told_what_is_not_allowed(api: str, tmp_path: Path) -> None:
    clara = Terminal(api, tmp_path / "clara").signed_in("u-demo-viewer")
    file = tmp_path / "new.json"
    file.write_text(json.dumps(APPROVAL), encoding="utf-8")
    refused = clara("publish", str(file), "--json")
    assert (refused.code, part(refused.data, "error", "type")) == (2, "Forbidden")
    assert "viewer" in str(part(refused.data, "error", "message"))


def test_whoever_belongs_to_no_instance_is_told_so(api: str, tmp_path: Path) -> None:
    david = Terminal(api, tmp_path / "david").signed_in("u-demo-outsider")
    assert david("runs").code == 3
    assert "no such instance" in david("runs").errors


def test_nobody_is_told_to_sign_in(nobody: Terminal) -> None:
    refused = nobody("runs")
    assert refused.code == 2
    assert f"stellwerk login --api {nobody.api}" in refused.errors


def test_a_machine_signs_in_with_its_secret(anna: Terminal, nobody: Terminal) -> None:
    session = anna.sessions.find(anna.api)
    assert session is not None
    bearer = {"Authorization": f"Bearer {session.access_token}"}
    base = f"{anna.api}/api/v1/mandates/m-demo"
    made = httpx2.post(f"{base}/clients", json={"name": "CI", "roles": []}, headers=bearer)
    assert made.status_code == 201, made.text
    client, secret = str(made.json()["id"]), str(made.json()["secret"])
    who = ("login", "--api", nobody.api, "--client-id", client, "--json")
    signed = nobody.run(*who, STELLWERK_CLIENT_SECRET=secret)
    assert signed.code == 0, signed.shown
    assert (signed.data["user"], signed.data["kind"]) == (client, "machine")
    text = (nobody.folder / "stellwerk" / FILE).read_text()
    assert secret not in text
    wrong = nobody.run(*who, "--client-secret", "x")
    assert part(wrong.data, "error", "type") == "Unauthenticated"


def test_tokens_are_for_their_owner_alone_and_forgotten_at_the_end(anna: Terminal) -> None:
    file = anna.folder / "stellwerk" / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert anna.run("logout", "--api", anna.api).code == 0
    assert anna.sessions.find(anna.api) is None
    assert anna("runs").code == 2
    assert anna.run("logout", "--api", anna.api).code == 2


def test_an_expired_token_is_renewed(anna: Terminal) -> None:
    session = anna.sessions.find(anna.api)
    assert session is not None
    old = session.model_copy(update={"expires": session.expires.replace(year=2020)})
    anna.sessions.keep(anna.api, old)
    assert anna("runs").code == 0
    renewed = anna.sessions.find(anna.api)
    assert renewed is not None
    assert renewed.fresh
    assert renewed.refresh_token == session.refresh_token
    anna.sessions.keep(anna.api, session.model_copy(update={"access_token": "stale"}))
    assert anna("runs").code == 0
    machine = session.model_copy(update={"access_token": "stale", "refresh_token": ""})
    anna.sessions.keep(anna.api, machine)
    with pytest.raises(Unauthenticated, match="machine's token has expired"):
        KeptPass(anna.sessions, anna.api).token(renew=True)


def test_someone_who_is_refused_at_the_page_is_told_why(api: str, tmp_path: Path) -> None:
    with pytest.raises(Unauthenticated, match="no such person"):
        Terminal(api, tmp_path).signed_in("u-nobody")


def test_a_port_that_is_taken_is_named(api: str) -> None:
    taken = int(api.rpartition(":")[2])
    with pytest.raises(Conflict, match="is taken"):
        sign_in(Issuer(f"{api}/oidc"), "stellwerk", lambda page: None, port=taken)


def test_the_audit_is_verified_and_exported_over_the_api(anna: Terminal, tmp_path: Path) -> None:
    whole = anna("audit", "verify", "--json")
    assert whole.code == 0, whole.shown
    assert whole.data["faults"] == []
    assert whole.data["mandate"] == "m-demo"
    assert whole.data["records"] != 0
    out = tmp_path / "audit.jsonl"
    assert anna("audit", "export", "--out", str(out)).code == 0
    lines = out.read_text().splitlines()
    assert [json.loads(line)["mandate"] for line in lines] == ["m-demo"] * len(lines)
    assert anna("audit", "export", "--since", "2199-01-01").shown == ""
    assert anna("audit", "verify", "--day", "yesterday").code == 2


def test_addresses_that_would_carry_tokens_in_the_open_are_refused(nobody: Terminal) -> None:
    for address in ("http://example.com", "ftp://127.0.0.1", "https://", "https://a:b@host"):
        refused = nobody.run("--api", address, "runs", "--json")
        assert part(refused.data, "error", "type") == "BadInput"
    down = nobody.run("login", "--api", "http://127.0.0.1:1", "--json")
    assert (down.code, part(down.data, "error", "type")) == (1, "ServiceUnavailable")


def test_a_file_that_holds_no_sessions_is_named(nobody: Terminal) -> None:
    (nobody.folder / "stellwerk").mkdir(parents=True)
    (nobody.folder / "stellwerk" / FILE).write_text("{")
    with pytest.raises(BadInput, match="cannot be read"):
        nobody.sessions.find("x")


def test_a_deputy_decides_for_who_is_away(anna: Terminal, ben: Terminal, payment: str) -> None:
    started = anna("run", payment, "--input", '{"amount": 6000}', "--json").data
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    named = ben("deputies", "--name", "u-demo", "--until", until)
    assert (named.code, "u-demo" in named.shown) == (0, True), named.errors
    (deputy,) = parts(anna("deputies", "--json").data["deputies"])
    assert (part(deputy, "user"), part(deputy, "deputy")) == ("u-demo-user", "u-demo")
    tasks = parts(anna("tasks", "--json").data["tasks"])
    (task,) = [str(part(each, "id")) for each in tasks if part(each, "run") == started["id"]]
    assert anna("decide", task, "approved", "--comment", "for Ben").code == 0
    told = anna("task", task)
    assert "approved by u-demo for u-demo-user" in told.shown
    assert "for Ben" in told.shown
    removed = ben("deputies", "--remove", "u-demo")
    assert "Nobody stands in for you" in removed.shown


def test_a_task_is_handed_on_and_cancelled_at_an_api(
    anna: Terminal, ben: Terminal, payment: str
) -> None:
    started = anna("run", payment, "--input", '{"amount": 6500}', "--json").data
    tasks = parts(ben("tasks", "--json").data["tasks"])
    (task,) = [str(part(each, "id")) for each in tasks if part(each, "run") == started["id"]]
    handed = ben("delegate", task, "u-demo", "--json")
    assert (handed.code, handed.data["assignees"]) == (0, ["user:u-demo"])
    cancelled = anna("cancel-task", task, "--json")
    assert (cancelled.code, cancelled.data["status"]) == (0, "cancelled")
