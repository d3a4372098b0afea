"""Ids of another place in paths of one's own: answered as ids that nobody has ever given out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient

from tests.isolation.table import INSTANCE, MANDATE, expectations
from tests.isolation.things import Ask, Things
from tests.isolation.walk import HERE, MARK, Answer, quiet, send
from tests.isolation.world import NEXT_DOOR, SPEAKERS, World

IDS = ("workflow", "run", "task", "file", "role", "user", "client", "connection")
NOBODYS = "0000-nobodys-0000"
NORD, NEIGHBOUR = (
    {"mandate": "m-nord", "instance": "i-nord"},
    {"mandate": "m-demo", "instance": "i-demo-auto"},
)
CROSSINGS: dict[str, tuple[str, Mapping[str, str], bool]] = {
    "another mandate's": ("u-nord-admin", NORD, False),
    "another instance's": (NEXT_DOOR.subject, NEIGHBOUR, True),
    "the same person's elsewhere": ("u-demo", NEIGHBOUR, True),
}
"""Whose ids of m-demo and i-demo are used: by whom, where, and whether in instances alone."""
WITH_IDS = [route for route in expectations() if any(f"{{{name}}}" in route for name in IDS)]
OF_INSTANCES = [route for route in expectations() if INSTANCE in route]


@dataclass(frozen=True)
class Prepared:
    """A world at rest, and a good request of m-demo's administrator to each route."""

    clients: Mapping[str, TestClient]
    asks: Mapping[str, Ask]


@pytest.fixture(scope="module")
def prepared(tenants: World) -> Iterator[Prepared]:
    anna = tenants.client("u-demo")
    things = Things(anna, anna, MARK, assignee="user:u-demo", heir="u-demo-user")
    asks = {route: things.ask(route) for route in {*WITH_IDS, *OF_INSTANCES}}
    quiet(tenants)
    before = tenants.state()
    yield Prepared({one: tenants.client(one) for one in SPEAKERS.values()}, asks)
    assert tenants.state() == before, "a refused request has changed something"


@pytest.mark.parametrize("crossing", CROSSINGS)
@pytest.mark.parametrize("route", WITH_IDS)
def test_a_foreign_id_is_as_unknown_as_none(prepared: Prepared, route: str, crossing: str) -> None:
    speaker, place, inside = CROSSINGS[crossing]
    if inside and (INSTANCE not in route or route.endswith("/copy")):
        return  # a mandate is its instances' own; what one of them shares the others may copy
    ask = prepared.asks[route]
    foreign = {name: str(ask.path[name]) for name in IDS if name in ask.path}
    unknown = Ask({**ask.path, **dict.fromkeys(foreign, NOBODYS)}, ask.body, ask.query, ask.files)
    client = prepared.clients[speaker]
    answers = [send(client, route, wanted, place) for wanted in (ask, unknown)]
    _same(answers, [*foreign.values(), NOBODYS])


@pytest.mark.parametrize("route", OF_INSTANCES)
@pytest.mark.parametrize(
    ("mandate", "instance"), [("m-nord", "i-demo"), ("m-demo", "i-nord"), ("m-demo", "i-demo")]
)
def test_a_foreign_place_is_as_unknown_as_none(
    prepared: Prepared, route: str, mandate: str, instance: str
) -> None:
    nora, ask = prepared.clients["u-nord-admin"], prepared.asks[route]
    unknown = {
        "mandate": mandate if mandate == "m-nord" else NOBODYS,
        "instance": NOBODYS,
    }
    places = [{"mandate": mandate, "instance": instance}, unknown]
    answers = [send(nora, route, ask, place) for place in places]
    _same(answers, [instance, mandate, NOBODYS])


@pytest.mark.parametrize("route", WITH_IDS)
def test_an_unknown_id_of_ones_own_place_is_not_found(prepared: Prepared, route: str) -> None:
    ask = prepared.asks[route]
    unknown = {name: NOBODYS for name in IDS if name in ask.path}
    anna = prepared.clients["u-demo"]
    answer = send(anna, route, Ask({**ask.path, **unknown}, ask.body, ask.query, ask.files), HERE)
    assert answer.status_code == 404, answer.text


def test_a_cursor_leads_nobody_out_of_his_own_place(prepared: Prepared) -> None:
    """Cursors are texts that clients may keep, exchange and forge."""
    anna, nora = prepared.clients["u-demo"], prepared.clients["u-nord-admin"]
    document = anna.get("/api/v1/openapi.json").json()
    tried = 0
    for template, item in document["paths"].items():
        parameters = item.get("get", {}).get("parameters", ())
        if MANDATE not in template or all(one.get("name") != "cursor" for one in parameters):
            continue
        ids = prepared.asks.get(f"GET {template}", Ask()).path
        asked = {"limit": "1", "all": "true"}
        page = anna.get(template.format_map({**HERE, **ids}), params=asked).json()
        if page["cursor"] is None:
            continue
        answer = nora.get(
            template.format_map({**NORD, **ids}), params={"cursor": page["cursor"], "limit": "100"}
        )
        assert answer.status_code in {200, 404}, answer.text
        assert not [word for word in (MARK, "m-demo", "u-demo") if word in answer.text], template
        tried += 1
    assert tried >= 8


def _same(answers: list[Answer], ids: list[str]) -> None:
    """Check that answers are 404, and the same but for ids that the caller named."""
    said = []
    for answer in answers:
        assert answer.status_code == 404, answer.text
        problem = json.loads(answer.text)
        text = json.dumps({**problem, "instance": "", "request_id": ""})
        for one in ids:
            text = text.replace(one, "ID")
        assert MARK.lower() not in text.lower()
        said.append(text)
    assert len(set(said)) == 1, said
