"""A published workflow with a webhook, and whoever delivers to it."""

from __future__ import annotations

import itertools
import time
from typing import Any
from urllib.parse import urlsplit

from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import DEMO, World

SECRET = "a long and windy secret"
ANY = {"If-Match": "*"}
_NUMBERS = itertools.count()


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
