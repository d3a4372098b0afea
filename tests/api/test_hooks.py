"""Webhooks over HTTP: one delivery, one run, whoever sends it and however often."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from api.errors import unexpected
from api.routers.hooks import ended
from stellwerk.bootstrap.hooking import hook_services
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.requests.limits import TooManyRequests
from stellwerk.triggers.hooks import WEBHOOK
from tests.api.world import DEMO, STRAIGHT, World

SECRET = "a long and windy secret"
_NUMBERS = itertools.count()
ANY = {"If-Match": "*"}


def graph(**parameters: JsonValue) -> JsonObject:
    """Return a workflow that hands on what its webhook gets."""
    return {
        "title": f"Hooked {next(_NUMBERS)}",
        "nodes": [
            {"key": "order", "type": "trigger.webhook", "parameters": parameters},
            {
                "key": "note",
                "type": "data.set",
                "parameters": {"fields": {"got": "{{ $trigger.body }}"}},
            },
        ],
        "edges": [{"from": "order", "to": "note"}],
    }


class Hooked:
    """A published workflow, and whoever delivers to it."""

    def __init__(self, world: World, drawn: JsonObject, *, owner: TestClient | None = None) -> None:
        self.anna = owner or world.someone("u-demo", **ANY)
        self.caller = world.someone()
        body = {"title": drawn["title"], "graph": drawn}
        begun = self.anna.post(f"{DEMO}/workflows", json=body)
        assert begun.status_code == 201, begun.text
        self.id = str(begun.json()["workflow"]["id"])
        self.publish()
        self.known = self.path

    def deliver(self, *, path: str = "", **sent: Any) -> Any:
        """Deliver as a stranger."""
        return self.caller.post(path or self.path, **sent)

    def publish(self, number: int = 1) -> None:
        path = f"{DEMO}/workflows/{self.id}/versions/{number}/publish"
        answer = self.anna.post(path, json={})
        assert answer.is_success, answer.text

    def edit(self, drawn: JsonObject) -> None:
        """Publish another version."""
        saved = self.anna.put(f"{DEMO}/workflows/{self.id}/drafts/1", json=drawn)
        self.publish(saved.json()["version"]["number"])

    @property
    def hooks(self) -> list[JsonObject]:
        found: list[JsonObject] = self.anna.get(f"{DEMO}/workflows/{self.id}/hooks").json()["items"]
        return found

    @property
    def path(self) -> str:
        return urlsplit(str(self.hooks[0]["url"])).path

    def secret(self, secret: str = SECRET) -> None:
        path = f"{DEMO}/workflows/{self.id}/hooks/order/secret"
        assert self.anna.put(path, json={"secret": secret}).status_code == 204

    def runs(self) -> list[JsonObject]:
        found: list[JsonObject] = self.anna.get(
            f"{DEMO}/runs", params={"workflow": self.id}
        ).json()["items"]
        return found

    def result(self, run: str) -> JsonValue:
        """Return what the run has noted, when it is over."""
        for _ in range(400):
            shown = self.anna.get(f"{DEMO}/runs/{run}").json()
            if shown["status"] not in {"running", "paused"}:
                assert shown["status"] == "completed", shown
                values = self.anna.get(f"{DEMO}/runs/{run}/steps/note/values").json()
                found: JsonValue = values["value"]["got"]
                return found
            time.sleep(0.02)
        raise AssertionError(f"run {run} does not end")


@pytest.fixture
def hooked(one_world: World) -> Callable[..., Hooked]:
    return lambda **parameters: Hooked(one_world, graph(**parameters))


def test_a_published_webhook_is_started_by_a_stranger(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    answer = workflow.caller.post(workflow.path, json={"amount": 7})
    assert answer.status_code == 202, answer.text
    run = answer.json()["run"]
    assert answer.json()["url"].endswith(f"{DEMO}/runs/{run}")
    assert workflow.result(run) == {"amount": 7}
    shown = workflow.anna.get(f"{DEMO}/runs/{run}").json()
    assert (shown["trigger"]["kind"], shown["user"]) == ("trigger.webhook", "u-demo")


def test_a_repeat_answers_with_the_same_run(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    for name in ("X-GitHub-Delivery", "Idempotency-Key", "webhook-id"):
        answers = [
            workflow.caller.post(workflow.path, json={"n": number}, headers={name: f"{name}-1"})
            for number in range(3)
        ]
        assert len({answer.json()["run"] for answer in answers}) == 1
    assert len(workflow.runs()) == 3


def test_a_place_in_the_body_names_the_delivery(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked(delivery="order.id")
    first = workflow.caller.post(workflow.path, json={"order": {"id": 7}, "try": 1})
    second = workflow.caller.post(workflow.path, json={"order": {"id": 7}, "try": 2})
    assert first.json()["run"] == second.json()["run"]
    assert workflow.caller.post(workflow.path, json={"order": {}}).status_code == 422
    assert len(workflow.runs()) == 1


def test_an_address_stays_over_versions_and_pauses_and_goes_with_its_node(
    hooked: Callable[..., Hooked],
) -> None:
    workflow = hooked()
    path, caller = workflow.path, workflow.caller
    workflow.edit(graph(mode="wait"))
    assert workflow.path == path
    assert caller.post(path, json=1).status_code == 200
    workflow.anna.post(f"{DEMO}/workflows/{workflow.id}/deactivate")
    assert caller.post(path, json=2).status_code == 404
    assert [hook["armed"] for hook in workflow.hooks] == [False]
    workflow.anna.post(f"{DEMO}/workflows/{workflow.id}/activate")
    assert caller.post(path, json=3).status_code == 200
    workflow.edit(STRAIGHT)
    assert caller.post(path, json=4).status_code == 404
    assert workflow.hooks == []
    assert len(workflow.runs()) == 2


def test_a_replaced_address_is_nobodys_at_once(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    old = workflow.path
    rotated = workflow.anna.post(f"{DEMO}/workflows/{workflow.id}/hooks/order/rotate").json()
    assert urlsplit(rotated["url"]).path == workflow.path != old
    assert len(old.rpartition("/")[2]) == 32
    assert workflow.caller.post(old, json={}).status_code == 404
    assert workflow.caller.post(workflow.path, json={}).status_code == 202
    missing = workflow.anna.post(f"{DEMO}/workflows/{workflow.id}/hooks/nobody/rotate")
    assert missing.status_code == 404


def test_whoever_waits_gets_the_result(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked(mode="wait")
    answer = workflow.caller.post(workflow.path, json={"amount": 7})
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert answer.json()["result"] == {"note": {"got": {"amount": 7}}}


def test_whoever_waits_hears_of_a_failure_without_its_details(one_world: World) -> None:
    drawn = graph(mode="wait")
    drawn["nodes"] = [
        {"key": "order", "type": "trigger.webhook", "parameters": {"mode": "wait"}},
        {
            "key": "note",
            "type": "flow.stop",
            "parameters": {"outcome": "error", "message": "a secret detail"},
        },
    ]
    answer = Hooked(one_world, drawn).deliver(json={})
    assert (answer.status_code, answer.json()["status"]) == (500, "failed")
    assert answer.json()["error"] == "StoppedWithError"
    assert "secret" not in answer.text


def test_whoever_has_waited_long_enough_gets_the_run(one_world: World) -> None:
    drawn = graph(mode="wait")
    asking: JsonObject = {"title": "Pay?", "assignees": ["u-demo"]}
    drawn["nodes"] = [
        {"key": "order", "type": "trigger.webhook"},
        {"key": "note", "type": "input.approval", "parameters": asking},
    ]
    workflow = Hooked(one_world, drawn)
    answer = workflow.deliver(json={}).json()
    here = one_world.services.hooks.doors
    opened = here.open(workflow.path.rpartition("/")[2], WEBHOOK)
    run = here.fire(opened, "order/sha256/other", lambda: {"body": None})
    waited = asyncio.run(ended(partial(here.run, opened, run), run, 0.1))
    assert (waited.id, waited.status.open) == (run.id, True)
    assert answer["run"] != run.id


def test_too_many_deliveries_are_told_to_wait(one_world: World) -> None:
    workflow = Hooked(one_world, graph())
    running = one_world.services.running
    few = replace(running, settings=replace(running.settings, hook_rate=2))
    doors = hook_services(few, running.stores).doors
    token = workflow.path.rpartition("/")[2]
    with pytest.raises(TooManyRequests) as refused:
        for _ in range(6):  # a minute may end in between
            doors.open(token, WEBHOOK)
    assert 1 <= refused.value.retry_after <= 60
    with pytest.raises(NotFound):
        doors.open("unknown", WEBHOOK)


def test_no_log_has_the_token_of_an_address(caplog: pytest.LogCaptureFixture) -> None:
    for path in ("/hooks/a-token", "/forms/a-token.json"):
        unexpected({"method": "POST", "path": path}, RuntimeError("broken"))
    unexpected({"method": "GET", "path": "/api/v1/me"}, RuntimeError("broken"))
    assert "a-token" not in caplog.text
    assert "/api/v1/me" in caplog.text


def signed(body: bytes, stamp: str, joint: bytes = b".") -> str:
    return hmac.new(SECRET.encode(), stamp.encode() + joint + body, hashlib.sha256).hexdigest()


BODY = json.dumps({"id": "evt_1", "amount": 7}).encode()


def proofs(kind: str, at: float) -> Mapping[str, str]:
    """Return the headers that prove a request with BODY."""
    stamp = str(int(at))
    plain = hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()
    basic = base64.b64encode(f"erp:{SECRET}".encode()).decode()
    slack = hmac.new(SECRET.encode(), f"v0:{stamp}:".encode() + BODY, hashlib.sha256).hexdigest()
    return {
        "header": {"X-Webhook-Secret": SECRET},
        "basic": {"Authorization": f"Basic {basic}"},
        "bearer": {"Authorization": f"Bearer {SECRET}"},
        "hmac": {"X-Signature": signed(BODY, stamp), "X-Timestamp": stamp},
        "github": {"X-Hub-Signature-256": f"sha256={plain}"},
        "stripe": {"Stripe-Signature": f"t={stamp},v0=x,v1={signed(BODY, stamp)}"},
        "slack": {"X-Slack-Signature": f"v0={slack}", "X-Slack-Request-Timestamp": stamp},
    }[kind]


@pytest.mark.parametrize("kind", ["header", "basic", "bearer", "hmac", "github", "stripe", "slack"])
def test_only_who_proves_who_he_is_gets_in(hooked: Callable[..., Hooked], kind: str) -> None:
    workflow = hooked(authentication={"kind": kind, "username": "erp"})
    good = {"Content-Type": "application/json", **proofs(kind, time.time())}
    deliver = partial(workflow.caller.post, workflow.path, content=BODY)
    assert deliver(headers=good).status_code == 401  # no secret is set yet
    workflow.secret()
    assert [hook["has_secret"] for hook in workflow.hooks] == [True]
    assert SECRET not in workflow.anna.get(f"{DEMO}/workflows/{workflow.id}/hooks").text
    bad = {name: value[:-2] + "xx" for name, value in good.items()}
    assert deliver(headers={**bad, "Content-Type": "application/json"}).status_code == 401
    assert deliver(headers={"Content-Type": "application/json"}).status_code == 401
    assert workflow.runs() == []
    answer = deliver(headers=good)
    assert answer.status_code == 202, answer.text
    [run] = workflow.runs()
    given = workflow.anna.get(f"{DEMO}/runs/{run['id']}/steps/order/values").text
    workflow.result(answer.json()["run"])
    if kind in {"header", "basic", "bearer"}:
        assert SECRET not in given
    if kind in {"hmac", "stripe", "slack"}:
        old = {"Content-Type": "application/json", **proofs(kind, time.time() - 600)}
        assert deliver(headers=old).status_code == 401


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        ({"json": {"a": [1, None]}}, {"a": [1, None]}),
        ({"data": {"a": ["1", "2"], "b": "ö"}}, {"a": ["1", "2"], "b": "ö"}),
        ({"content": "Grüezi".encode(), "headers": {"Content-Type": "text/plain"}}, "Grüezi"),
        ({"content": b"\xff\x00"}, {"base64": "/wA="}),
        ({"content": b""}, None),
    ],
)
def test_bodies_are_what_they_say(
    hooked: Callable[..., Hooked], sent: dict[str, Any], body: JsonValue
) -> None:
    workflow = hooked()
    answer = workflow.caller.post(workflow.path, **sent)
    assert answer.status_code == 202, answer.text
    assert workflow.result(answer.json()["run"]) == body


def test_files_come_along_and_are_kept(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    files = [("doc", ("a.txt", b"one", "text/plain")), ("doc", ("b.txt", b"two", "text/plain"))]
    answer = workflow.caller.post(workflow.path, data={"title": "Two"}, files=files)
    body = workflow.result(answer.json()["run"])
    assert isinstance(body, dict)
    documents = body["doc"]
    assert isinstance(documents, list)
    assert (body["title"], len(documents)) == ("Two", 2)
    second = documents[1]
    assert isinstance(second, dict)
    assert workflow.anna.get(f"{DEMO}/files/{second['file']}/content").content == b"two"


@pytest.mark.parametrize("size", [4 * 1024 * 1024 + 1, 5 * 1024 * 1024])
def test_what_is_too_large_hears_how_to_bring_it(hooked: Callable[..., Hooked], size: int) -> None:
    answer = hooked().deliver(content=b"x" * size)
    assert answer.status_code == 413
    assert "Upload the file first" in answer.json()["remedy"]


def test_what_is_no_json_is_refused(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    for content in (b"{", b'{"a": NaN}', b'{"a": "\\ud800"}', b"[" * 100_000):
        headers = {"Content-Type": "application/json"}
        answer = workflow.caller.post(workflow.path, content=content, headers=headers)
        assert answer.status_code == 422, content[:10]
    assert workflow.runs() == []


def test_handshakes_are_answered_and_other_reading_is_not(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked(authentication={"kind": "bearer"})
    path, caller = workflow.path, workflow.caller
    workflow.secret()
    asked = {"hub.mode": "subscribe", "hub.challenge": "c-1", "hub.verify_token": SECRET}
    answer = caller.get(path, params=asked)
    assert (answer.text, answer.headers["content-type"]) == ("c-1", "text/plain; charset=utf-8")
    assert caller.get(path, params={**asked, "hub.verify_token": "x"}).status_code == 401
    assert caller.get(path, params={"validationToken": "<b>"}).text == "<b>"
    refused = caller.get(path)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert caller.put(path, json={}).status_code == 405
    proof = {"Authorization": f"Bearer {SECRET}"}
    slack = {"type": "url_verification", "challenge": "c-2"}
    assert caller.post(path, json=slack, headers=proof).text == "c-2"
    assert caller.post(path, json=slack).status_code == 401
    assert caller.post(f"{path}?validationToken=c-3", headers=proof).text == "c-3"
    assert workflow.runs() == []


def test_who_may_not_change_a_workflow_does_not_see_its_addresses(
    hooked: Callable[..., Hooked], ben: TestClient
) -> None:
    workflow = hooked()
    path = f"{DEMO}/workflows/{workflow.id}/hooks"
    assert ben.get(path).status_code == 403
    assert ben.post(f"{path}/order/rotate", headers=ANY).status_code == 403
    assert ben.put(f"{path}/order/secret", json={"secret": SECRET}).status_code == 403
    short = workflow.anna.put(f"{path}/order/secret", json={"secret": "a\nb c d e f"})
    assert short.status_code == 422


def test_nothing_is_revealed_where_the_owner_may_start_nothing(one_world: World) -> None:
    admin, ben = one_world.someone("u-demo", **ANY), one_world.someone("u-demo-user", **ANY)
    workflow = Hooked(one_world, graph(), owner=ben)
    rules = f"{DEMO}/members/u-demo-user"
    kept = admin.get(rules).json()
    assert admin.put(rules, json={"roles": []}).status_code == 200
    try:
        assert workflow.deliver(path=workflow.known, json={}).status_code == 404
    finally:
        assert admin.put(rules, json={"roles": kept["roles"]}).status_code == 200


def test_the_same_delivery_by_many_at_once_is_one_run(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked()
    path, caller = workflow.path, workflow.caller

    def deliver(number: int) -> str:
        headers = {"Idempotency-Key": f"k-{number % 5}"}
        answer = caller.post(path, json={"n": number % 5}, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run"])

    with ThreadPoolExecutor(10) as pool:
        runs = list(pool.map(deliver, range(50)))
    assert len(set(runs)) == len(workflow.runs()) == 5
