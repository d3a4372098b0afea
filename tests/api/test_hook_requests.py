"""What webhooks take, from whom, and what they make of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from stellwerk.kernel.json import JsonValue
from tests.api.hooked import SECRET, Hooked, graph
from tests.api.world import DEMO, World


@pytest.fixture
def hooked(one_world: World) -> Callable[..., Hooked]:
    return lambda **parameters: Hooked(one_world, graph(**parameters))


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
