from __future__ import annotations

import time

from fastapi.testclient import TestClient

from tests.api.world import DEMO, GRAPH


def test_a_workflow_is_begun_saved_published_run_and_decided(
    anna: TestClient, ben: TestClient
) -> None:
    begun = anna.post(f"{DEMO}/workflows", json={"title": "Payment"})
    assert begun.status_code == 201, begun.text
    workflow = begun.json()["workflow"]["id"]
    assert begun.headers["Location"] == f"{DEMO}/workflows/{workflow}"
    draft = anna.get(f"{DEMO}/workflows/{workflow}/drafts/1")
    saved = anna.put(
        f"{DEMO}/workflows/{workflow}/drafts/1",
        json=GRAPH,
        headers={"If-Match": draft.headers["ETag"]},
    )
    assert saved.status_code == 200, saved.text
    assert saved.json()["faults"] == []
    published = anna.post(
        f"{DEMO}/workflows/{workflow}/versions/1/publish",
        json={"note": "first"},
        headers={"If-Match": saved.headers["ETag"]},
    )
    assert published.status_code == 200, published.text
    assert published.json()["status"] == "published"
    started = anna.post(f"{DEMO}/workflows/{workflow}/runs", json={"input": {"amount": 12}})
    assert started.status_code == 201, started.text
    run = started.headers["Location"]
    task = None
    for _ in range(100):
        tasks = ben.get(f"{DEMO}/tasks").json()["items"]
        task = next((task for task in tasks if task["run"] == started.json()["id"]), None)
        if task is not None:
            break
        time.sleep(0.05)
    assert task is not None
    decided = ben.post(f"{DEMO}/tasks/{task['id']}/decide", json={"port": "approved"})
    assert decided.status_code == 200, decided.text
    for _ in range(100):
        found = anna.get(run).json()
        if found["status"] == "completed":
            break
        time.sleep(0.05)
    assert found["status"] == "completed"
    steps = anna.get(f"{run}/steps").json()["items"]
    assert [step["step"] for step in steps] == ["start", "ask", "pay"]
    values = anna.get(f"{run}/steps/pay/values").json()
    assert values["value"] == {"paid": 12}
