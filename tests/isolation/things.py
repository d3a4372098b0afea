"""Good requests: for each route what must be there first, the ids of its path, and its body."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.fakes.consent import consented
from tests.fakes.graph import REDIRECT
from tests.isolation.table import long_path
from tests.isolation.world import HERE, MANDATE
from tests.secrets.vault import seeded

LATER = (datetime.now(UTC) + timedelta(days=9)).isoformat()
"""A moment to come."""
PATIENCE = 20.0
"""Seconds that a run may take until it waits or is over."""


@dataclass(frozen=True)
class Ask:
    """What a request is made of, beside its route."""

    path: Mapping[str, str | int] = field(default_factory=dict)
    body: JsonValue = None
    query: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[str, bytes, str]] | None = None


class Things:
    """Makes things of one owner; `anna` administrates the place. All names carry `mark`."""

    def __init__(
        self, owner: TestClient, anna: TestClient, mark: str, *, assignee: str, heir: str
    ) -> None:
        self._owner = owner
        self._anna = anna
        self._mark = mark
        self._heir = heir
        self._numbers = itertools.count()
        self._asking = asking(f"{mark} {{{{ $trigger.amount }}}}?", assignee)
        self._straight = straight(mark)

    def ask(self, route: str) -> Ask:
        """Return a request to a route that is good once."""
        return _MAKERS[route](self)

    def name(self) -> str:
        """Return a name that no other thing has."""
        return f"{self._mark} {next(self._numbers)}"

    def workflow(self, graph: JsonObject | None = None) -> str:
        body: JsonObject = {"title": self.name(), "graph": graph or self._straight}
        begun = made(self._owner, f"{HERE}/workflows", body)["workflow"]
        assert isinstance(begun, dict)
        return str(begun["id"])

    def published(self, graph: JsonObject | None = None) -> str:
        workflow = self.workflow(graph)
        made(self._owner, f"{HERE}/workflows/{workflow}/versions/1/publish", {"note": self._mark})
        return workflow

    def archived(self) -> str:
        workflow = self.published()
        at = f"{HERE}/workflows/{workflow}"
        saved = self._owner.put(f"{at}/drafts/1", json=self._asking)
        assert saved.json()["version"]["number"] == 2, saved.text
        made(self._owner, f"{at}/versions/2/publish", {})
        return workflow

    def shared(self) -> str:
        body: JsonObject = {"title": self.name(), "graph": self._straight}
        begun = made(self._anna, f"{HERE}/workflows", body)["workflow"]
        assert isinstance(begun, dict)
        made(self._anna, f"{HERE}/workflows/{begun['id']}/share")
        return str(begun["id"])

    def hooked(self) -> str:
        return self.published(hooked(self._mark))

    def run(self, *, paused: bool) -> str:
        workflow = self.published(self._asking if paused else self._straight)
        body: JsonObject = {"input": {"amount": 12, "note": self._mark}}
        run = str(made(self._owner, f"{HERE}/workflows/{workflow}/runs", body)["id"])
        rested(self._owner, f"{HERE}/runs/{run}", "paused" if paused else "completed")
        return run

    def failed(self) -> str:
        """Return a workflow with a failed run."""
        workflow = self.published(broken(self._mark))
        body: JsonObject = {"input": {"amount": 12, "note": self._mark}}
        run = str(made(self._owner, f"{HERE}/workflows/{workflow}/runs", body)["id"])
        rested(self._owner, f"{HERE}/runs/{run}", "failed")
        return workflow

    def replays(self) -> str:
        """Return a replay that is under way: its only run waits for a person."""
        workflow = self.failed()
        saved = self._owner.put(f"{HERE}/workflows/{workflow}/drafts/1", json=self._asking)
        assert saved.json()["version"]["number"] == 2, saved.text
        made(self._owner, f"{HERE}/workflows/{workflow}/versions/2/publish", {})
        return str(made(self._owner, f"{HERE}/workflows/{workflow}/replays", {})["id"])

    def task(self) -> str:
        run = self.run(paused=True)
        tasks = self._anna.get(f"{HERE}/tasks", params={"all": True}).json()["items"]
        return next(str(task["id"]) for task in tasks if task["run"] == run)

    def member(self) -> str:
        who = f"{self._mark.lower()}-{next(self._numbers)}@muster.example"
        return str(made(self._anna, f"{MANDATE}/members", {"who": who, "name": self._mark})["user"])

    def deputy(self) -> str:
        user = self.member()
        made(self._owner, f"{MANDATE}/me/deputies", {"deputy": user, "until": LATER})
        return user

    def guest(self) -> str:
        user = self.member()
        made(self._anna, f"{HERE}/members", {"who": user})
        return user

    def role(self, place: str) -> str:
        return str(made(self._anna, f"{place}/roles", {"label": self.name()})["id"])

    def machine(self) -> str:
        return str(made(self._anna, f"{MANDATE}/clients", {"name": self.name()})["id"])

    def file(self) -> str:
        answer = self._owner.post(f"{HERE}/files", files=self.upload)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def mailbox(self) -> str:
        body: JsonObject = {**MAILBOX, "label": self.name()}
        return str(made(self._owner, f"{HERE}/connections", body)["id"])

    def account(self) -> str:
        body: JsonObject = {"kind": "microsoft", "label": self.name()}
        return str(made(self._owner, f"{HERE}/connections", body)["id"])

    def consent(self) -> JsonObject:
        """Return what its owner brings back from Microsoft."""
        path = f"{HERE}/connections/{self.account()}/authorise"
        url = str(made(self._owner, path, {"redirect": REDIRECT})["url"])
        state, code = consented(url)
        return {"state": state, "code": code}

    @property
    def upload(self) -> dict[str, tuple[str, bytes, str]]:
        """A form with a file."""
        return {"file": (f"{self._mark}.txt", self._mark.encode(), "text/plain")}

    @property
    def graph(self) -> JsonObject:
        """A graph without faults that differs from what workflows begin with."""
        return self._asking

    @property
    def heir(self) -> str:
        """The id of another user of the instance."""
        return self._heir


def asking(title: str, assignee: str) -> JsonObject:
    """Return a graph that asks a person."""
    approval: JsonObject = {"title": title, "assignees": [assignee]}
    return {
        "title": title.partition(" ")[0],
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "ask", "type": "input.approval", "parameters": approval},
        ],
        "edges": [{"from": "start", "to": "ask"}],
    }


def straight(mark: str) -> JsonObject:
    """Return a graph that goes through."""
    noted: JsonObject = {"fields": {"text": mark, "given": "{{ $trigger }}"}}
    return {
        "title": mark,
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "note", "type": "data.set", "parameters": noted},
        ],
        "edges": [{"from": "start", "to": "note"}],
    }


def broken(mark: str) -> JsonObject:
    """Return a graph that fails."""
    failing: JsonObject = {"fields": {"text": f"{{{{ $error('{mark}') }}}}"}}
    return {
        "title": mark,
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "note", "type": "data.set", "parameters": failing},
        ],
        "edges": [{"from": "start", "to": "note"}],
    }


def hooked(mark: str) -> JsonObject:
    """Return a graph that a web request starts."""
    return {
        "title": mark,
        "nodes": [
            {"key": "order", "type": "trigger.webhook"},
            {"key": "note", "type": "data.set", "parameters": {"fields": {"text": mark}}},
        ],
        "edges": [{"from": "order", "to": "note"}],
    }


def made(client: TestClient, path: str, body: JsonValue = None) -> JsonObject:
    """Return what a POST has made; it must succeed."""
    answer = client.post(path, json=body)
    assert answer.is_success, f"{path}: {answer.text}"
    found: JsonObject = answer.json()
    return found


def rested(client: TestClient, path: str, status: str) -> None:
    """Wait until a run has a status."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if client.get(path).json()["status"] == status:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} does not become {status}")


