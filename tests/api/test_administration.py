from __future__ import annotations

from fastapi.testclient import TestClient

from tests.api.world import World

MANDATE = "/api/v1/mandates/m-demo"


def test_everyone_sees_where_he_belongs(one_world: World, anna: TestClient) -> None:
    me = anna.get("/api/v1/me").json()
    assert me["user"]["id"] == "u-demo"
    (mandate,) = me["mandates"]
    assert {one["id"] for one in mandate["instances"]} == {"i-demo", "i-demo-auto"}
    assert "ui.feature.graphicalEditor.editor" in mandate["instances"][0]["ui"]
    outsider = one_world.someone("u-demo-outsider").get("/api/v1/me").json()
    assert outsider["mandates"][0]["instances"] == []


def test_a_profile_is_changed_under_its_tag(ben: TestClient) -> None:
    tag = ben.get("/api/v1/me").headers["ETag"]
    changed = ben.patch("/api/v1/me", json={"language": "en"}, headers={"If-Match": tag})
    assert changed.status_code == 200, changed.text
    assert changed.json()["language"] == "en"
    stale = ben.patch("/api/v1/me", json={"language": "de"}, headers={"If-Match": tag})
    assert stale.status_code == 412
    assert stale.json()["versions"]["current"] == changed.headers["ETag"]
    assert stale.json()["versions"]["resource"]["language"] == "en"


def test_a_mandate_is_created_with_an_instance_a_role_and_a_member(one_world: World) -> None:
    root = one_world.someone("u-root")
    made = root.post("/api/v1/mandates", json={"label": "Neu AG", "admin": "u-demo"})
    assert made.status_code == 201, made.text
    anna, there = one_world.someone("u-demo"), made.headers["Location"]
    instance = anna.post(
        f"{there}/instances", json={"feature": "graphicalEditor", "label": "Einkauf"}
    )
    assert instance.status_code == 201, instance.text
    inside = instance.headers["Location"]
    assert anna.get(f"{inside}/roles").status_code == 200
    rule = {"context": "DATA", "item": "data.feature.graphicalEditor.runs", "read": "instance"}
    role = anna.post(f"{inside}/roles", json={"label": "readers", "rules": [rule]})
    assert role.status_code == 201, role.text
    invited = anna.post(f"{there}/members", json={"who": "eva@neu.example", "name": "Eva"})
    assert invited.status_code == 201, invited.text
    let_in = anna.post(
        f"{inside}/members",
        json={"who": invited.json()["user"], "roles": [role.json()["id"]]},
    )
    assert let_in.status_code == 201, let_in.text
    explained = anna.get(
        f"{there}/access/explain",
        params={
            "user": invited.json()["user"],
            "context": "DATA",
            "item": "data.feature.graphicalEditor.runs",
            "verb": "read",
            "instance": instance.json()["id"],
        },
    )
    assert explained.json()["allowed"] is True, explained.text
    again = anna.post(f"{inside}/sync-ui-objects")
    assert again.json() == {"items": []}


def test_a_machines_secret_is_shown_once(anna: TestClient) -> None:
    key = {"Idempotency-Key": "machine-1"}
    made = anna.post(f"{MANDATE}/clients", json={"name": "Import"}, headers=key)
    assert made.status_code == 201, made.text
    assert len(made.json()["secret"]) > 30
    again = anna.post(f"{MANDATE}/clients", json={"name": "Import"}, headers=key)
    assert again.json() == {**made.json(), "secret": None}
    client = made.json()["id"]
    rotated = anna.post(f"{MANDATE}/clients/{client}/rotate").json()
    assert rotated["secret"] not in {None, made.json()["secret"]}
    assert anna.delete(f"{MANDATE}/clients/{client}").status_code == 204
    listed = anna.get(f"{MANDATE}/clients").json()["items"]
    assert client not in {one["id"] for one in listed if one["active"]}


def test_the_audit_tells_and_holds(anna: TestClient) -> None:
    records = anna.get(f"{MANDATE}/audit", params={"limit": 5}).json()["items"]
    assert len(records) == 5
    lines = anna.get(f"{MANDATE}/audit/export")
    assert lines.headers["content-type"] == "application/jsonl"
    assert len(lines.text.splitlines()) >= 5
    assert anna.get(f"{MANDATE}/audit/verify").json()["faults"] == []
