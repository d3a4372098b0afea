"""Workflows that instances of a mandate share, and copies of them."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import NotFound
from stellwerk.workflows.model import Origin
from stellwerk.workflows.settings import Changes
from tests.workflows.desk import ABROAD, ANNA, INSTANCE, NEXT_DOOR, Desk, drawn


def test_what_is_shared_is_seen_next_door_and_not_abroad(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    assert desk.service.shared(NEXT_DOOR).items == []
    shared = desk.service.share(ANNA, workflow.id, workflow.revision)
    [found] = desk.service.shared(NEXT_DOOR).items
    assert (found.instance, found.workflow) == (INSTANCE, shared)
    assert desk.service.shared(ABROAD).items == []
    desk.service.unshare(ANNA, workflow.id, shared.revision)
    assert desk.service.shared(NEXT_DOOR).items == []
    acts = [action for action, _, _ in desk.acts()]
    assert acts == ["workflow.create", "workflow.share", "workflow.unshare"]


def test_a_copy_is_the_copiers_own_and_unpublished(desk: Desk) -> None:
    workflow, _ = desk.service.publish(ANNA, drawn(1, title="Invoices", file="f-1"))
    changes = Changes(tags=("finance",), vars={"limit": 5})
    workflow = desk.service.update(ANNA, workflow.id, None, changes)
    desk.service.new_draft(ANNA, workflow.id)
    desk.service.share(ANNA, workflow.id)
    copy, draft, faults = desk.service.copy(NEXT_DOOR, INSTANCE, workflow.id)
    assert copy.origin == Origin(instance=INSTANCE, workflow=workflow.id, version=1)
    assert (copy.title, copy.tags, copy.vars) == ("Invoices", ("finance",), {"limit": 5})
    assert (copy.published, copy.shared, copy.latest) == (None, False, 1)
    assert desk.service.graph(NEXT_DOOR, draft) == drawn(1, title="Invoices", file="f-1")
    assert [fault.parameter for fault in faults] == ["names.file"]
    assert desk.service.get(NEXT_DOOR, copy.id) == copy
    with pytest.raises(NotFound):
        desk.service.get(ANNA, copy.id)


def test_what_was_never_published_is_copied_as_it_is(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices", graph=drawn(3))
    desk.service.share(ANNA, workflow.id)
    copy, draft, _ = desk.service.copy(ANNA, INSTANCE, workflow.id)
    assert copy.slug == "invoices-2"
    assert desk.service.graph(ANNA, draft) == drawn(3)


def test_what_is_not_shared_is_not_copied(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    with pytest.raises(NotFound, match="no shared workflow"):
        desk.service.copy(NEXT_DOOR, INSTANCE, workflow.id)
    desk.service.share(ANNA, workflow.id)
    with pytest.raises(NotFound):
        desk.service.copy(ABROAD, INSTANCE, workflow.id)
    assert desk.service.list(ABROAD).items == []
