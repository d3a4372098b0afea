"""The walk: every principal calls every route, first those who are to be refused."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fastapi.testclient import TestClient

from tests.isolation.table import Table
from tests.isolation.things import Ask, Things
from tests.isolation.world import SPEAKERS, World

HERE = {"mandate": "m-demo", "instance": "i-demo"}
METHODS = ("get", "put", "post", "patch", "delete")
MARK, FOREIGN = "Zyklame", "Enzian"
"""Words in all names that are given in m-demo, and in m-nord."""


@dataclass(frozen=True)
class Call:
    """What came of a call."""

    route: str
    principal: str
    expected: int
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: str = field(repr=False)
    changed: bool | None = None
    """Whether anything that is stored changed; None: nobody looked."""

    @property
    def name(self) -> str:
        """Who called what, and under what id it is found in the audit."""
        return f"{self.principal}: {self.route}"

    @property
    def request(self) -> str:
        """The id that the answer names."""
        return self.headers["x-request-id"]


def routes(world: World) -> set[str]:
    """Return all routes of the application's document."""
    document = world.client().get("/api/v1/openapi.json").json()
    return {
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    }


def quiet(world: World) -> None:
    """Wait until nothing changes any more: no run is under way, and what followed it is done."""
    before, calm = world.state(), 0
    for _ in range(400):
        time.sleep(0.05)
        now = world.state()
        calm = calm + 1 if now == before else 0
        if calm == 5:  # what tells of runs waits a moment for more to tell
            return
        before = now
    raise AssertionError("the cloud does not come to rest")


class Walk:
    """Calls routes as the table's principals."""

    def __init__(self, world: World, table: Table) -> None:
        self._world = world
        self._table = table
        anna, ben = world.client("u-demo"), world.client("u-demo-user")
        self._annas = Things(anna, anna, MARK, assignee="user:u-demo", heir="u-demo-user")
        self._bens = Things(ben, anna, MARK, assignee="user:u-demo-user", heir="u-demo")
        self._clients = {
            **{name: world.client(subject) for name, subject in SPEAKERS.items()},
            **{name: world.client(name) for name in ("broken", "expired", "audience")},
            "none": world.client(),
        }

    def calls(self) -> Iterator[Call]:
        """Make all calls. What someone is to change is made for that call."""
        there = self._table.keys() & routes(self._world)
        wanted = {
            (route, principal == "own"): principal
            for route in sorted(there)
            for principal, status in self._table[route].items()
            if status >= 400 or route.startswith("GET")
        }
        prepared = {key: self._things(one).ask(key[0]) for key, one in wanted.items()}
        quiet(self._world)
        for (route, own), ask in prepared.items():
            yield from self._refused(route, ask, own=own)
        for route in sorted(there):
            for principal, status in self._table[route].items():
                if status < 400:
                    reads = route.startswith("GET")
                    known = prepared[route, principal == "own"] if reads else None
                    yield self._call(route, principal, known or self._things(principal).ask(route))

    def _refused(self, route: str, ask: Ask, *, own: bool) -> Iterator[Call]:
        before = self._world.state()
        for principal, status in self._table[route].items():
            if status < 400 or (principal == "own") is not own:
                continue
            call = self._call(route, principal, ask)
            after = self._world.state()
            yield Call(**{**vars(call), "changed": after != before})
            before = after

    def _call(self, route: str, principal: str, ask: Ask) -> Call:
        answer = send(self._clients[principal], route, ask)
        return Call(
            route,
            principal,
            self._table[route][principal],
            answer.status_code,
            dict(answer.headers),
            answer.text,
        )

    def _things(self, principal: str) -> Things:
        return self._bens if principal == "own" else self._annas


@dataclass(frozen=True)
class Answer:
    """An answer, read."""

    status_code: int
    headers: Mapping[str, str]
    text: str


def send(
    client: TestClient, route: str, ask: Ask, place: Mapping[str, str] | None = None
) -> Answer:
    """Make a request in a place, else in m-demo and i-demo."""
    method, template = route.split()
    path = template.format_map({**(place or HERE), **ask.path})
    answer = client.request(method, path, json=ask.body, params=ask.query, files=ask.files)
    return Answer(answer.status_code, answer.headers, answer.text)
