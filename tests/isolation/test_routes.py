"""Every route of the document, called by everybody; see `expectations.txt`."""

from __future__ import annotations

import json

import pytest

from tests.isolation.table import expectations
from tests.isolation.walk import FOREIGN, MARK, Call, Walk, quiet, routes
from tests.isolation.world import NORD, SPEAKERS, THERE, World

TABLE = expectations()
PURE = {"validate", "compile", "preview"}
"""Ends of POST routes that change nothing."""
OTHERS = (FOREIGN, "Nordwind", "Nora", "nordwind.example", "i-nord", "u-nord-admin")
"""What says something about m-nord."""
OURS = (MARK, "Muster", "Anna", "Clara", "muster.example", "u-demo-user")
"""What says something about m-demo."""


@pytest.fixture(scope="module")
def calls(tenants: World) -> list[Call]:
    nora = tenants.client("u-nord-admin")
    graph = {"title": FOREIGN, "nodes": [{"key": "start", "type": "trigger.manual"}], "edges": []}
    for path, body in (
        (f"{THERE}/workflows", {"title": FOREIGN, "graph": graph}),
        (f"{THERE}/roles", {"label": FOREIGN}),
        (f"{NORD}/roles", {"label": FOREIGN}),
        (f"{NORD}/clients", {"name": FOREIGN}),
        (f"{NORD}/members", {"who": "enzian@nordwind.example", "name": FOREIGN}),
    ):
        assert nora.post(path, json=body).status_code == 201
    upload = {"file": (f"{FOREIGN}.txt", FOREIGN.encode(), "text/plain")}
    assert nora.post(f"{THERE}/files", files=upload).status_code == 201
    made = list(Walk(tenants, TABLE).calls())
    quiet(tenants)
    return made


def test_the_table_has_all_routes_and_no_others(tenants: World) -> None:
    assert routes(tenants) == TABLE.keys()


@pytest.mark.parametrize("route", TABLE)
def test_somebody_succeeds(route: str) -> None:
    assert any(200 <= status < 300 for status in TABLE[route].values())


@pytest.mark.parametrize("route", TABLE)
def test_a_route_answers_as_the_table_says(calls: list[Call], route: str) -> None:
    answers = {call.principal: call.status for call in calls if call.route == route}
    assert answers == TABLE[route], [
        f"{call.name}: {call.body[:300]}"
        for call in calls
        if call.route == route and call.status != call.expected
    ]


def test_whoever_is_not_known_learns_how_to_sign_in(calls: list[Call]) -> None:
    unknown = [call for call in calls if call.status == 401]
    assert {call.principal for call in unknown} == {"none", "broken", "expired", "audience"}
    assert not [call.name for call in unknown if call.headers["www-authenticate"] != "Bearer"]


def test_each_broken_token_is_told_apart(calls: list[Call]) -> None:
    told = {call.principal: json.loads(call.body)["detail"] for call in calls if call.status == 401}
    assert len(set(told.values())) == 4, told


def test_a_refused_call_changes_nothing(calls: list[Call]) -> None:
    refused = [call for call in calls if call.status >= 400]
    assert len(refused) > 500
    assert not [call.name for call in refused if call.changed is not False]


def test_no_refusal_is_anything_but_a_problem(calls: list[Call]) -> None:
    for call in calls:
        if call.status >= 400:
            assert call.headers["content-type"] == "application/problem+json", call.name
            assert json.loads(call.body)["status"] == call.status


def test_no_refusal_says_anything_about_what_it_refuses(calls: list[Call]) -> None:
    """A path, which the caller wrote, is said again; reasons name roles, not what they are over."""
    shown = [
        f"{call.name}: {word}"
        for call in calls
        if call.status >= 400
        for word in (*OTHERS, *OURS)
        if word.lower() in _without_path(call).lower() and word != _speaker(call)
    ]
    assert not shown


def test_nobody_gets_what_belongs_to_another_mandate(calls: list[Call]) -> None:
    strange = {"mandate": OURS, **dict.fromkeys(("viewer", "user", "own", "admin"), OTHERS)}
    shown = [
        f"{call.name}: {word}"
        for call in calls
        for word in strange.get(call.principal, ())
        if word.lower() in call.body.lower()
        and not call.route.startswith("GET /api/v1/mandates/{mandate}/audit")
    ]
    assert not shown


def test_every_refusal_of_someone_known_is_in_the_audit(tenants: World, calls: list[Call]) -> None:
    denied = {
        (record.request, record.user)
        for mandate in ("m-demo", "system")
        for record in tenants.records(mandate)
        if record.outcome == "denied"
    }
    requests = {request for request, _ in denied}
    refused = [call for call in calls if call.status in {403, 404} and not _has_none(call)]
    assert not [call.name for call in refused if call.request not in requests]


def _has_none(call: Call) -> bool:
    """Whether who may ask for own things asks for one that is not: nothing is refused to him."""
    return call.route.endswith("/me/deputies/{user}") and call.principal != "mandate"


def test_every_change_is_in_the_audit(tenants: World, calls: list[Call]) -> None:
    done = {
        record.request
        for mandate in ("m-demo", "m-nord", "system")
        for record in tenants.records(mandate)
        if record.outcome == "done"
    }
    changes = [
        call
        for call in calls
        if call.status < 300
        and not call.route.startswith("GET")
        and call.route.rpartition("/")[2] not in PURE
    ]
    assert len(changes) > 60
    assert not [call.name for call in changes if call.request not in done]


def test_a_refusal_is_written_once(tenants: World, calls: list[Call]) -> None:
    denials = [
        record.request
        for mandate in ("m-demo", "m-nord", "system")
        for record in tenants.records(mandate)
        if record.outcome == "denied"
    ]
    assert len(denials) == len(set(denials))


def test_the_chains_hold_after_all_that(tenants: World) -> None:
    for subject, mandate in (("u-demo", "m-demo"), ("u-nord-admin", "m-nord")):
        verified = tenants.client(subject).get(f"/api/v1/mandates/{mandate}/audit/verify")
        assert verified.json()["faults"] == []


def test_a_change_would_be_noticed(tenants: World) -> None:
    before = tenants.state()
    anna = tenants.client("u-demo")
    assert anna.patch("/api/v1/me", json={"name": "Anna M."}).status_code == 200
    assert tenants.state() != before


def _without_path(call: Call) -> str:
    problem = json.loads(call.body)
    return json.dumps({**problem, "instance": ""})


def _speaker(call: Call) -> str:
    return SPEAKERS.get(call.principal, "")
