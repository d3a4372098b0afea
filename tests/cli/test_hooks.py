"""`stellwerk hooks` on the local cloud and at its API, and what is then delivered by HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from localcloud.cli.hosting import hosted
from localcloud.cli.main import app
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import Answer, invoke
from tests.cli.test_remote import Terminal

GRAPH: JsonObject = {
    "title": "Orders",
    "nodes": [
        {
            "key": "order",
            "type": "trigger.webhook",
            "parameters": {"authentication": {"kind": "header"}},
        },
        {
            "key": "page",
            "type": "trigger.form",
            "parameters": {"title": "Order", "schema": {"type": "object", "properties": {}}},
        },
        {"key": "note", "type": "data.set", "parameters": {"fields": {"got": "{{ $trigger }}"}}},
    ],
    "edges": [{"from": "order", "to": "note"}, {"from": "page", "to": "note"}],
}
SECRET = "a long and windy secret"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A cloud that serves its API, with a published workflow; its folder and address."""
    data = tmp_path_factory.mktemp("cloud")
    with hosted(Settings.of({"STELLWERK_DATA": str(data)}), port=0, api_port=0) as connection:
        assert connection.api is not None
        file = data / "orders.json"
        file.write_text(json.dumps(GRAPH), encoding="utf-8")
        assert invoke(data, ["publish", str(file)]).code == 0
        yield data, connection.api


def hook(answer: Answer, node: str) -> JsonObject:
    """Return what is said of a node."""
    listed = answer.data["hooks"]
    assert isinstance(listed, list)
    [found] = [each for each in listed if isinstance(each, dict) and each["node"] == node]
    return found


def test_addresses_are_listed_and_replaced_here(place: tuple[Path, str]) -> None:
    folder, _ = place
    listed = invoke(folder, ["hooks", "orders", "--json"])
    before = hook(listed, "page")
    assert (before["type"], before["armed"]) == ("trigger.form", True)
    rotated = invoke(folder, ["hooks", "orders", "--rotate", "page", "--json"])
    assert hook(rotated, "page")["url"] != before["url"]
    shown = invoke(folder, ["hooks", "orders"], columns="120").shown
    assert "/hooks/" in shown
    assert "/forms/" in shown


def test_a_delivery_by_http_is_answered_with_its_run(
    place: tuple[Path, str], tmp_path: Path
) -> None:
    _, api = place
    anna = Terminal(api, tmp_path / "anna").signed_in("u-demo")
    url = str(hook(anna("hooks", "orders", "--json"), "order")["url"])
    assert url.startswith(f"{api}/hooks/")
    proof = {"X-Webhook-Secret": SECRET}
    assert httpx2.post(url, json={"n": 1}, headers=proof).status_code == 401
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "anna")}
    typed = CliRunner(env=environment).invoke(
        app, ["--api", api, "hooks", "orders", "--secret", "order", "--json"], input=f"{SECRET}\n"
    )
    assert typed.exit_code == 0, typed.output
    assert SECRET not in typed.output
    assert httpx2.post(url, json={"n": 1}).status_code == 401
    answer = httpx2.post(url, json={"n": 1}, headers=proof)
    assert answer.status_code == 202, answer.text
    assert answer.json()["url"].startswith(f"{api}/api/v1/mandates/m-demo/")
    assert hook(anna("hooks", "orders", "--rotate", "order", "--json"), "order")["url"] != url
    assert httpx2.post(url, json={"n": 1}, headers=proof).status_code == 404


def test_what_cannot_be_is_refused(place: tuple[Path, str]) -> None:
    folder, _ = place
    both = invoke(folder, ["hooks", "orders", "--rotate", "page", "--secret", "page"])
    assert (both.code, "Only one" in both.errors) == (2, True)
    assert invoke(folder, ["hooks", "nothing"]).code == 3
    assert invoke(folder, ["hooks", "orders", "--rotate", "nobody"]).code == 3
