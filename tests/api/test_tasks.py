"""Tasks over HTTP: several answers, deputies, forms, and guests who hold a link."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.testclient import TestClient

from stellwerk.kernel.ids import TaskId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.links import issued, token_of
from stellwerk.tenancy.scope import of_run
from tests.api.world import DEMO, World

MANDATE = "/api/v1/mandates/m-demo"
_NUMBERS = itertools.count()
FORM: JsonObject = {
    "type": "object",
    "required": ["amount", "why"],
    "properties": {
        "amount": {"type": "number", "title": "Amount <CHF>"},
        "why": {"type": "string"},
    },
}


class Desk:
    """Asks people, and finds what they are asked."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.anna = world.someone("u-demo", **{"If-Match": "*"})
        self.ben = world.someone("u-demo-user")
        self.guest = world.someone("", **{"Accept-Language": "en"})

    def ask(self, kind: str = "input.approval", **parameters: JsonValue) -> str:
        """Start a run that asks, and return the id of its task."""
        asking: JsonObject = {"title": "Pay <it>?", "assignees": ["u-demo-user"], **parameters}
        graph: JsonObject = {
            "title": f"Asking {next(_NUMBERS)}",
            "nodes": [
                {"key": "start", "type": "trigger.manual"},
                {"key": "ask", "type": kind, "parameters": asking},
            ],
            "edges": [{"from": "start", "to": "ask"}],
        }
        body = {"title": graph["title"], "graph": graph}
        workflow = self.anna.post(f"{DEMO}/workflows", json=body).json()["workflow"]["id"]
        published = self.anna.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={})
        assert published.is_success, published.text
        run = self.anna.post(f"{DEMO}/workflows/{workflow}/runs", json={}).json()["id"]
        for _ in range(400):
            items = self.anna.get(f"{DEMO}/tasks", params={"all": True}).json()["items"]
            found = [task["id"] for task in items if task["run"] == run]
            if found:
                return str(found[0])
            time.sleep(0.02)
        raise AssertionError(f"run {run} asks nobody")

    def link(self, task: str, address: str = "mail:eva@kunde.example") -> str:
        """Return the token of a new link, as the notice has it."""
        scope = of_run("m-demo", "i-demo", "platform")
        store = self.world.services.running.assembly.world.tasks
        found = store.get(scope, TaskId(task))
        news, secret = issued(found, address, datetime.now(UTC))
        store.amend(scope, found, found.model_copy(update={"news": news}))
        return token_of(scope, found.id, secret)

    def status(self, task: str) -> str:
        return str(self.anna.get(f"{DEMO}/tasks/{task}").json()["status"])

    def decide(self, who: TestClient, task: str, **body: JsonValue) -> dict[str, Any]:
        answer = who.post(f"{DEMO}/tasks/{task}/decide", json=body)
        return {**answer.json(), "code": answer.status_code}


