"""What a run is given, and gives, may be large: machines carry ids, the values go beside them."""

from __future__ import annotations

import json

from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import seeded
from tests.api.test_long_loops import output
from tests.api.world import DEMO, STRAIGHT, World

MIB = 1024 * 1024
CARRIED = 1024
"""Bytes that the input of an execution stays below."""


def published(world: World) -> str:
    client = world.someone("u-demo", **{"If-Match": "*"})
    begun = client.post(f"{DEMO}/workflows", json={"title": "Large", "graph": STRAIGHT}).json()
    workflow = str(begun["workflow"]["id"])
    assert client.post(f"{DEMO}/workflows/{workflow}/versions/1/publish", json={}).is_success
    return workflow


def test_ten_mebibytes_go_through_a_run_and_no_machine_carries_them(one_world: World) -> None:
    world, scope = one_world, seeded()
    workflow = published(world)
    given: JsonObject = {"text": "ü" * (5 * MIB)}
    run = world.services.runs.start(scope, workflow, payload=given)
    assert output(world, run) == {"note": {"text": given}}
    kept = world.services.runs.get(scope, run.id)
    assert kept.input is not None
    assert kept.input.ref is not None
    assert kept.input.ref.size > 10 * MIB
    started = world.services.running.assembly.world.runs.get(scope, run.id)
    assert len(started.model_dump_json()) < 4 * CARRIED


def test_what_an_api_takes_is_kept_beside_the_run_and_more_is_refused(one_world: World) -> None:
    client, workflow = one_world.someone("u-demo"), published(one_world)
    start = f"{DEMO}/workflows/{workflow}/runs"
    body = {"input": {"text": "x" * (4 * MIB)}}
    answer = client.post(start, json=body)
    assert answer.status_code == 201, answer.text[:300]
    assert len(json.dumps(answer.json())) < 4 * CARRIED
    more = client.post(start, json={"input": {"text": "x" * (12 * MIB)}})
    assert more.status_code == 413
