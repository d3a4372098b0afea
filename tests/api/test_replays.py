"""A workflow fails for everybody, is mended, and what has failed is replayed by canary."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import DEMO

RUNS = 50


def graph(text: str) -> JsonObject:
    return {
        "title": "Orders",
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {
                "key": "draw",
                "type": "data.set",
                "parameters": {"fields": {"number": "{{ $random() }}"}},
            },
            {"key": "book", "type": "data.set", "parameters": {"fields": {"text": text}}},
        ],
        "edges": [{"from": "start", "to": "draw"}, {"from": "draw", "to": "book"}],
    }


def done(client: TestClient, path: str, method: str = "post", json: object = None) -> JsonObject:
    answer = client.request(method, path, json=json, headers={"If-Match": "*"})
    assert answer.is_success, f"{path}: {answer.text}"
    found: JsonObject = answer.json()
    return found


def items(found: JsonObject, name: str = "items") -> list[JsonObject]:
    listed = found[name]
    assert isinstance(listed, list)
    return [each for each in listed if isinstance(each, dict)]


def failed_runs(anna: TestClient, workflow: str) -> list[str]:
    filters = f"workflow={workflow}&status=failed&limit=100"
    return [str(run["id"]) for run in items(done(anna, f"{DEMO}/runs?{filters}", "get"))]


def published(anna: TestClient, workflow: str, text: str) -> int:
    saved = done(anna, f"{DEMO}/workflows/{workflow}/drafts/1", "put", graph(text))["version"]
    assert isinstance(saved, dict)
    done(anna, f"{DEMO}/workflows/{workflow}/versions/{saved['number']}/publish", json={})
    return int(str(saved["number"]))


def until(anna: TestClient, path: str, *statuses: str) -> JsonObject:
    for _ in range(600):
        found = done(anna, path, "get")
        if found["status"] in statuses:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{path} does not become {statuses}: {found}")


def values(anna: TestClient, run: JsonValue, step: str) -> JsonValue:
    return done(anna, f"{DEMO}/runs/{run}/steps/{step}/values", "get")["value"]


def test_fifty_failed_runs_are_replayed_on_the_mended_version(anna: TestClient) -> None:
    begun = done(anna, f"{DEMO}/workflows", json={"title": "Orders", "graph": graph("later")})
    assert isinstance(begun["workflow"], dict)
    workflow = str(begun["workflow"]["id"])
    published(anna, workflow, "{{ $error('no such account') }}")
    start = f"{DEMO}/workflows/{workflow}/runs"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: done(anna, start, json={"input": n}), range(RUNS)))
    for _ in range(600):
        failed = failed_runs(anna, workflow)
        if len(failed) == RUNS:
            break
        time.sleep(0.05)
    assert len(failed) == RUNS

    # the version that was to mend it does not: the canary fails, nothing else is touched
    published(anna, workflow, "{{ $error('still none') }}")
    job = done(anna, f"{DEMO}/workflows/{workflow}/replays", json={"error": "ExpressionFailed"})
    stopped = until(anna, f"{DEMO}/replays/{job['id']}", "stopped", "completed")
    assert (stopped["status"], stopped["failed"], stopped["pending"]) == ("stopped", 1, RUNS - 1)
    assert "still none" in str(stopped["reason"])
    assert len(failed_runs(anna, workflow)) == RUNS + 1

    mended = published(anna, workflow, "{{ $nodes.draw.number }}")
    job = done(anna, f"{DEMO}/workflows/{workflow}/replays", json={})
    over = until(anna, f"{DEMO}/replays/{job['id']}", "stopped", "completed")
    assert over["status"] == "completed", over
    assert (over["succeeded"], over["total"], over["version"]) == (RUNS, RUNS, mended)
    members = items(over, "runs")
    assert {member["source"] for member in members} != set(failed)  # one was replayed before
    assert len({member["run"] for member in members}) == RUNS
    for member in members:
        drawn = values(anna, member["source"], "draw")
        assert isinstance(drawn, dict)
        assert values(anna, member["run"], "draw") == drawn
        booked = values(anna, member["run"], "book")
        assert booked == {"text": drawn["number"]}
    steps = items(done(anna, f"{DEMO}/runs/{members[0]['run']}/steps", "get"))
    recorded = {step["step"]: step["recorded_from"] for step in steps}
    assert recorded == {
        "start": members[0]["source"],
        "draw": members[0]["source"],
        "book": None,
    }
    listed = items(done(anna, f"{DEMO}/replays", "get"))
    assert [each["status"] for each in listed][:2] == ["completed", "stopped"]
    refused = anna.post(f"{DEMO}/replays/{job['id']}/cancel")
    assert refused.status_code == 409
