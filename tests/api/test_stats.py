"""How runs are doing, over the API: counts that add up with the list of runs; what people hear."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject
from tests.api.things import ANY
from tests.api.world import DEMO, GRAPH, STRAIGHT, World

FAILING: JsonObject = {
    "title": "Failing",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "stop",
            "type": "flow.stop",
            "parameters": {"outcome": "error", "message": "not today"},
        },
    ],
    "edges": [{"from": "start", "to": "stop"}],
}
MANDATE = "/api/v1/mandates/m-demo"
TODAY = datetime.now(UTC).date()


@pytest.fixture
def anna(one_world: World) -> TestClient:
    return one_world.someone("u-demo", **ANY)


def published(client: Any, graph: JsonObject) -> str:
    begun = client.post(
        f"{DEMO}/workflows", json={"title": f"Counted {graph['title']}", "graph": graph}
    )
    workflow = str(begun.json()["workflow"]["id"])
    answer = client.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={})
    assert answer.is_success, answer.text
    return workflow


def ended(client: Any, workflow: str, status: str) -> str:
    started = client.post(f"{DEMO}/workflows/{workflow}/runs", json={"input": {"amount": 1}})
    assert started.status_code == 201, started.text
    run = str(started.json()["id"])
    if status == "cancelled":
        client.post(f"{DEMO}/runs/{run}/cancel")
    for _ in range(200):
        if client.get(f"{DEMO}/runs/{run}").json()["status"] == status:
            return run
        time.sleep(0.05)
    raise AssertionError(f"run {run} does not become {status}")


def test_counts_of_a_workflow_add_up_with_its_runs(anna: TestClient) -> None:
    workflow = published(anna, STRAIGHT)
    for _ in range(3):
        ended(anna, workflow, "completed")
    stats = anna.get(f"{DEMO}/workflows/{workflow}/stats").json()
    counts = anna.get(f"{DEMO}/runs/counts", params={"workflow": workflow}).json()
    total = stats["total"]
    assert (total["completed"], total["failed"], total["failure_rate"]) == (3, 0, 0.0)
    assert total["completed"] == counts["completed"]
    assert total["steps"] == 6
    assert 0 < total["p50_ms"] <= total["p95_ms"]
    assert stats["open"] == {"running": 0, "paused": 0, "queued": 0}
    assert [day["day"] for day in stats["days"]] in (
        [TODAY.isoformat()],
        [(TODAY + timedelta(days=1)).isoformat()],
    )


def test_failures_and_what_is_cancelled_are_told_apart(anna: TestClient) -> None:
    failing, waiting = published(anna, FAILING), published(anna, GRAPH)
    ended(anna, failing, "failed")
    ended(anna, waiting, "cancelled")
    ended(anna, waiting, "paused")
    of_failing = anna.get(f"{DEMO}/workflows/{failing}/stats").json()
    assert of_failing["total"]["failure_rate"] == 1.0
    of_waiting = anna.get(f"{DEMO}/workflows/{waiting}/stats").json()
    assert of_waiting["total"]["cancelled"] == 1
    assert of_waiting["total"]["failure_rate"] is None
    assert of_waiting["open"]["paused"] == 1


def test_the_instance_is_the_sum_of_its_workflows_and_the_mandate_of_its_instances(
    anna: TestClient,
) -> None:
    ended(anna, published(anna, STRAIGHT), "completed")
    whole = anna.get(f"{DEMO}/stats").json()["total"]
    items, cursor = [], None
    while True:
        page = anna.get(f"{DEMO}/stats/workflows", params={"cursor": cursor} if cursor else {})
        items += page.json()["items"]
        cursor = page.json()["cursor"]
        if cursor is None:
            break
    for name in ("completed", "failed", "cancelled", "tests", "steps", "attempts"):
        assert sum(item["total"][name] for item in items) == whole[name], name
    counts = anna.get(f"{DEMO}/runs/counts").json()
    assert whole["completed"] + whole["tests"] >= counts["completed"] >= whole["completed"]
    of_mandate = anna.get(f"{MANDATE}/stats").json()
    by_instance = {each["instance"]: each["total"] for each in of_mandate["instances"]}
    assert by_instance["i-demo"]["completed"] == whole["completed"]
    assert of_mandate["total"]["completed"] == sum(
        each["completed"] for each in by_instance.values()
    )


def test_a_period_is_within_a_year(anna: TestClient) -> None:
    asked = {"since": "2026-01-01", "until": "2027-06-01"}
    assert anna.get(f"{DEMO}/stats", params=asked).status_code == 422
    turned = {"since": "2026-02-01", "until": "2026-01-01"}
    assert anna.get(f"{DEMO}/stats", params=turned).status_code == 422
    past = {"since": "2020-01-01", "until": "2020-01-31"}
    stats = anna.get(f"{DEMO}/stats", params=past).json()
    assert stats["days"] == []
    assert stats["total"]["p50_ms"] is None


def test_what_could_not_be_told_is_shown(anna: TestClient) -> None:
    ended(anna, published(anna, FAILING), "failed")
    for _ in range(100):
        waiting = anna.get(f"{DEMO}/messages").json()["waiting"]
        failed = [each for each in waiting if each["kind"] == "run.failed" and each["error"]]
        if failed:
            break
        time.sleep(0.05)
    assert "no mail server is set" in failed[0]["error"]
    assert failed[0]["tries"] == 1
