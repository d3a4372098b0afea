"""Loops over very many items: each is one run, and its value is whole and in order."""

from __future__ import annotations

import time

import pytest

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Run, TaskStatus
from stellwerk.tenancy.scope import seeded
from tests.api.world import World

PATIENCE = 1500


def looping(world: World, title: str, body: JsonObject, given: JsonValue) -> Run:
    """Publish a loop over what the trigger gets, and start it."""
    loop: JsonObject = {"items": "{{ $trigger }}", "max_items": 100_000, "concurrency": 20}
    graph: JsonObject = {
        "title": title,
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "lines", "type": "flow.for_each", "parameters": loop},
            {**body, "parent": "lines"},
        ],
        "edges": [{"from": "start", "to": "lines"}],
    }
    client = world.someone("u-demo", **{"If-Match": "*"})
    at = "/api/v1/mandates/m-demo/instances/i-demo/workflows"
    begun = client.post(at, json={"title": title, "graph": graph})
    assert begun.status_code == 201, begun.text
    workflow = str(begun.json()["workflow"]["id"])
    published = client.post(f"{at}/{workflow}/versions/1/publish", json={})
    assert published.status_code == 200, published.text
    return world.services.runs.start(seeded(), workflow, payload=given)


def output(world: World, run: Run) -> JsonValue:
    """Return the run's output when it is over, having decided all its tasks on the way."""
    runs, tasks, scope = world.services.runs, world.services.tasks, seeded()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = runs.get(scope, run.id)
        if not found.status.open:
            assert found.output is not None, found.error
            return runs.value(scope, found.output)
        for task in tasks.list(scope, status=TaskStatus.PENDING, limit=100).items:
            if task.run == run.id:
                tasks.decide(scope, task.id, "approved")
        time.sleep(0.05)
    raise AssertionError(f"the run is {found.status}")


def double(world: World, items: int) -> None:
    body: JsonObject = {
        "key": "double",
        "type": "data.set",
        "parameters": {"fields": {"twice": "{{ $item * 2 }}"}},
    }
    run = looping(world, f"Double {items}", body, [*range(items)])
    expected = {"items": [{"twice": 2 * n} for n in range(items)], "errors": [None] * items}
    assert output(world, run) == {"lines": expected}
    first = world.services.runs.page(seeded(), run.id)
    assert {step.key.text for step in first.items} >= {"start", "lines"}
    assert (first.cursor is not None) == (items > 500)


def ask(world: World, items: int) -> None:
    body: JsonObject = {
        "key": "ask",
        "type": "input.approval",
        "parameters": {"title": "Item {{ $item }}?", "assignees": ["u-demo"]},
    }
    run = looping(world, f"Ask {items}", body, [*range(items)])
    found = output(world, run)
    assert isinstance(found, dict)
    lines = found["lines"]
    assert isinstance(lines, dict)
    assert lines["errors"] == [None] * items
    tasks = world.services.running.assembly.world.tasks.of_run(seeded(), run.id)
    assert sorted(task.title for task in tasks) == sorted(f"Item {n}?" for n in range(items))
    assert {task.status for task in tasks} == {TaskStatus.COMPLETED}


def test_a_loop_over_several_chunks_is_one_run(one_world: World) -> None:
    double(one_world, 700)


def test_every_item_of_a_loop_asks_a_person(one_world: World) -> None:
    ask(one_world, 12)


@pytest.mark.soak
def test_a_loop_over_fifty_thousand_items_is_one_run(one_world: World) -> None:
    double(one_world, 50_000)


@pytest.mark.soak
def test_three_hundred_items_ask_a_person_each(one_world: World) -> None:
    ask(one_world, 300)
