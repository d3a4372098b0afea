"""Events behind a gateway that does not stream: a long poll of the same.

Before `test_watching`, which runs a cloud of its own: a process has room for one.
"""

from __future__ import annotations

import time

from fastapi.testclient import TestClient

from api.app import create_app
from api.backend import Backend, Watching
from tests.api.sse import Event, read
from tests.api.things import ANY, Things
from tests.api.world import DEMO, SpokenTokens, World

OVER = "run.completed"


def test_a_long_poll_answers_with_what_there_is(one_world: World) -> None:
    anna = one_world.someone("u-demo", **ANY)
    run = Things(one_world).good("watchRun")
    assert run is not None
    path = f"{DEMO}/runs/{run.path['run']}/events"
    got: list[Event] = []
    while not got or got[-1].kind != OVER:
        answer = anna.get(path, params={"after": len(got)})
        assert answer.status_code == 200
        got += read(iter(answer.text.splitlines()))
    assert [event.id for event in got] == [*range(1, len(got) + 1)]
    assert anna.get(path, params={"after": len(got)}).status_code == 204


def test_a_long_poll_ends_without_events_when_its_time_is_over(one_world: World) -> None:
    backend = Backend(one_world.services, SpokenTokens(), Watching(seconds=0.6))
    headers = {"Authorization": "Bearer u-demo", **ANY}
    impatient = TestClient(create_app(backend), headers=headers)
    run = Things(one_world).good("cancelRun")
    assert run is not None
    begun = time.monotonic()
    answer = impatient.get(f"{DEMO}/runs/{run.path['run']}/events", params={"after": 999})
    assert (answer.status_code, [*read(iter(answer.text.splitlines()))]) == (200, [])
    assert 0.5 < time.monotonic() - begun < 10
