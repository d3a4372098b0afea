"""Whatever starts a run is delivered twice at the same moment, and starts one.

A kind of trigger that is added gets a line in KINDS: how it is published, and how it is delivered.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from stellwerk.catalogue.model import Kind
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import DEMO, World
from tests.system.events import CONTEXT
from triggers.event.handler import handler as event_handler
from triggers.file.handler import handler as file_handler
from triggers.schedule.handler import handler as schedule_handler

ANY = {"If-Match": "*"}
AT_ONCE = 6
"""How many deliver the same thing: two would often miss each other."""
_NUMBERS = itertools.count()
BY_PEOPLE = {"trigger.manual", "trigger.called"}
"""No event starts these: a person does, under an idempotency key, or a step, under its own."""
ELSEWHERE = {"trigger.mail"}
"""Tested where its mailbox is."""


@dataclass(frozen=True)
class Published:
    """A workflow with one trigger, `begin`."""

    id: str
    anna: TestClient
    world: World

    def path(self) -> str:
        [hook] = self.anna.get(f"{DEMO}/workflows/{self.id}/hooks").json()["items"]
        return str(urlsplit(hook["url"]).path)

    def runs(self) -> list[JsonObject]:
        found = self.anna.get(f"{DEMO}/runs", params={"workflow": self.id}).json()
        items: list[JsonObject] = found["items"]
        return items


Deliver = Callable[[], object]
Delivery = Callable[[Published], Deliver]


def webhook(workflow: Published) -> Deliver:
    path, caller = workflow.path(), workflow.world.someone()
    key = {"Idempotency-Key": "once"}
    return lambda: taken(caller.post(path, json={"a": 1}, headers=key).status_code, 202)


def form(workflow: Published) -> Deliver:
    path, browser = workflow.path(), workflow.world.someone()
    return lambda: taken(browser.post(path, data={"_delivery": "n-1"}).status_code, 200)


def bus(detail: JsonObject) -> JsonObject:
    return {"source": "stellwerk", "detail-type": "event", "detail": detail}


def told(workflow: Published, source: str, type_: str, data: JsonValue, about: str = "") -> Deliver:
    detail: JsonObject = {
        "id": f"{source}/{workflow.id}",
        "mandate": "m-demo",
        "instance": "i-demo",
        "source": source,
        "type": type_,
        "time": "2026-11-02T09:00:00Z",
        "data": data,
        "workflow": about,
    }
    return lambda: event_handler(bus(detail), CONTEXT)


def event(workflow: Published) -> Deliver:
    return told(workflow, "once", "happened", {"a": 1})


def failure(workflow: Published) -> Deliver:
    data: JsonObject = {"run": "r-1", "workflow": "once-failed", "status": "failed"}
    return told(workflow, "stellwerk", "run.finished", data, about="once-failed")


def file(workflow: Published) -> Deliver:
    stored: JsonObject = {"key": "m-demo/i-demo/files/once/a.txt", "size": 1, "version-id": "v-1"}
    detail: JsonObject = {"bucket": {"name": "b"}, "object": stored}
    return lambda: file_handler({"detail": detail}, CONTEXT)


def schedule(workflow: Published) -> Deliver:
    at = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    fired: JsonObject = {
        "mandate": "m-demo",
        "instance": "i-demo",
        "workflow": workflow.id,
        "node": "begin",
        "at": at.isoformat(),
    }
    return lambda: schedule_handler(fired, CONTEXT)


def taken(status: int, wanted: int) -> None:
    assert status == wanted


KINDS: Mapping[str, tuple[JsonObject, Delivery]] = {
    "trigger.webhook": ({}, webhook),
    "trigger.form": ({"title": "Once", "schema": {"type": "object", "properties": {}}}, form),
    "trigger.event": ({"pattern": {"source": ["once"]}}, event),
    "trigger.failure": ({"workflows": ["once-failed"]}, failure),
    "trigger.file": ({"prefix": "once/"}, file),
    "trigger.schedule": ({"interval": "PT1H"}, schedule),
}


def publish(world: World, kind: str, parameters: JsonObject) -> Published:
    anna = world.someone("u-demo", **ANY)
    title = f"Once {next(_NUMBERS)}"
    graph: JsonObject = {
        "title": title,
        "nodes": [
            {"key": "begin", "type": kind, "parameters": parameters},
            {"key": "note", "type": "data.set", "parameters": {"fields": {"a": 1}}},
        ],
        "edges": [{"from": "begin", "to": "note"}],
    }
    begun = anna.post(f"{DEMO}/workflows", json={"title": title, "graph": graph})
    workflow = str(begun.json()["workflow"]["id"])
    answer = anna.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={})
    assert answer.is_success, answer.text
    return Published(workflow, anna, world)


def test_no_kind_is_forgotten() -> None:
    known = {found.type for found in StoredCatalogue().types() if found.kind is Kind.TRIGGER}
    assert known - ELSEWHERE == KINDS.keys() | BY_PEOPLE


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_delivery_that_comes_again_at_once_starts_one_run(one_world: World, kind: str) -> None:
    parameters, delivery = KINDS[kind]
    workflow = publish(one_world, kind, parameters)
    deliver, together = delivery(workflow), threading.Barrier(AT_ONCE)

    def at_once(_: int) -> None:
        together.wait(10)
        deliver()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(at_once, range(AT_ONCE)))
    deliver()
    for _ in range(400):
        runs = workflow.runs()
        if runs and all(run["status"] == "completed" for run in runs):
            break
        time.sleep(0.02)
    assert [run["status"] for run in runs] == ["completed"]
