"""What a graph may name where it is published."""

from __future__ import annotations

from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.tenancy.scope import of_run, seeded
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.resources import KnownResources, unknown
from tests.fakes.clock import START
from tests.fakes.compiler import FakeThings
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeVersions
from tests.workflows.catalogue import FakeCatalogue, FakeResources
from tests.workflows.graphs import graph, node, start

SCOPE = seeded()


def test_a_workflow_is_known_by_slug_and_by_id_and_nothing_foreign_is() -> None:
    versions = FakeVersions(Memory())
    workflow = Workflow(
        id=WorkflowId("w1"), title="Leave", slug="leave", created_by=UserId("u"), created=START
    )
    versions.create(SCOPE, workflow)
    here = KnownResources(versions, SCOPE, itself="invoice")
    assert [here.kind("workflow", name) for name in ("leave", "w1", "invoice")] == ["workflow"] * 3
    assert here.kind("workflow", "w2") is None
    assert here.kind("connection", "w2") is None
    assert here.kind("user", "u-whoever") == "user"
    elsewhere = KnownResources(versions, of_run("m-other", "i", "u"), itself="invoice")
    assert elsewhere.kind("workflow", "leave") is None
    assert elsewhere.kind("workflow", "w1") is None


def test_things_of_other_kinds_are_known_by_whoever_keeps_them() -> None:
    things = {"user": FakeThings((SCOPE, "u-anna")), "file": FakeThings((SCOPE, "f-1"))}
    here = KnownResources(FakeVersions(Memory()), SCOPE, things=things)
    assert here.kind("user", "u-anna") == "user"
    assert here.kind("user", "u-zoe") is None
    assert here.kind("file", "f-1") == "file"
    elsewhere = of_run("m-other", "i", "u")
    there = KnownResources(FakeVersions(Memory()), elsewhere, things=things)
    assert there.kind("file", "f-1") is None


def test_what_a_graph_names_are_things_and_the_users_who_are_asked() -> None:
    nodes = [
        start(),
        node("call", "flow.subworkflow", {"workflow": "leave"}),
        node("later", "flow.subworkflow", {"workflow": "{{ $input }}"}),
        node("ask", "input.approval", {"assignees": ["user:u-anna", "role:finance"]}),
        node("who", "input.approval", {"assignees": ["user:{{ $input }}"]}),
        node("text", "data.set", {"value": "user:u-zoe"}),
    ]
    found = GraphCompiler().references(graph(nodes), FakeCatalogue())
    assert {(each.node, each.parameter, each.kind, each.name) for each in found} == {
        ("call", "workflow", "workflow", "leave"),
        ("ask", "assignees[0]", "user", "u-anna"),
    }
    missing = [*unknown(found, FakeResources())]
    assert {(str(fault.code), fault.node) for fault in missing} == {
        ("resource_missing", "call"),
        ("resource_missing", "ask"),
    }
