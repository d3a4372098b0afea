"""What a graph may name where it is published."""

from __future__ import annotations

from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.tenancy.scope import of_run, seeded
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.resources import KnownResources
from tests.fakes.clock import START
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeVersions

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
    elsewhere = KnownResources(versions, of_run("m-other", "i", "u"), itself="invoice")
    assert elsewhere.kind("workflow", "leave") is None
    assert elsewhere.kind("workflow", "w1") is None
