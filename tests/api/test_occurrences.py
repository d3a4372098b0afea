"""Events, files and failures on the local cloud: what waits for them starts, once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import DEMO, World

_NUMBERS = itertools.count()
ANY = {"If-Match": "*"}


class Watcher:
    """A published workflow with one trigger, which notes what it was started with."""

    def __init__(self, anna: TestClient, trigger: str, **parameters: JsonValue) -> None:
        self.anna = anna
        title = f"Watcher {next(_NUMBERS)}"
        graph: JsonObject = {
            "title": title,
            "nodes": [
                {"key": "begin", "type": trigger, "parameters": parameters},
                {
                    "key": "note",
                    "type": "data.set",
                    "parameters": {"fields": {"got": "{{ $trigger }}"}},
                },
            ],
            "edges": [{"from": "begin", "to": "note"}],
        }
        self.id = published(anna, title, graph)

    @property
    def runs(self) -> list[JsonObject]:
        found = self.anna.get(f"{DEMO}/runs", params={"workflow": self.id})
        items: list[JsonObject] = found.json()["items"]
        return items

    def noted(self, number: int = 1) -> list[JsonValue]:
        """Return what its runs have noted, when there are that many and all are over."""
        for _ in range(400):
            runs = self.runs
            if len(runs) >= number and all(run["status"] == "completed" for run in runs):
                return [self._note(str(run["id"])) for run in runs]
            time.sleep(0.02)
        raise AssertionError(f"workflow {self.id} has {self.runs}")

    def _note(self, run: str) -> JsonValue:
        values = self.anna.get(f"{DEMO}/runs/{run}/steps/note/values").json()
        note: JsonValue = values["value"]["got"]
        return note


def published(anna: TestClient, title: str, graph: JsonObject) -> str:
    begun = anna.post(f"{DEMO}/workflows", json={"title": title, "graph": graph})
    assert begun.status_code == 201, begun.text
    workflow = str(begun.json()["workflow"]["id"])
    answer = anna.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={})
    assert answer.is_success, answer.text
    return workflow


@pytest.fixture
def admin(one_world: World) -> TestClient:
    return one_world.someone("u-demo", **ANY)


@pytest.fixture
def watch(admin: TestClient) -> Callable[..., Watcher]:
    return lambda trigger, **parameters: Watcher(admin, trigger, **parameters)


def send(client: TestClient, source: str, type_: str, data: JsonValue, **more: str) -> str:
    body = {"source": source, "type": type_, "data": data, **more}
    answer = client.post(f"{DEMO}/events", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_an_event_starts_what_waits_for_it_and_nothing_else(
    watch: Callable[..., Watcher], admin: TestClient
) -> None:
    over = watch(
        "trigger.event",
        pattern={"source": ["shop-1"], "data": {"amount": [{"numeric": [">", 100]}]}},
    )
    any_source = watch("trigger.event", pattern={"type": [{"prefix": "order.placed.1"}]})
    other = watch("trigger.event", pattern={"source": ["elsewhere"]})
    send(admin, "shop-1", "order.placed.1", {"amount": 99}, id="a")
    send(admin, "shop-1", "order.placed.1", {"amount": 101}, id="b")
    [noted] = over.noted()
    assert isinstance(noted, dict)
    assert noted["data"] == {"amount": 101}
    assert (noted["id"], noted["source"], noted["type"]) == ("shop-1/b", "shop-1", "order.placed.1")
    assert len(any_source.noted(2)) == 2
    assert other.runs == []


def test_an_event_with_the_same_id_starts_nothing_again(
    watch: Callable[..., Watcher], admin: TestClient
) -> None:
    watcher = watch("trigger.event", pattern={"source": ["shop-2"]})
    for amount in (1, 1, 2):
        send(admin, "shop-2", "order", {"amount": amount}, id=f"o-{amount}")
    assert len(watcher.noted(2)) == 2


def test_our_own_source_is_for_us_alone(admin: TestClient) -> None:
    for source in ("stellwerk", "stellwerk.more"):
        answer = admin.post(f"{DEMO}/events", json={"source": source, "type": "run.finished"})
        assert answer.status_code == 422
    large = {"source": "shop", "type": "order", "data": "x" * 210_000}
    assert admin.post(f"{DEMO}/events", json=large).status_code == 422


def test_a_paused_workflow_waits_for_nothing(
    watch: Callable[..., Watcher], admin: TestClient
) -> None:
    watcher = watch("trigger.event", pattern={"source": ["shop-3"]})
    admin.post(f"{DEMO}/workflows/{watcher.id}/deactivate")
    send(admin, "shop-3", "order", 1)
    admin.post(f"{DEMO}/workflows/{watcher.id}/activate")
    send(admin, "shop-3", "order", 2)
    [noted] = watcher.noted()
    assert isinstance(noted, dict)
    assert noted["data"] == 2


def test_a_file_starts_what_waits_for_such_a_name(
    watch: Callable[..., Watcher], admin: TestClient
) -> None:
    pdf = watch("trigger.file", prefix="invoice-", pattern="*.pdf")
    text = watch("trigger.file", pattern="invoice-?.txt")
    files = {"file": ("invoice-7.pdf", b"%PDF", "application/pdf")}
    added = admin.post(f"{DEMO}/files", files=files).json()
    admin.post(f"{DEMO}/files", files={"file": ("letter.pdf", b"%PDF", "application/pdf")})
    [noted] = pdf.noted()
    assert isinstance(noted, dict)
    assert (noted["file"], noted["name"]) == (added["id"], "invoice-7.pdf")
    assert (noted["type"], noted["size"]) == ("application/pdf", 4)
    assert text.runs == []


def failing(admin: TestClient) -> str:
    """Publish a workflow whose runs fail."""
    title = f"Failing {next(_NUMBERS)}"
    graph: JsonObject = {
        "title": title,
        "nodes": [
            {"key": "begin", "type": "trigger.manual"},
            {
                "key": "end",
                "type": "flow.stop",
                "parameters": {"outcome": "error", "message": "No money left"},
            },
        ],
        "edges": [{"from": "begin", "to": "end"}],
    }
    return published(admin, title, graph)


def test_the_failure_of_a_run_starts_what_watches_its_workflow(
    watch: Callable[..., Watcher], admin: TestClient
) -> None:
    watched = failing(admin)
    watcher = watch("trigger.failure", workflows=[watched])
    other = watch("trigger.failure", workflows=["elsewhere"])
    run = admin.post(f"{DEMO}/workflows/{watched}/runs", json={"input": 1}).json()["id"]
    [noted] = watcher.noted()
    assert isinstance(noted, dict)
    assert (noted["run"], noted["workflow"], noted["status"]) == (run, watched, "failed")
    error = noted["error"]
    assert isinstance(error, dict)
    assert error["message"] == "No money left"
    assert other.runs == []
