"""Webhooks over HTTP: one delivery, one run, whoever sends it and however often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from api.errors import unexpected
from api.routers.hooks import ended
from stellwerk.bootstrap.hooking import hook_services
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject
from stellwerk.requests.limits import TooManyRequests
from stellwerk.triggers.hooks import WEBHOOK
from tests.api.hooked import ANY, SECRET, Hooked, graph
from tests.api.world import DEMO, STRAIGHT, World

T = TypeVar("T")


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


def finished(work: Coroutine[object, object, T]) -> T:
    """Return what comes of `work`, in a loop of its own: Mangum keeps the thread's."""
    with closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(work)


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
    waited = finished(ended(partial(here.run, opened, run), run, 0.1))
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


def test_a_name_of_any_length_is_kept_short(hooked: Callable[..., Hooked]) -> None:
    workflow = hooked(delivery="id")
    long = "x" * 100_000
    first, second, other = (
        workflow.deliver(json={"id": name, "n": n}).json()["run"]
        for n, name in enumerate((long, long, long + "y"))
    )
    assert first == second != other
    shown = workflow.anna.get(f"{DEMO}/runs/{first}").json()
    assert len(shown["trigger"]["delivery"]) < 300


def test_what_a_workflow_leaves_out_is_told_so(one_world: World) -> None:
    drawn = graph()
    asking: JsonObject = {"title": "Pay?", "assignees": ["u-demo"]}
    drawn["nodes"] = [
        {"key": "order", "type": "trigger.webhook"},
        {"key": "note", "type": "input.approval", "parameters": asking},
    ]
    workflow = Hooked(one_world, drawn)
    limit = {"concurrency": {"limit": 1, "policy": "skip"}}
    limited = workflow.anna.patch(f"{DEMO}/workflows/{workflow.id}", json=limit)
    assert limited.is_success, limited.text
    assert workflow.deliver(json={"n": 1}).status_code == 202
    answer = workflow.deliver(json={"n": 2})
    assert answer.status_code == 409
    assert workflow.id not in answer.text


def test_no_log_has_the_token_of_an_address(caplog: pytest.LogCaptureFixture) -> None:
    for path in ("/hooks/a-token", "/forms/a-token.json"):
        unexpected({"method": "POST", "path": path}, RuntimeError("broken"))
    unexpected({"method": "GET", "path": "/api/v1/me"}, RuntimeError("broken"))
    assert "a-token" not in caplog.text
    assert "/api/v1/me" in caplog.text


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
