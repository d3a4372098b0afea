"""Bodies as people send them who forget something."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

CLIENTS = "/api/v1/mandates/m-demo/clients"


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain"])
def test_json_that_is_not_said_to_be_json_is_refused_by_name(anna: TestClient, kind: str) -> None:
    answer = anna.post(CLIENTS, content='{"name": "x"}', headers={"Content-Type": kind})
    assert answer.status_code == 400
    told = answer.json()
    assert told["type"] == "urn:stellwerk:problem:malformed"
    assert f"'{kind}'" in told["detail"]
    assert "Content-Type: application/json" in told["remedy"]


def test_a_body_that_is_missing_or_is_another_json_value_is_told_as_such(anna: TestClient) -> None:
    assert "body: Field required" in anna.post(CLIENTS).json()["detail"]
    assert "Content-Type" not in anna.post(CLIENTS, json=[1]).json()["remedy"]
    answer = anna.post(CLIENTS, content="{", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["faults"][0]["message"]) == (400, "JSON decode error")
