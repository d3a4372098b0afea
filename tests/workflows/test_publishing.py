"""Moving versions from state to state, one after another; `contracts` has publishing graphs."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.records import Stale
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from stellwerk.workflows.model import Reference, VersionStatus
from tests.workflows.desk import ANNA, Desk, drawn

DRAFT, PUBLISHED, ARCHIVED = VersionStatus


def states(desk: Desk, workflow: WorkflowId) -> list[str]:
    """Return the states of all versions, the oldest first."""
    page = desk.service.versions(ANNA, workflow)
    return [str(version.status) for version in reversed(page.items)]


def test_a_draft_is_published_with_its_note_and_machine(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices", graph=drawn(user="u-ben"))
    moment = desk.clock.advance(hours=1)
    moved, published = desk.service.publish_version(
        ANNA, workflow.id, 1, draft.revision, note=" For the auditors. "
    )
    assert moved == desk.service.get(ANNA, workflow.id)
    assert published == desk.service.version(ANNA, workflow.id, 1)
    assert (moved.published, published.status) == (1, PUBLISHED)
    assert published.note == "For the auditors."
    assert published.published_at == published.first_published == moment
    assert published.published_by == "u-anna"
    assert published.names == (
        Reference(node="work", parameter="names.user", kind="user", name="u-ben"),
    )
    [name] = desk.machines.definitions
    assert published.machines[""].endswith(name)
    assert name.startswith("m-one-invoices-v1-")
    assert desk.acts()[-1] == ("version.publish", f"version:{workflow.id}/1", "done")


def test_what_is_published_can_be_published_only_as_it_was_seen(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices", graph=drawn())
    desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(2))
    with pytest.raises(Stale):
        desk.service.publish_version(ANNA, workflow.id, 1, draft.revision)
    assert states(desk, workflow.id) == ["draft"]


def test_a_faulty_draft_is_not_published_and_all_faults_are_told(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices", graph=drawn(file="f-2"))
    desk.compiler.faults = [Fault(Code.CYCLE, "A circle.")]
    with pytest.raises(InvalidGraph) as refused:
        desk.service.publish_version(ANNA, workflow.id, 1)
    assert len(refused.value.faults) == 2
    assert states(desk, workflow.id) == ["draft"]
    assert desk.machines.definitions == {}
    assert desk.acts()[-1] == ("version.publish", f"version:{workflow.id}/1", "failed")


def test_publishing_another_archives_the_one_before_and_marks_its_machines(desk: Desk) -> None:
    workflow, first = desk.service.publish(ANNA, drawn(1), slug="invoices")
    draft = desk.service.new_draft(ANNA, workflow.id)
    desk.service.save_draft(ANNA, workflow.id, draft.number, None, drawn(2))
    moment = desk.clock.advance(hours=1)
    moved, second = desk.service.publish_version(ANNA, workflow.id, draft.number)
    assert states(desk, workflow.id) == ["archived", "published"]
    old = desk.service.version(ANNA, workflow.id, 1)
    assert (moved.published, second.retiring, old.retiring) == (2, None, moment)
    assert old.machines == first.machines
    assert len(desk.machines.definitions) == 2


def test_unpublishing_makes_it_a_draft_that_stays_as_it_is(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(1), slug="invoices")
    moved, draft = desk.service.unpublish(ANNA, workflow.id, 1, version.revision)
    assert (moved.published, draft.status, draft.fresh) == (None, DRAFT, False)
    assert draft == desk.service.version(ANNA, workflow.id, 1)
    with pytest.raises(Conflict, match="does not allow 'unpublish'"):
        desk.service.unpublish(ANNA, workflow.id, 1)
    back, again = desk.service.publish_version(ANNA, workflow.id, 1)
    assert (back.published, again.status, again.retiring) == (1, PUBLISHED, None)
    assert again.first_published == version.first_published
    assert again.machines == version.machines


def test_an_archived_version_is_published_again_and_only_so(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(1), slug="invoices")
    with pytest.raises(Stale):
        desk.service.archive(ANNA, workflow.id, 1, version.revision - 1)
    moved, archived = desk.service.archive(ANNA, workflow.id, 1, version.revision)
    assert (moved.published, archived.status) == (None, ARCHIVED)
    with pytest.raises(Conflict, match="does not allow 'publish'"):
        desk.service.publish_version(ANNA, workflow.id, 1)
    moved, again = desk.service.republish(ANNA, workflow.id, 1, archived.revision)
    assert (moved.published, again.status) == (1, PUBLISHED)
    with pytest.raises(Conflict, match="does not allow 'republish'"):
        desk.service.republish(ANNA, workflow.id, 1)


def test_machines_that_are_gone_are_made_anew_under_other_names(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(1), slug="invoices")
    _, archived = desk.service.archive(ANNA, workflow.id, 1)
    [definition] = desk.machines.definitions.values()
    gone = archived.model_copy(update={"machines": {}, "retiring": None, "rebuilt": 1})
    desk.stores.versions.save(ANNA, gone)
    desk.machines.delete(ANNA, version.machines[""])
    _, again = desk.service.republish(ANNA, workflow.id, 1)
    assert again.machines[""] != version.machines[""]
    assert [*desk.machines.definitions.values()] == [definition]


def test_going_back_publishes_an_earlier_version_as_it_was(desk: Desk) -> None:
    workflow, first = desk.service.publish(ANNA, drawn(1), slug="invoices")
    desk.service.publish(ANNA, drawn(2), slug="invoices")
    moved, back = desk.service.roll_back(ANNA, workflow.id, 1)
    assert (moved.published, back.graph_hash, back.note) == (1, first.graph_hash, first.note)
    assert states(desk, workflow.id) == ["published", "archived"]
    with pytest.raises(Conflict, match="is the published one already"):
        desk.service.roll_back(ANNA, workflow.id, 1)
    desk.service.unpublish(ANNA, workflow.id, 1)
    assert desk.service.roll_back(ANNA, workflow.id, 1)[0].published == 1
    draft = desk.service.new_draft(ANNA, workflow.id)
    with pytest.raises(Conflict, match="never published"):
        desk.service.roll_back(ANNA, workflow.id, draft.number)


def test_what_a_version_names_must_still_be_there_when_it_is_published_again(desk: Desk) -> None:
    desk.service.create(ANNA, "Other", "other")
    workflow, _ = desk.service.publish(ANNA, drawn(file="f-1"), slug="invoices")
    desk.service.archive(ANNA, workflow.id, 1)
    desk.compiler.faults = [Fault(Code.RESOURCE_MISSING, "The file is gone.")]
    with pytest.raises(InvalidGraph, match="The file is gone"):
        desk.service.republish(ANNA, workflow.id, 1)


def test_of_two_who_publish_the_same_version_at_once_one_is_told(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices", graph=drawn())
    desk.service.publish_version(ANNA, workflow.id, 1)
    with pytest.raises(Conflict, match="revision 1 is not what is stored"):
        desk.service._enter(ANNA, workflow, draft)
    assert states(desk, workflow.id) == ["published"]


def test_without_audit_nothing_happens(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices", graph=drawn())
    desk.log.down = True
    for act in (
        lambda: desk.service.publish_version(ANNA, workflow.id, 1),
        lambda: desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(2)),
        lambda: desk.service.deactivate(ANNA, workflow.id),
    ):
        with pytest.raises(ServiceUnavailable, match="cannot be recorded"):
            act()
    assert desk.service.get(ANNA, workflow.id) == workflow
    assert states(desk, workflow.id) == ["draft"]


def test_there_is_no_version_of_a_workflow_that_does_not_exist(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.service.publish_version(ANNA, WorkflowId("w-none"), 1)
    assert desk.acts() == []
