from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from tests.contracts.records import SCOPE, STRANGERS, WORKFLOW, version, workflow
from tests.contracts.stores import Stores


def published(stores: Stores) -> tuple[Workflow, Version]:
    created = stores.versions.create(SCOPE, workflow())
    added = stores.versions.add(SCOPE, created, version())
    named = stores.versions.publish(SCOPE, *added, None)
    return named, stores.versions.get(SCOPE, WORKFLOW, 1)


def test_a_workflow_is_found_by_id_and_by_slug(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    assert created.revision == 1
    assert stores.versions.workflow(SCOPE, WORKFLOW) == created
    assert stores.versions.find(SCOPE, "invoices") == created
    assert stores.versions.find(SCOPE, "unknown") is None
    assert stores.versions.find(SCOPE, "") is None


def test_a_slug_is_taken_once(stores: Stores) -> None:
    stores.versions.create(SCOPE, workflow())
    with pytest.raises(Conflict, match="invoices"):
        stores.versions.create(SCOPE, workflow().model_copy(update={"id": "w-second"}))
    with pytest.raises(NotFound):
        stores.versions.workflow(SCOPE, WorkflowId("w-second"))


def test_workflows_are_listed_by_slug_in_pages(stores: Stores) -> None:
    for slug in ("pears", "apples", "figs", "dates", "nuts"):
        stores.versions.create(SCOPE, workflow(slug))
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = stores.versions.workflows(SCOPE, cursor=cursor, limit=2)
        found += [item.slug for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert found == ["apples", "dates", "figs", "nuts", "pears"]


def test_an_added_version_is_the_latest(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    named, added = stores.versions.add(SCOPE, created, version())
    assert (named.latest, named.published, named.revision) == (1, None, 2)
    assert added == version().model_copy(update={"revision": 1})
    assert stores.versions.workflow(SCOPE, WORKFLOW) == named
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == added


def test_versions_are_listed_newest_first(stores: Stores) -> None:
    named = stores.versions.create(SCOPE, workflow())
    for number in range(1, 13):
        named, _ = stores.versions.add(SCOPE, named, version(number))
    found = stores.versions.versions(SCOPE, WORKFLOW)
    assert [item.number for item in found] == list(range(12, 0, -1))
    assert list(stores.versions.versions(SCOPE, WorkflowId("w-none"))) == []


def test_nothing_is_added_to_a_workflow_that_has_changed(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    stores.versions.add(SCOPE, created, version(1))
    with pytest.raises(Conflict):
        stores.versions.add(SCOPE, created, version(2))
    with pytest.raises(NotFound):
        stores.versions.get(SCOPE, WORKFLOW, 2)


def test_a_version_number_is_taken_once(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    named, added = stores.versions.add(SCOPE, created, version(1))
    with pytest.raises(Conflict):
        stores.versions.add(SCOPE, named, version(1))
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == added
    assert stores.versions.workflow(SCOPE, WORKFLOW) == named


def test_publishing_archives_the_version_before(stores: Stores) -> None:
    named, first = published(stores)
    assert (named.published, first.status) == (1, VersionStatus.PUBLISHED)
    named, second = stores.versions.add(SCOPE, named, version(2))
    named = stores.versions.publish(SCOPE, named, second, first)
    assert stores.versions.workflow(SCOPE, WORKFLOW) == named
    assert (named.published, named.latest) == (2, 2)
    statuses = [item.status for item in stores.versions.versions(SCOPE, WORKFLOW)]
    assert statuses == [VersionStatus.PUBLISHED, VersionStatus.ARCHIVED]


def test_publishing_changes_all_or_nothing(stores: Stores) -> None:
    named, first = published(stores)
    named, second = stores.versions.add(SCOPE, named, version(2))
    stale = first.model_copy(update={"revision": 1})
    with pytest.raises(Conflict):
        stores.versions.publish(SCOPE, named, second, stale)
    assert stores.versions.workflow(SCOPE, WORKFLOW) == named
    assert stores.versions.get(SCOPE, WORKFLOW, 2) == second
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == first


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_workflows(stores: Stores, stranger: Scope) -> None:
    named, first = published(stores)
    with pytest.raises(NotFound):
        stores.versions.workflow(stranger, WORKFLOW)
    with pytest.raises(NotFound):
        stores.versions.get(stranger, WORKFLOW, 1)
    assert stores.versions.find(stranger, "invoices") is None
    assert stores.versions.workflows(stranger).items == []
    assert list(stores.versions.versions(stranger, WORKFLOW)) == []
    with pytest.raises(Conflict):
        stores.versions.add(stranger, named, version(2))
    with pytest.raises(Conflict):
        stores.versions.publish(stranger, named, first, None)
    assert stores.versions.create(stranger, workflow()).revision == 1
    assert stores.versions.workflow(SCOPE, WORKFLOW) == named