MAILBOX: JsonObject = {
    "kind": "smtp_imap",
    "settings": {"user": "office", "imap_host": "127.0.0.1"},
    "secret": {"password": seeded("isolated")},
}
Maker = Callable[[Things], Ask]


def _nothing(things: Things) -> Ask:
    return Ask()


def _with(body: JsonValue) -> Maker:
    return lambda things: Ask(body=body)


def _of(name: str, make: Callable[[Things], str], body: JsonValue = None) -> Maker:
    return lambda things: Ask({name: make(things)}, body)


def _workflow(body: JsonValue = None) -> Maker:
    return _of("workflow", Things.workflow, body)


def _version(make: Callable[[Things], str], body: JsonValue = None) -> Maker:
    return lambda things: Ask({"workflow": make(things), "number": 1, "other": 1}, body)


def _graph(things: Things) -> Ask:
    return Ask(body=things.graph)


def _run(body: JsonValue = None) -> Maker:
    return lambda things: Ask({"run": things.run(paused=False), "step": "note"}, body)


def _compared(things: Things) -> Ask:
    run = things.run(paused=False)
    return Ask({"run": run, "other": run})


def _role(place: str, body: JsonValue = None) -> Maker:
    return lambda things: Ask({"role": things.role(place)}, body)


def _hook(body: JsonValue = None) -> Maker:
    return lambda things: Ask({"workflow": things.hooked(), "node": "order"}, body)


