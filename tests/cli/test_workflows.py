"""`workflows` and `cancel`, on a local cloud."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stellwerk.kernel.json import JsonObject
from tests.cli.conftest import APPROVAL, Stellwerk

Published = Callable[..., str]


def rows(data: JsonObject, field: str) -> list[JsonObject]:
    entries = data[field]
    assert isinstance(entries, list)
    return [entry for entry in entries if isinstance(entry, dict)]


def changed(amount: str) -> JsonObject:
    graph: JsonObject = json.loads(json.dumps(APPROVAL).replace("> 1000", f"> {amount}"))
    return graph


@pytest.fixture
def published(stellwerk: Stellwerk, tmp_path: Path) -> Published:
    """Publish graphs under a slug, each a version."""

    def publish(slug: str, *graphs: JsonObject) -> str:
        file = tmp_path / "graph.json"
        for graph in graphs:
            file.write_text(json.dumps(graph), encoding="utf-8")
            assert stellwerk("publish", str(file), "--slug", slug).code == 0
        return slug

    return publish


def test_workflows_are_listed_and_found_by_words(
    stellwerk: Stellwerk, published: Published
) -> None:
    published("cancelled-orders", APPROVAL)
    published("returns", changed("500"), changed("700"))
    listed = rows(stellwerk("workflows", "--json").data, "workflows")
    latest = {each["slug"]: (each["published"], each["latest"]) for each in listed}
    assert latest["cancelled-orders"] == (1, 1)
    assert latest["returns"] == (2, 2)
    shown = stellwerk("workflows", "--query", "ret").shown
    assert "returns" in shown
    assert "cancelled-orders" not in shown
    assert stellwerk("workflows", "--query", "nosuch").shown == "No workflow is like that.\n"
    page = stellwerk("workflows", "--limit", "1")
    assert "More with --cursor" in page.shown


def test_versions_are_listed_the_newest_first(stellwerk: Stellwerk, published: Published) -> None:
    slug = published("listed", APPROVAL, changed("2000"))
    found = rows(stellwerk("workflows", "versions", slug, "--json").data, "versions")
    assert [(each["number"], each["status"]) for each in found] == [
        (2, "published"),
        (1, "archived"),
    ]
    assert not found[0].keys() & {"graph", "machines", "plan", "revision"}
    shown = stellwerk("workflows", "versions", slug).shown
    assert shown.index("v2") < shown.index("v1")


def test_a_difference_is_told_node_by_node(stellwerk: Stellwerk, published: Published) -> None:
    first: JsonObject = {
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "old", "type": "data.set", "parameters": {"fields": {"a": 1}}},
            {"key": "kept", "type": "data.set", "parameters": {"fields": {"b": 1}}},
        ],
        "edges": [{"from": "start", "to": "old"}, {"from": "old", "to": "kept"}],
    }
    second: JsonObject = {
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "new", "type": "data.set", "title": "New", "parameters": {"fields": {"a": 1}}},
            {"key": "kept", "type": "data.set", "parameters": {"fields": {"b": 2}}},
        ],
        "edges": [{"from": "start", "to": "new"}, {"from": "new", "to": "kept"}],
    }
    slug = published("differs", first, second)
    answer = stellwerk("workflows", "diff", slug, "1", "2")
    assert answer.code == 0
    told = [line.split() for line in answer.shown.splitlines()[1:]]
    assert ["-", "old", "data.set"] in told
    assert ["+", "new", "data.set", "New"] in told
    assert ["~", "kept.fields", '{"b":1}', '{"b":2}'] in told
    assert ["-", "edge", "start:out", "→", "old"] in told
    assert ["+", "edge", "new:out", "→", "kept"] in told
    data = stellwerk("workflows", "diff", slug, "1", "2", "--json").data
    assert [each["key"] for each in rows(data, "added")] == ["new"]
    assert [each["from"] for each in rows(data, "edges_added")] == ["new", "start"]
    assert "the same graph" in stellwerk("workflows", "diff", slug, "2", "2").shown


def test_a_workflow_goes_back_to_a_version_of_before(
    stellwerk: Stellwerk, published: Published
) -> None:
    slug = published("back", APPROVAL, changed("10"))
    back = stellwerk("workflows", "rollback", slug, "1")
    assert (back.code, back.shown) == (0, "back is version 1 again\n")
    run = stellwerk("run", slug, "--input", '{"amount": 500}', "--json")
    assert run.data["version"] == 1
    forth = stellwerk("workflows", "rollback", slug, "2", "--json").data
    assert isinstance(forth["workflow"], dict)
    assert forth["workflow"]["published"] == 2
    assert stellwerk("workflows", "rollback", slug, "2").code == 2


def test_a_run_is_cancelled_with_the_task_that_it_waits_for(
    stellwerk: Stellwerk, payment: str
) -> None:
    paused = stellwerk("run", payment, "--input", '{"amount": 8000}', "--json").data
    run = str(paused["id"])
    task = str(rows(paused, "tasks")[0]["id"])
    ended = stellwerk("cancel", run)
    assert (ended.code, ended.shown) == (0, "cancelled Payment v1\n")
    assert stellwerk("show", run, "--json").data["status"] == "cancelled"
    assert stellwerk("decide", task, "approved").code == 2
    again = stellwerk("cancel", run, "--json")
    assert again.code == 2
    assert isinstance(again.data["error"], dict)
    assert again.data["error"]["type"] == "Conflict"


@pytest.mark.parametrize(
    "arguments",
    [
        ("cancel", "r0"),
        ("workflows", "versions", "nothing"),
        ("workflows", "diff", "nothing", "1", "2"),
        ("workflows", "rollback", "nothing", "1"),
    ],
    ids=" ".join,
)
def test_what_does_not_exist_is_not_found(stellwerk: Stellwerk, arguments: list[str]) -> None:
    assert stellwerk(*arguments).code == 3


def test_a_version_that_does_not_exist_is_not_found(
    stellwerk: Stellwerk, published: Published
) -> None:
    slug = published("short", APPROVAL)
    assert stellwerk("workflows", "diff", slug, "1", "2").code == 3
    assert stellwerk("workflows", "rollback", slug, "7", "--json").code == 3
    assert stellwerk("workflows", "rollback", slug, "0").code == 2
    assert stellwerk("workflows", "diff", slug, "one", "2").code == 2
