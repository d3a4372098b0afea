"""Ids of another mandate in bodies: refused with the words for ids that nobody has given out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from fastapi.testclient import TestClient

from stellwerk.bootstrap.things import KnownFiles
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import of_platform
from tests.isolation.things import MAILBOX, asking, made, rested, straight
from tests.isolation.walk import FOREIGN, quiet
from tests.isolation.world import HERE, MANDATE, NEIGHBOUR, NORD, THERE, World

NOBODYS = "0000-nobodys-0000"
NO_WORKFLOW = "1111-nobodys-1111"
BOX: JsonObject = {**MAILBOX, "label": FOREIGN}


def calling(workflow: str) -> JsonObject:
    """Return a graph that calls a workflow."""
    call: JsonObject = {"workflow": workflow}
    return {
        "title": "Caller",
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "call", "type": "flow.subworkflow", "parameters": call},
        ],
        "edges": [{"from": "start", "to": "call"}],
    }


@pytest.fixture(scope="module")
def foreign(tenants: World) -> Mapping[str, str]:
    """Ids of things of m-nord, by kind."""
    nora = tenants.client("u-nord-admin")
    graph = straight(FOREIGN)
    nodes = graph["nodes"]
    assert isinstance(nodes, list)
    nodes[0] = {"key": "start", "type": "trigger.called"}
    body: JsonObject = {"title": FOREIGN, "slug": "enzian", "graph": graph}
    begun = made(nora, f"{THERE}/workflows", body)["workflow"]
    assert isinstance(begun, dict)
    made(nora, f"{THERE}/workflows/{begun['id']}/versions/1/publish", {})
    made(nora, f"{THERE}/workflows/{begun['id']}/share")
    upload = {"file": ("enzian.txt", b"Enzian", "text/plain")}
    machine = made(nora, f"{NORD}/clients", {"name": FOREIGN})
    return {
        "workflow": str(begun["id"]),
        "slug": "enzian",
        "user": "u-nord-user",
        "machine": str(machine["id"]),
        "address": "nils@nordwind.example",
        "role": str(made(nora, f"{NORD}/roles", {"label": FOREIGN})["id"]),
        "role inside": str(made(nora, f"{THERE}/roles", {"label": FOREIGN})["id"]),
        "file": str(nora.post(f"{THERE}/files", files=upload).json()["id"]),
        "connection": str(made(nora, f"{THERE}/connections", BOX)["id"]),
        "instance": "i-nord",
        "run": str(made(nora, f"{THERE}/workflows/{begun['id']}/runs", {})["id"]),
    }


@pytest.fixture(scope="module")
def anna(tenants: World) -> TestClient:
    return tenants.client("u-demo")


def workflow_of(client: TestClient, graph: JsonObject | None = None) -> str:
    """Return a new workflow of m-demo."""
    body: JsonObject = {"title": "Bodies", "graph": graph or straight("Bodies")}
    begun = made(client, f"{HERE}/workflows", body)["workflow"]
    assert isinstance(begun, dict)
    return str(begun["id"])


def task_of(client: TestClient) -> str:
    """Return a new task of m-demo that waits for its administrator."""
    workflow = workflow_of(client, asking("Bodies", "user:u-demo"))
    made(client, f"{HERE}/workflows/{workflow}/versions/1/publish", {})
    run = made(client, f"{HERE}/workflows/{workflow}/runs", {})["id"]
    rested(client, f"{HERE}/runs/{run}", "paused")
    tasks = client.get(f"{HERE}/tasks", params={"all": True}).json()["items"]
    return next(str(task["id"]) for task in tasks if task["run"] == run)


Path = Callable[[TestClient], str]
Body = Callable[[str], JsonValue]
NAMED: dict[str, tuple[str, Path, Body, tuple[str, ...]]] = {
    "members of the mandate get a role": (
        "POST",
        lambda _: f"{MANDATE}/members",
        lambda name: {"who": "neu@muster.example", "roles": [name]},
        ("role", "role inside"),
    ),
    "a member's roles": (
        "PUT",
        lambda _: f"{MANDATE}/members/u-demo-viewer",
        lambda name: {"roles": [name]},
        ("role", "role inside"),
    ),
    "a machine gets a role": (
        "POST",
        lambda _: f"{MANDATE}/clients",
        lambda name: {"name": "M", "roles": [name]},
        ("role", "role inside"),
    ),
    "members of the instance get a role": (
        "POST",
        lambda _: f"{HERE}/members",
        lambda name: {"who": "u-demo-outsider", "roles": [name]},
        ("role", "role inside"),
    ),
    "roles of someone in the instance": (
        "PUT",
        lambda _: f"{HERE}/members/u-demo-viewer",
        lambda name: {"roles": [name]},
        ("role", "role inside"),
    ),
    "who joins the mandate by id": (
        "POST",
        lambda _: f"{MANDATE}/members",
        lambda name: {"who": name},
        ("user", "machine"),
    ),
    "who joins the instance": (
        "POST",
        lambda _: f"{HERE}/members",
        lambda name: {"who": name},
        ("user", "machine", "address"),
    ),
    "a workflow's new owner": (
        "POST",
        lambda anna: f"{HERE}/workflows/{workflow_of(anna)}/transfer",
        lambda name: {"owner": name},
        ("user", "machine"),
    ),
    "who is told of failures": (
        "PATCH",
        lambda anna: f"{HERE}/workflows/{workflow_of(anna)}",
        lambda name: {"notify": [f"user:{name}"]},
        ("user", "machine"),
    ),
    "to whom a task is handed": (
        "POST",
        lambda anna: f"{HERE}/tasks/{task_of(anna)}/delegate",
        lambda name: {"to": name},
        ("user", "machine"),
    ),
    "a run whose values are pinned": (
        "POST",
        lambda anna: f"{HERE}/workflows/{workflow_of(anna)}/runs",
        lambda name: {"mode": "test", "from_node": "start", "pinned_from": name},
        ("run",),
    ),
    "what is copied": (
        "POST",
        lambda _: f"{HERE}/shared/{NO_WORKFLOW}/copy",
        lambda name: {"instance": name},
        ("instance",),
    ),
    "access that is explained": (
        "GET",
        lambda _: f"{MANDATE}/access/explain?context=UI&item=ui.x&verb=view",
        lambda name: {"user": name},
        ("user", "machine"),
    ),
    "access that is explained in an instance": (
        "GET",
        lambda _: f"{MANDATE}/access/explain?context=UI&item=ui.x&verb=view&user=u-demo",
        lambda name: {"instance": name},
        ("instance",),
    ),
}
CASES = [(what, kind) for what, (_, _, _, kinds) in NAMED.items() for kind in kinds]
GRAPHS: dict[str, tuple[Callable[[str], JsonObject], str]] = {
    "the workflow that is called": (calling, "workflow"),
    "the workflow that is called, by short name": (calling, "slug"),
    "who is asked": (lambda name: asking("Bodies", f"user:{name}"), "user"),
    "who is asked, by bare id": (lambda name: asking("Bodies", name), "user"),
    "which machine is asked": (lambda name: asking("Bodies", f"user:{name}"), "machine"),
}


@pytest.mark.parametrize(("what", "kind"), CASES)
def test_what_a_body_names_is_of_ones_own_place(
    tenants: World, anna: TestClient, foreign: Mapping[str, str], what: str, kind: str
) -> None:
    method, path_of, body, _ = NAMED[what]
    path, said = path_of(anna), set()
    quiet(tenants)
    before = tenants.state()
    unknown = "niemand@nirgends.example" if kind == "address" else NOBODYS
    for name in (foreign[kind], unknown):
        given = body(name)
        if method == "GET":
            assert isinstance(given, dict)
            query = "&".join(f"{key}={value}" for key, value in given.items())
            answer = anna.get(f"{path}&{query}")
        else:
            answer = anna.request(method, path, json=given)
        assert answer.status_code in {404, 422}, answer.text
        said.add(_told(answer.status_code, answer.text, name))
    assert len(said) == 1, said
    assert tenants.state() == before


@pytest.mark.parametrize("what", GRAPHS)
def test_what_a_graph_names_is_missing_when_it_is_saved_and_published(
    tenants: World, anna: TestClient, foreign: Mapping[str, str], what: str
) -> None:
    graph_of, kind = GRAPHS[what]
    told = [_lives(anna, graph_of, name) for name in (foreign[kind], NOBODYS)]
    assert told[0] == told[1]
    for stage, text in told[0].items():
        assert "or it is not open to you" in text, stage


def _lives(anna: TestClient, graph_of: Callable[[str], JsonObject], name: str) -> dict[str, str]:
    """Return what was said of a graph at each stage of its life."""
    graph = graph_of(name)
    workflow = workflow_of(anna)
    at = f"{HERE}/workflows/{workflow}"
    carried: JsonObject = {"number": 1, "graph": graph}
    document: JsonObject = {"title": "Carried", "slug": "carried", "versions": [carried]}
    begun = anna.post(f"{HERE}/workflows", json={"title": "Begun", "graph": graph}).json()
    stages = {
        "validated": anna.post(f"{HERE}/validate", json=graph).json()["faults"],
        "compiled": anna.post(f"{HERE}/compile", json=graph).json()["faults"],
        "begun": begun["faults"],
        "saved": anna.put(f"{at}/drafts/1", json=graph).json()["faults"],
        "imported": anna.post(f"{HERE}/workflows/import", json=document).json()["faults"],
    }
    refused = [
        anna.post(f"{at}/versions/1/publish", json={}),
        anna.post(f"{at}/runs", json={"mode": "test"}),
    ]
    assert [answer.status_code for answer in refused] == [422, 422]
    stages |= {"published": refused[0].json()["faults"], "tested": refused[1].json()["faults"]}
    return {stage: json.dumps(said).replace(name, "ID") for stage, said in stages.items()}


def test_who_was_asked_and_has_left_is_missed_when_a_run_starts(anna: TestClient) -> None:
    body: JsonObject = {"who": "geht@muster.example", "name": "G. Eht"}
    leaver = str(made(anna, f"{MANDATE}/members", body)["user"])
    workflow = workflow_of(anna, asking("Bodies", f"user:{leaver}"))
    made(anna, f"{HERE}/workflows/{workflow}/versions/1/publish", {})
    assert anna.delete(f"{MANDATE}/members/{leaver}").status_code == 204
    started = anna.post(f"{HERE}/workflows/{workflow}/runs", json={})
    assert started.status_code == 422, started.text
    assert "or it is not open to you" in started.json()["faults"][0]["message"]


def test_a_workflow_that_is_named_only_at_run_time_is_looked_up_in_ones_own_instance(
    anna: TestClient, foreign: Mapping[str, str]
) -> None:
    workflow = workflow_of(anna, calling("{{ $trigger.which }}"))
    made(anna, f"{HERE}/workflows/{workflow}/versions/1/publish", {})
    said = set()
    for name in (foreign["workflow"], foreign["slug"], NOBODYS):
        run = made(anna, f"{HERE}/workflows/{workflow}/runs", {"input": {"which": name}})["id"]
        rested(anna, f"{HERE}/runs/{run}", "failed")
        error = anna.get(f"{HERE}/runs/{run}").json()["error"]
        said.add(json.dumps({"type": error["type"], "message": error["message"]}).replace(name, ""))
    assert len(said) == 1, said


def test_lists_by_foreign_ids_are_empty(anna: TestClient, foreign: Mapping[str, str]) -> None:
    for query in ({"workflow": foreign["workflow"]}, {"user": foreign["user"]}):
        assert anna.get(f"{HERE}/runs", params=query).json()["items"] == []
    counts = anna.get(f"{HERE}/runs/counts", params={"workflow": foreign["workflow"]}).json()
    assert counts["total"] == 0
    records = anna.get(f"{MANDATE}/audit", params={"object": f"workflow:{foreign['workflow']}"})
    assert records.json()["items"] == []


def test_a_shared_workflow_is_shared_within_its_mandate(
    anna: TestClient, foreign: Mapping[str, str]
) -> None:
    assert FOREIGN not in anna.get(f"{HERE}/shared").text
    for instance in ("i-nord", "i-demo", NOBODYS):
        path = f"{HERE}/shared/{foreign['workflow']}/copy"
        assert anna.post(path, json={"instance": instance}).status_code == 404


def test_what_another_instance_does_not_share_is_unknown(anna: TestClient) -> None:
    said = set()
    for workflow in (workflow_of(anna), NOBODYS):
        path = f"{NEIGHBOUR}/shared/{workflow}/copy"
        answer = anna.post(path, json={"instance": "i-demo"})
        said.add(_told(answer.status_code, answer.text, workflow))
    assert len(said) == 1, said


def test_a_file_is_known_in_its_instance_alone(tenants: World, foreign: Mapping[str, str]) -> None:
    files = tenants.services.running.press.things["file"]
    assert isinstance(files, KnownFiles)
    nord = of_platform(MandateId("m-nord")).at(InstanceId("i-nord"))
    demo = of_platform(MandateId("m-demo")).at(InstanceId("i-demo"))
    assert files.known(nord, foreign["file"])
    assert not files.known(demo, foreign["file"])


@pytest.mark.parametrize("type_", ["trigger.mail", "email.check_mail"])
def test_a_connection_of_another_is_as_unknown_as_none(
    tenants: World, anna: TestClient, foreign: Mapping[str, str], type_: str
) -> None:
    """Of another mandate, and of another person here, whom not even an administrator acts for."""
    bens = str(made(tenants.client("u-demo-user"), f"{HERE}/connections", BOX)["id"])
    own = str(made(anna, f"{HERE}/connections", BOX)["id"])
    said = set()
    for name in (foreign["connection"], bens, NOBODYS):
        graph = reading(type_, name)
        checked = made(anna, f"{HERE}/validate", graph)
        assert "resource_missing" in json.dumps(checked)
        said.add(json.dumps(checked).replace(name, "ID"))
        workflow = workflow_of(anna, graph)
        refused = anna.post(f"{HERE}/workflows/{workflow}/versions/1/publish", json={})
        assert refused.status_code == 422, refused.text
    assert len(said) == 1, said
    assert "resource_missing" not in json.dumps(made(anna, f"{HERE}/validate", reading(type_, own)))


def reading(type_: str, connection: str) -> JsonObject:
    """Return a graph with a node that reads a mailbox."""
    node: JsonObject = {"key": "mail", "type": type_, "parameters": {"connection": connection}}
    if type_ == "trigger.mail":
        return {"title": "Mail", "nodes": [node], "edges": []}
    start: JsonObject = {"key": "start", "type": "trigger.manual"}
    edge: JsonObject = {"from": "start", "to": "mail"}
    return {"title": "Mail", "nodes": [start, node], "edges": [edge]}


def _told(status: int, text: str, name: str) -> str:
    problem = json.loads(text)
    said = json.dumps({**problem, "instance": "", "request_id": "", "status": status})
    return said.replace(name, "ID")