def _document(things: Things) -> Ask:
    version: JsonObject = {"number": 1, "graph": things.graph}
    return Ask(body={"title": things.name(), "slug": "carried", "versions": [version]})


_EXPLAIN = {
    "user": "u-demo-user",
    "context": "DATA",
    "item": "data.feature.graphicalEditor.runs",
    "verb": "read",
    "instance": "i-demo",
}
_SHORT: dict[str, Maker] = {
    **dict.fromkeys(("GET /health", "GET /me", "GET /features", "GET /mandates"), _nothing),
    "PATCH /me": _with({"language": "en"}),
    "POST /mandates": _with({"label": "Dritte AG", "admin": "u-demo"}),
    "GET M": _nothing,
    "PATCH M": _with({"label": "Muster AG"}),
    **dict.fromkeys(("GET M/members", "GET M/roles", "GET M/clients", "GET M/instances"), _nothing),
    "POST M/members": lambda things: Ask(
        body={"who": f"{things.name().replace(' ', '-').lower()}@muster.example"}
    ),
    **dict.fromkeys(
        ("GET M/members/{user}", "DELETE M/members/{user}"), _of("user", Things.member)
    ),
    "PUT M/members/{user}": _of("user", Things.member, {"roles": ["r-m-demo-viewer"]}),
    "GET M/me/deputies": _nothing,
    "POST M/me/deputies": lambda things: Ask(body={"deputy": things.member(), "until": LATER}),
    "DELETE M/me/deputies/{user}": _of("user", Things.deputy),
    "POST M/roles": lambda things: Ask(body={"label": things.name()}),
    **dict.fromkeys(
        ("GET M/roles/{role}", "DELETE M/roles/{role}", "GET M/roles/{role}/rules"), _role(MANDATE)
    ),
    "PUT M/roles/{role}": _role(MANDATE, {"description": "new"}),
    "PUT M/roles/{role}/rules": _role(MANDATE, {"rules": []}),
    "GET M/access/explain": lambda things: Ask(query=_EXPLAIN),
    "POST M/clients": lambda things: Ask(body={"name": things.name()}),
    **dict.fromkeys(
        ("POST M/clients/{client}/rotate", "DELETE M/clients/{client}"),
        _of("client", Things.machine),
    ),
    **dict.fromkeys(("GET M/audit", "GET M/audit/export", "GET M/audit/verify"), _nothing),
    "POST M/instances": _with({"feature": "graphicalEditor", "label": "Einkauf"}),
    **dict.fromkeys(("GET I", "POST I/sync-ui-objects"), _nothing),
    "PATCH I": _with({"label": "Editor"}),
    **dict.fromkeys(("GET I/members", "GET I/roles"), _nothing),
    "POST I/members": lambda things: Ask(body={"who": things.member()}),
    **dict.fromkeys(("GET I/members/{user}", "DELETE I/members/{user}"), _of("user", Things.guest)),
    "PUT I/members/{user}": _of("user", Things.guest, {"roles": ["r-i-demo-finance"]}),
    "POST I/roles": lambda things: Ask(body={"label": things.name()}),
    **dict.fromkeys(("GET I/roles/{role}", "DELETE I/roles/{role}"), _role(HERE)),
    "PUT I/roles/{role}": _role(HERE, {"description": "new"}),
    "GET I/catalogue": _nothing,
    "GET I/catalogue/{type}": lambda things: Ask({"type": "flow.if"}),
    **dict.fromkeys(("POST I/validate", "POST I/compile"), _graph),
    **dict.fromkeys(
        ("GET I/workflows", "GET I/shared", "GET I/runs", "GET I/runs/counts"), _nothing
    ),
    **dict.fromkeys(
        ("GET I/stats", "GET I/stats/workflows", "GET I/messages", "GET M/stats"), _nothing
    ),
    "POST I/workflows": lambda things: Ask(body={"title": things.name(), "graph": things.graph}),
    "POST I/workflows/import": _document,
    "POST I/shared/{workflow}/copy": _of("workflow", Things.shared, {"instance": "i-demo"}),
    "PATCH I/workflows/{workflow}": _workflow({"tags": ["new"]}),
    "POST I/workflows/{workflow}/transfer": lambda things: Ask(
        {"workflow": things.workflow()}, {"owner": things.heir}
    ),
    **dict.fromkeys(
        (
            "GET I/workflows/{workflow}",
            "POST I/workflows/{workflow}/activate",
            "POST I/workflows/{workflow}/deactivate",
            "POST I/workflows/{workflow}/share",
            "POST I/workflows/{workflow}/unshare",
            "GET I/workflows/{workflow}/export",
            "GET I/workflows/{workflow}/drafts",
            "GET I/workflows/{workflow}/versions",
            "GET I/workflows/{workflow}/stats",
        ),
        _workflow(),
    ),
    "POST I/workflows/{workflow}/drafts": _workflow({}),
    **dict.fromkeys(
        (
            "GET I/workflows/{workflow}/drafts/{number}",
            "GET I/workflows/{workflow}/versions/{number}",
            "GET I/workflows/{workflow}/versions/{number}/graph",
            "GET I/workflows/{workflow}/versions/{number}/diff/{other}",
        ),
        _version(Things.workflow),
    ),
    "PUT I/workflows/{workflow}/drafts/{number}": lambda things: Ask(
        {"workflow": things.workflow(), "number": 1}, things.graph
    ),
    "POST I/workflows/{workflow}/versions/{number}/publish": _version(
        Things.workflow, {"note": "good"}
    ),
    **dict.fromkeys(
        (
            "POST I/workflows/{workflow}/versions/{number}/unpublish",
            "POST I/workflows/{workflow}/versions/{number}/archive",
        ),
        _version(Things.published),
    ),
    **dict.fromkeys(
        (
            "POST I/workflows/{workflow}/versions/{number}/republish",
            "POST I/workflows/{workflow}/versions/{number}/rollback",
        ),
        _version(Things.archived),
    ),
    "POST I/workflows/{workflow}/runs": _of("workflow", Things.published, {"input": {"amount": 1}}),
    **dict.fromkeys(
        (
            *("GET I/runs/{run}", "GET I/runs/{run}/steps", "GET I/runs/{run}/events"),
            "GET I/runs/{run}/steps/{step}/values",
        ),
        _run(),
    ),
    "GET I/runs/{run}/compare/{other}": _compared,
    "POST I/runs/{run}/cancel": lambda things: Ask({"run": things.run(paused=True)}),
    "POST I/runs/{run}/replay": _run({"from_node": "note", "confirm_writes": True}),
    "POST I/workflows/{workflow}/replays": _of("workflow", Things.failed, {}),
    "GET I/replays": _nothing,
    **dict.fromkeys(
        ("GET I/replays/{replay}", "POST I/replays/{replay}/cancel"),
        _of("replay", Things.replays),
    ),
    "GET I/workflows/{workflow}/hooks": _hook(),
    "POST I/workflows/{workflow}/hooks/{node}/rotate": _hook(),
    "PUT I/workflows/{workflow}/hooks/{node}/secret": _hook({"secret": "a long secret"}),
    "POST I/events": _with({"source": "shop", "type": "order.placed", "data": {"amount": 1}}),
    "GET I/tasks": _nothing,
    **dict.fromkeys(("GET I/tasks/{task}", "POST I/tasks/{task}/cancel"), _of("task", Things.task)),
    "POST I/tasks/{task}/decide": _of("task", Things.task, {"port": "approved"}),
    "POST I/tasks/{task}/delegate": lambda things: Ask(
        {"task": things.task()}, {"to": things.heir}
    ),
    "GET I/connections": _nothing,
    "POST I/connections": lambda things: Ask(body={**MAILBOX, "label": things.name()}),
    "POST I/connections/callback": lambda things: Ask(body=things.consent()),
    "PATCH I/connections/{connection}": _of("connection", Things.mailbox, {"label": "Post"}),
    **dict.fromkeys(
        (
            "GET I/connections/{connection}",
            "DELETE I/connections/{connection}",
            "POST I/connections/{connection}/revoke",
            "POST I/connections/{connection}/test",
        ),
        _of("connection", Things.mailbox),
    ),
    "POST I/connections/{connection}/authorise": _of(
        "connection", Things.account, {"redirect": REDIRECT}
    ),
    "GET I/schedules": _nothing,
    "POST I/schedules/preview": _with({"parameters": {"cron": "30 7 * * *"}}),
    "POST I/schedules/reconcile": _nothing,
    "GET I/workflows/{workflow}/schedules": _of("workflow", Things.workflow),
    "GET I/files": _nothing,
    "POST I/files": lambda things: Ask(files=things.upload),
    **dict.fromkeys(
        ("GET I/files/{file}", "DELETE I/files/{file}", "GET I/files/{file}/content"),
        _of("file", Things.file),
    ),
}
_MAKERS = {
    f"{short.split()[0]} {long_path(short.split()[1])}": maker for short, maker in _SHORT.items()
}
