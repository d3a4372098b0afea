"""Forms over HTTP: what a browser shows and sends, and what programs do."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import DEMO, World

_NUMBERS = itertools.count()
ANY = {"If-Match": "*"}
SCHEMA: JsonObject = {
    "type": "object",
    "required": ["what", "amount"],
    "additionalProperties": False,
    "properties": {
        "what": {"type": "string", "title": "What <is> broken?", "minLength": 3},
        "amount": {"type": "number", "title": "Amount", "minimum": 1, "description": "In francs"},
        "room": {"type": "string", "enum": ["Office", "Hall"]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "urgent": {"type": "boolean"},
        "story": {"type": "string", "maxLength": 2000},
        "mail": {"type": "string", "format": "email"},
        "photo": {"type": "object", "format": "file", "title": "Photo"},
    },
}


class Page(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.labels: set[str] = set()
        self.fields: dict[str, dict[str, str | None]] = {}
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        if tag == "label" and found.get("for"):
            self.labels.add(str(found["for"]))
        if tag in {"input", "select", "textarea"} and found.get("name"):
            self.fields[str(found["name"])] = found


class Formed:
    """A published workflow with a form."""

    def __init__(self, world: World, **parameters: JsonValue) -> None:
        self.anna = world.someone("u-demo", **ANY)
        self.browser = world.someone()
        title = f"Form {next(_NUMBERS)}"
        given: JsonObject = {"title": "Report a defect", "schema": SCHEMA, **parameters}
        graph: JsonObject = {
            "title": title,
            "nodes": [
                {"key": "page", "type": "trigger.form", "parameters": given},
                {
                    "key": "note",
                    "type": "data.set",
                    "parameters": {"fields": {"got": "{{ $trigger }}"}},
                },
            ],
            "edges": [{"from": "page", "to": "note"}],
        }
        begun = self.anna.post(f"{DEMO}/workflows", json={"title": title, "graph": graph})
        self.id = str(begun.json()["workflow"]["id"])
        answer = self.anna.post(f"{DEMO}/workflows/{self.id}/versions/1/publish", json={})
        assert answer.is_success, answer.text
        [hook] = self.anna.get(f"{DEMO}/workflows/{self.id}/hooks").json()["items"]
        self.path = urlsplit(hook["url"]).path

    def runs(self) -> list[JsonObject]:
        found = self.anna.get(f"{DEMO}/runs", params={"workflow": self.id}).json()
        items: list[JsonObject] = found["items"]
        return items

    def noted(self) -> JsonObject:
        """Return what the one run has noted."""
        for _ in range(400):
            runs = self.runs()
            if runs and all(run["status"] == "completed" for run in runs):
                [run] = runs
                values = self.anna.get(f"{DEMO}/runs/{run['id']}/steps/note/values").json()
                note: JsonObject = values["value"]["got"]
                return note
            time.sleep(0.02)
        raise AssertionError(self.runs())


@pytest.fixture
def formed(one_world: World) -> Callable[..., Formed]:
    return lambda **parameters: Formed(one_world, **parameters)


@pytest.fixture
def one(formed: Callable[..., Formed]) -> Formed:
    return formed(thanks="We <thank> you.")


def nonce(form: Formed) -> str:
    return str(Page(form.browser.get(form.path).text).fields["_delivery"]["value"])


def test_a_page_has_labelled_fields_and_runs_nothing(one: Formed) -> None:
    answer = one.browser.get(one.path)
    assert answer.status_code == 200
    page = Page(answer.text)
    assert set(page.fields) >= {"what", "amount", "room", "urgent", "story", "mail", "photo"}
    for name, field in page.fields.items():
        assert name in {"_delivery", "tags"} or field["id"] in page.labels
    assert page.fields["what"]["aria-required"] == "true"
    assert page.fields["amount"]["aria-describedby"] == "f-amount-help"
    assert "What &lt;is&gt; broken?" in answer.text
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert 'style="' not in answer.text


def test_the_policy_allows_that_one_style_and_nothing_else(one: Formed) -> None:
    answer = one.browser.get(one.path)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none';")
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in policy
    assert "frame-ancestors 'none'" in policy


def test_what_is_entered_starts_a_run_with_a_file(one: Formed) -> None:
    entered = {
        "_delivery": nonce(one),
        "what": "A door",
        "amount": "12,5",
        "room": "Hall",
        "tags": ["a", "b"],
        "urgent": "yes",
        "mail": "",
        "unknown": "left out",
    }
    files = {"photo": ("door.png", b"\x89PNG", "image/png")}
    answer = one.browser.post(one.path, data=entered, files=files)
    assert (answer.status_code, "We &lt;thank&gt; you." in answer.text) == (200, True)
    noted = one.noted()
    data = noted["data"]
    assert isinstance(data, dict)
    photo = data.pop("photo")
    assert data == {
        "what": "A door",
        "amount": 12.5,
        "room": "Hall",
        "tags": ["a", "b"],
        "urgent": True,
    }
    assert isinstance(photo, dict)
    assert (photo["name"], photo["size"]) == ("door.png", 4)
    content = one.anna.get(f"{DEMO}/files/{photo['file']}/content").content
    assert content == b"\x89PNG"


def test_two_clicks_are_one_delivery(one: Formed) -> None:
    entered = {"_delivery": nonce(one), "what": "A door", "amount": "1"}
    for _ in range(2):
        assert one.browser.post(one.path, data=entered).status_code == 200
    assert one.noted()["data"] == {"what": "A door", "amount": 1, "urgent": False}


def test_faults_stand_beside_their_fields_and_what_was_entered_stays(one: Formed) -> None:
    entered = {"what": '"><b>', "amount": "much", "room": "Cellar", "mail": "nobody"}
    german = {"Accept-Language": "fr, de-CH;q=0.9, en;q=0.5"}
    answer = one.browser.post(one.path, data=entered, headers=german)
    assert (answer.status_code, answer.headers["content-language"]) == (422, "de")
    page = Page(answer.text)
    assert page.fields["what"]["value"] == '"><b>'
    assert page.fields["amount"]["value"] == "much"
    assert page.fields["amount"]["aria-invalid"] == "true"
    assert page.fields["amount"]["aria-describedby"] == "f-amount-help f-amount-fault"
    assert "what" not in str(page.fields["what"].get("aria-invalid"))
    assert "Bitte eine Zahl." in answer.text
    assert "Bitte eines wählen: Office, Hall." in answer.text
    missing = one.browser.post(one.path, data={"what": "x"})
    assert "At least 3 characters." in missing.text
    assert "Please fill this in." in missing.text
    assert one.runs() == []


def test_robots_are_thanked_and_forgotten(one: Formed) -> None:
    entered = {"what": "Pills", "amount": "1", "_website": "https://pills.example"}
    answer = one.browser.post(one.path, data=entered)
    assert (answer.status_code, "thank" in answer.text) == (200, True)
    assert one.runs() == []


def test_programs_get_the_schema_and_the_same_faults(one: Formed) -> None:
    shown = one.browser.get(f"{one.path}.json").json()
    assert (shown["fields"], shown["access"]) == (SCHEMA, "public")
    refused = one.browser.post(f"{one.path}.json", json={"what": "x", "more": 1})
    assert refused.status_code == 422
    assert {(fault["place"], fault["message"]) for fault in refused.json()["faults"]} == {
        ("what", "At least 3 characters."),
        ("amount", "Please fill this in."),
        ("", "This does not fit."),
    }
    key = {"Idempotency-Key": "once"}
    sent = [
        one.browser.post(one.path, json={"what": "A door", "amount": 2}, headers=key).json()["run"]
        for _ in range(2)
    ]
    assert sent[0] == sent[1]
    assert one.noted()["data"] == {"what": "A door", "amount": 2}


def test_a_form_for_people_of_the_instance_is_closed_to_others(
    formed: Callable[..., Formed], one_world: World, ben: TestClient, nora: TestClient
) -> None:
    form = formed(access="signed_in")
    assert form.browser.get(form.path).status_code == 401
    assert form.browser.get(f"{form.path}.json").status_code == 401
    assert nora.get(f"{form.path}.json").status_code == 404
    entered = {"what": "A door", "amount": 2}
    assert form.browser.post(form.path, json=entered).status_code == 401
    assert nora.post(form.path, json=entered).status_code == 404
    assert ben.post(form.path, json=entered).status_code == 202
    noted = form.noted()
    assert noted["by"] == "u-demo-user"


def test_where_there_is_no_form_there_is_nothing(one: Formed, one_world: World) -> None:
    browser = one.browser
    for path in ("/forms/none", one.path.replace("/forms/", "/hooks/"), "/forms/x.json"):
        assert browser.get(path).status_code == 404
    assert "<h1>" not in browser.get("/forms/none").text
    one.anna.post(f"{DEMO}/workflows/{one.id}/deactivate")
    assert browser.get(one.path).status_code == 404
    assert browser.post(one.path, data={"what": "A door", "amount": "1"}).status_code == 404


def test_a_form_whose_schema_is_none_is_not_there(formed: Callable[..., Formed]) -> None:
    form = formed(schema={"type": "everything"})
    assert form.browser.get(form.path).status_code == 404
