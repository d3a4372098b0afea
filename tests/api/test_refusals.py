"""What is refused, and how: whatever is sent, nothing becomes a fault of ours."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from api.conditions import Match, Outdated
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.json import JsonObject
from tests.api.things import Things
from tests.api.world import DEMO, STRAIGHT, World

JSON = {"Content-Type": "application/json"}

FORM: JsonObject = {
    "title": "Booking",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "ask",
            "type": "input.approval",
            "parameters": {
                "title": "Book?",
                "assignees": ["u-demo"],
                "form": {
                    "type": "object",
                    "properties": {"account": {"type": "string"}, "cost": {"type": "number"}},
                },
            },
        },
    ],
    "edges": [{"from": "start", "to": "ask"}],
}


@pytest.fixture(scope="module")
def things(one_world: World) -> Things:
    return Things(one_world)


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("value", "status", "told"),
    [
        ('"\\ud800"', 422, "half of a character"),
        ('{"\\udfff": 1}', 422, "half of a character"),
        ("1e999", 422, "not finite, or too large"),
        ("NaN", 422, "not finite, or too large"),
        ("1" * 400, 422, "not finite, or too large"),
        ("1" * 5000, 400, "cannot be read"),
        (deep(101), 422, "nested more than 100 deep"),
        (deep(100_000), 400, "cannot be read"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_json_that_cannot_be_kept_is_refused(
    anna: TestClient, things: Things, value: str, status: int, told: str
) -> None:
    good = things.good("startRun")
    assert good is not None
    path = f"{DEMO}/workflows/{good.path['workflow']}/runs"
    answer = anna.post(path, content=f'{{"input": {value}}}', headers=JSON)
    assert answer.status_code == status, answer.text
    assert told in answer.json()["detail"]


@pytest.mark.parametrize("since", ["1999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"])
def test_a_moment_beyond_all_records_is_refused_for_what_it_says(
    anna: TestClient, since: str
) -> None:
    answer = anna.get(f"{DEMO}/runs", params={"since": since})
    assert answer.status_code == 422
    (fault,) = answer.json()["faults"]
    assert fault["place"] == "query.since"
    assert "2000 and 2200" in fault["message"]


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_beyond_all_records_is_refused_for_what_it_says(anna: TestClient, day: str) -> None:
    answer = anna.get("/api/v1/mandates/m-demo/audit/verify", params={"day": day})
    assert answer.status_code == 422, answer.text


def test_a_graph_that_cannot_be_published_is_told_with_all_its_faults(anna: TestClient) -> None:
    nodes = [
        {"key": "start", "type": "trigger.manual"},
        *({"key": key, "type": "nothing.there"} for key in ("one", "two")),
    ]
    begun = anna.post(
        f"{DEMO}/workflows", json={"title": "Faulty", "graph": {**STRAIGHT, "nodes": nodes}}
    ).json()["workflow"]["id"]
    answer = anna.post(
        f"{DEMO}/workflows/{begun}/versions/1/publish", json={}, headers={"If-Match": "*"}
    )
    assert (answer.status_code, answer.json()["type"]) == (
        422,
        "urn:stellwerk:problem:invalid-graph",
    )
    assert {fault.get("node") for fault in answer.json()["faults"]} >= {"one", "two"}


def test_data_that_a_form_refuses_is_told_with_all_its_faults(
    anna: TestClient, things: Things
) -> None:
    path = f"{DEMO}/tasks/{things.task(FORM)}/decide"
    answer = anna.post(path, json={"port": "approved", "data": {"account": 1, "cost": "x"}})
    assert (answer.status_code, answer.json()["type"]) == (
        422,
        "urn:stellwerk:problem:form-refused",
    )
    assert len(answer.json()["faults"]) == 2


def test_a_path_that_knows_other_methods_says_which(anna: TestClient) -> None:
    allowed = {
        path: anna.request("TRACE", f"{DEMO}/workflows{path}").headers["Allow"]
        for path in ("", "/import", "/01kb2c3d4e5f6g7h8j9k0m1n2a")
    }
    assert allowed == {
        "": "GET, POST",
        "/import": "POST",
        "/01kb2c3d4e5f6g7h8j9k0m1n2a": "GET, PATCH",
    }


@dataclass(frozen=True)
class Record:
    """Something with a revision."""

    revision: int


class Shown(BaseModel):
    """How it is shown."""

    revision: int


def show(record: Record) -> Shown:
    return Shown(revision=record.revision)


def refuse(revision: int) -> Record:
    raise Conflict(f"not at revision {revision}")


def test_an_edit_that_someone_overtakes_between_reading_and_writing_is_outdated() -> None:
    read = iter([Record(3), Record(4)])
    with pytest.raises(Outdated) as raised:
        Match('"3"').edit_read(lambda: next(read), show, refuse)
    assert (raised.value.current, raised.value.versions["resource"]) == ('"4"', {"revision": 4})


def test_an_edit_that_the_state_forbids_is_a_conflict() -> None:
    with pytest.raises(Conflict, match="not at revision 3") as raised:
        Match('"3"').edit_read(lambda: Record(3), show, refuse)
    assert not isinstance(raised.value, Outdated)