class Page(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.tags: set[str] = set()
        self.action = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        if tag == "form":
            self.action = found["action"]
        if found.get("name"):
            self.fields[found["name"]] = found.get("value", "")


@pytest.fixture(scope="module")
def desk(one_world: World) -> Desk:
    made = Desk(one_world)
    etag = made.anna.get(MANDATE).headers["ETag"]
    opened = made.anna.patch(MANDATE, json={"guests": True}, headers={"If-Match": etag})
    assert opened.json()["guests"] is True
    return made


def test_several_answers_are_shown_until_there_are_enough(desk: Desk) -> None:
    quorum: JsonObject = {"needed": 2, "of": 3}
    task = desk.ask(assignees=["u-demo-user", "u-demo"], quorum=quorum)
    first = desk.decide(desk.ben, task, port="approved", comment="fine")
    assert (first["code"], first["status"], first["progress"]) == (200, "pending", "1 of 2")
    assert first["quorum"] == {**quorum, "rule": "rejection"}
    [vote] = first["votes"]
    assert (vote["by"], vote["comment"], vote["port"]) == ("u-demo-user", "fine", "approved")
    again = desk.decide(desk.ben, task, port="approved")
    assert (again["code"], "has the vote of u-demo-user already" in str(again["detail"])) == (
        409,
        True,
    )
    second = desk.decide(desk.anna, task, port="approved")
    assert (second["status"], second["progress"]) == ("completed", "2 of 2")


def test_four_eyes_are_told_clearly(desk: Desk) -> None:
    task = desk.ask(assignees=["u-demo-user", "u-demo"], four_eyes=True)
    refused = desk.decide(desk.anna, task, port="approved")
    assert (refused["code"], refused["type"]) == (403, "urn:stellwerk:problem:forbidden")
    assert "must not be decided by whoever has started its run" in str(refused["detail"])
    assert task not in [one["id"] for one in desk.anna.get(f"{DEMO}/tasks").json()["items"]]
    assert task in [one["id"] for one in desk.ben.get(f"{DEMO}/tasks").json()["items"]]
    assert desk.decide(desk.ben, task, port="approved")["status"] == "completed"


def test_a_form_is_refused_field_by_field(desk: Desk) -> None:
    task = desk.ask("input.form", form=FORM)
    refused = desk.decide(desk.ben, task, port="submitted", data={"amount": "much"})
    assert (refused["code"], refused["type"]) == (422, "urn:stellwerk:problem:form-refused")
    assert refused["faults"] == [
        {"place": "why", "message": "'why' is a required property"},
        {"place": "amount", "message": "'much' is not of type 'number'"},
    ]


def test_files_of_the_instance_are_handed_in_by_their_id(desk: Desk) -> None:
    task = desk.ask("input.upload", types=["text/plain"], max_files=2)
    kept = desk.ben.post(f"{DEMO}/files", files={"file": ("a.txt", b"abc", "text/plain")}).json()
    missing = desk.decide(desk.ben, task, port="submitted", data={"files": ["nowhere"]})
    assert [fault["place"] for fault in missing["faults"]] == ["files[0].file"]
    done = desk.decide(desk.ben, task, port="submitted", data={"files": [kept["id"]]})
    assert done["decision"]["data"] == {
        "files": [{"file": kept["id"], "name": "a.txt", "type": "text/plain", "size": 3}]
    }


def test_a_deputy_decides_while_someone_is_away(desk: Desk) -> None:
    place, until = f"{MANDATE}/me/deputies", datetime.now(UTC) + timedelta(days=2)
    task = desk.ask()
    assert task not in [one["id"] for one in desk.anna.get(f"{DEMO}/tasks").json()["items"]]
    named = desk.ben.post(place, json={"deputy": "u-demo", "until": until.isoformat()})
    assert named.status_code == 201, named.text
    assert named.headers["Location"] == f"{place}/u-demo"
    assert "u-demo-user" in [one["user"] for one in desk.anna.get(place).json()["items"]]
    assert task in [one["id"] for one in desk.anna.get(f"{DEMO}/tasks").json()["items"]]
    decided = desk.decide(desk.anna, task, port="approved")["decision"]
    assert (decided["by"], decided["on_behalf_of"]) == ("u-demo", "u-demo-user")
    assert desk.ben.delete(f"{place}/u-demo").status_code == 204
    assert "u-demo" not in [one["deputy"] for one in desk.ben.get(place).json()["items"]]
    assert desk.ben.delete(f"{place}/u-demo").status_code == 404


def test_a_link_shows_a_page_that_fetches_and_runs_nothing(desk: Desk) -> None:
    task = desk.ask(
        "input.form", form=FORM, assignees=["mail:eva@kunde.example"], description="<b>Look</b>"
    )
    shown = desk.guest.get(f"/tasks/link/{desk.link(task)}")
    assert shown.status_code == 200
    page = Page(shown.text)
    assert "<h1>Pay &lt;it&gt;?</h1>" in shown.text
    assert "&lt;b&gt;Look" in shown.text
    assert set(page.fields) >= {"token", "field.amount", "field.why", "comment", "port"}
    assert page.action == "../link"
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    policy = shown.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" in policy
    assert shown.headers["Cache-Control"] == "no-store"
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert "http" not in shown.text.replace("http-equiv", "")


def test_a_guest_decides_by_the_form_of_the_page_and_only_once(desk: Desk) -> None:
    task = desk.ask("input.form", form=FORM, assignees=["mail:eva@kunde.example"])
    token = desk.link(task)
    wrong = desk.guest.post(
        "/tasks/link", data={"token": token, "port": "submitted", "field.amount": "x<"}
    )
    assert wrong.status_code == 422
    assert Page(wrong.text).fields["field.amount"] == "x<"
    assert "is a required property" in wrong.text
    answer = {"token": token, "port": "submitted", "field.amount": "12.5", "field.why": "so"}
    done = desk.guest.post("/tasks/link", data={**answer, "comment": "hello"})
    assert (done.status_code, "Thank you" in done.text) == (200, True)
    decision = desk.anna.get(f"{DEMO}/tasks/{task}").json()["decision"]
    assert (decision["by"], decision["data"], decision["comment"]) == (
        "mail:eva@kunde.example",
        {"amount": 12.5, "why": "so"},
        "hello",
    )
    late = desk.guest.post("/tasks/link", data=answer)
    assert (late.status_code, "mail:eva@kunde.example chose" in late.text) == (409, True)
    over = desk.guest.get(f"/tasks/link/{token}")
    assert (over.status_code, "There is nothing left to decide" in over.text) == (200, True)


def test_a_value_to_review_is_edited_as_json(desk: Desk) -> None:
    task = desk.ask("input.review", value={"sum": 1}, assignees=["mail:eva@kunde.example"])
    token = desk.link(task)
    shown = desk.guest.get(f"/tasks/link/{token}", headers={"Accept-Language": "de"})
    assert "&quot;sum&quot;: 1" in shown.text
    assert "Übernehmen" in shown.text
    answer = {"token": token, "port": "accepted", "data": '{"sum": 2'}
    broken = desk.guest.post("/tasks/link", data=answer)
    assert (broken.status_code, "this is no JSON" in broken.text) == (422, True)
    assert desk.guest.post("/tasks/link", data={**answer, "data": '{"sum": 2}'}).is_success
    assert desk.anna.get(f"{DEMO}/tasks/{task}").json()["decision"]["data"] == {"sum": 2}


def test_a_choice_has_a_button_for_each_answer(desk: Desk) -> None:
    options: JsonValue = [{"port": "refund", "title": "Give <it> back"}, {"port": "replace"}]
    task = desk.ask(
        "input.choice", options=options, assignees=["mail:eva@kunde.example"], due="P1D"
    )
    shown = desk.guest.get(f"/tasks/link/{desk.link(task)}").text
    assert '<button type="submit" name="port" value="refund">Give &lt;it&gt; back</button>' in shown
    assert 'value="replace">replace</button>' in shown
    assert "Until " in shown


def test_a_link_scanner_decides_nothing(desk: Desk) -> None:
    task = desk.ask(assignees=["mail:eva@kunde.example"], quorum={"needed": 2})
    token = desk.link(task)
    path = f"/tasks/link/{token}"
    prefetching = {"Purpose": "prefetch", "Sec-Purpose": "prefetch;prerender", "X-Moz": "prefetch"}
    for _ in range(3):
        assert desk.guest.get(path).status_code == 200
        assert desk.guest.head(path).status_code == 200
        assert desk.guest.get(path, headers=prefetching).status_code == 200
        assert desk.guest.get(f"{path}?port=approved&token={token}").status_code == 200
        assert desk.guest.post(path).status_code == 405
        assert desk.guest.options(path).status_code == 405
        assert desk.guest.post("/tasks/link").status_code == 400
        assert desk.guest.post("/tasks/link", data={"token": token}).status_code == 400
        assert desk.guest.post("/tasks/link", data={"port": "approved"}).status_code == 400
        assert desk.guest.post(f"/tasks/link?token={token}&port=approved").status_code == 400
        assert desk.guest.post("/tasks/link", json={"token": token, "port": "approved"}).is_error
    shown = desk.anna.get(f"{DEMO}/tasks/{task}").json()
    assert (shown["status"], shown["votes"], shown["decision"]) == ("pending", [], None)
    answer = desk.guest.post("/tasks/link", data={"token": token, "port": "approved"})
    assert answer.status_code == 200
    assert desk.anna.get(f"{DEMO}/tasks/{task}").json()["progress"] == "1 of 2"
    again = desk.guest.post("/tasks/link", data={"token": token, "port": "approved"})
    assert again.status_code == 409


@pytest.mark.parametrize("wrong", ["x", "m-demo.i-demo.t.s", "{}x", "%2e%2e", "m-x.i-demo.{}"])
def test_what_is_no_link_is_a_page_that_says_so(desk: Desk, wrong: str) -> None:
    token = wrong.format("m-demo.i-demo.t-1." + "A" * 43)
    shown = desk.guest.get(f"/tasks/link/{token}")
    assert (shown.status_code, "does not open a task" in shown.text) == (404, True)
    posted = desk.guest.post("/tasks/link", data={"token": token, "port": "approved"})
    assert (posted.status_code, "does not open a task" in posted.text) == (404, True)


def test_an_answer_that_the_task_does_not_have_is_refused(desk: Desk) -> None:
    token = desk.link(desk.ask(assignees=["mail:eva@kunde.example"]))
    answer = desk.guest.post("/tasks/link", data={"token": token, "port": "expired"})
    assert (answer.status_code, "no outcome &#x27;expired&#x27;" in answer.text) == (422, True)
