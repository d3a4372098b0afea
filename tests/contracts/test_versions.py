from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.ports import Wanted
from tests.contracts.records import SCOPE, START, STRANGERS, WORKFLOW, version, workflow
from tests.contracts.stores import Stores


def entered(record: Version, moment: int = 1) -> Version:
    """Return the version as published."""
    at = START + timedelta(hours=moment)
    changes = {"status": VersionStatus.PUBLISHED, "first_published": at, "published_at": at}
    return record.model_copy(update={**changes, "retiring": None})


def left(record: Version) -> Version:
    """Return the version as archived."""
    changes = {"status": VersionStatus.ARCHIVED, "retiring": START + timedelta(hours=9)}
    return record.model_copy(update=changes)


def named(record: Workflow, number: int | None) -> Workflow:
    return record.model_copy(update={"published": number})


def published(stores: Stores) -> tuple[Workflow, Version]:
    created = stores.versions.create(SCOPE, workflow())
    changed, added = stores.versions.add(SCOPE, created, version())
    moved = stores.versions.move(SCOPE, named(changed, 1), entered(added))
    return moved, stores.versions.get(SCOPE, WORKFLOW, 1)


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


ALL = Wanted()


def listed(
    stores: Stores, wanted: Wanted = ALL, *, scope: Scope = SCOPE, limit: int = 2
) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = stores.versions.workflows(scope, wanted, cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found += [item.slug for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


def test_workflows_are_listed_by_slug_in_pages(stores: Stores) -> None:
    for slug in ("pears", "apples", "figs", "dates", "nuts"):
        stores.versions.create(SCOPE, workflow(slug))
    assert listed(stores) == ["apples", "dates", "figs", "nuts", "pears"]
    with pytest.raises(BadInput):
        stores.versions.workflows(SCOPE, ALL, cursor="nonsense!", limit=2)


BEN = UserId("u-ben")


@pytest.fixture
def shelf(stores: Stores) -> Stores:
    """Six workflows of two people, some tagged, one asleep."""
    for slug, title, owner, tags, active in (
        ("a-invoices", "Rechnung prüfen", SCOPE.user, ("finance", "daily"), True),
        ("b-orders", "Bestellung", SCOPE.user, ("sales",), True),
        ("c-leave", "Urlaub", BEN, ("staff", "daily"), True),
        ("d-reminders", "Mahnung zur Rechnung", BEN, ("finance",), False),
        ("e-report", "Überfällige Rechnungen", SCOPE.user, ("finance",), True),
        ("f-other", "Anderes", BEN, (), True),
    ):
        changes = {"title": title, "created_by": owner, "tags": tags, "active": active}
        stores.versions.create(SCOPE, workflow(slug).model_copy(update=changes))
    return stores


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ALL, "abcdef"),
        (Wanted(owner=BEN), "cdf"),
        (Wanted(tag="finance"), "ade"),
        (Wanted(tag="finance", owner=SCOPE.user), "ae"),
        (Wanted(tag="finance", active=True), "ae"),
        (Wanted(tag="unknown"), ""),
        (Wanted(tag="FINANCE"), ""),
        (Wanted(active=False), "d"),
        (Wanted(words=("rech",)), "ade"),
        (Wanted(words=("rech",), owner=BEN), "d"),
        (Wanted(words=("rechnungen",)), "e"),
        (Wanted(words=("rech", "pruef")), "a"),
        (Wanted(words=("ueberf",)), "e"),
        (Wanted(words=("orders",)), "b"),
        (Wanted(words=("echnung",)), ""),
        (Wanted(words=("rech",), tag="finance", active=False, owner=BEN), "d"),
    ],
)
def test_workflows_are_listed_as_wanted(shelf: Stores, wanted: Wanted, expected: str) -> None:
    assert [slug[0] for slug in listed(shelf, wanted)] == sorted(expected)
    assert [slug[0] for slug in listed(shelf, wanted, limit=50)] == sorted(expected)
    for stranger in STRANGERS:
        assert listed(shelf, wanted, scope=stranger) == []


def test_a_changed_workflow_is_found_where_it_is_now_and_no_longer_where_it_was(
    stores: Stores,
) -> None:
    before = workflow().model_copy(update={"tags": ("old", "kept"), "shared": True})
    created = stores.versions.create(SCOPE, before)
    changes = {"title": "Neuer Titel", "created_by": BEN, "tags": ("kept", "new"), "shared": False}
    changed = stores.versions.change(SCOPE, created, created.model_copy(update=changes))
    assert changed == stores.versions.workflow(SCOPE, WORKFLOW)
    assert changed.revision == 2
    for wanted in (ALL, Wanted(tag="kept"), Wanted(tag="new", owner=BEN)):
        assert listed(stores, wanted) == ["invoices"]
    assert listed(stores, Wanted(words=("titel",), owner=BEN)) == ["invoices"]
    for gone in (Wanted(owner=SCOPE.user), Wanted(tag="old"), Wanted(tag="kept", owner=SCOPE.user)):
        assert listed(stores, gone) == []
    assert stores.versions.shared(SCOPE, cursor=None, limit=9).items == []
    with pytest.raises(Conflict):
        stores.versions.change(SCOPE, created, created)


def test_what_is_shared_is_listed_in_the_whole_mandate_and_nowhere_else(stores: Stores) -> None:
    other_mandate, neighbour = STRANGERS
    for scope, slug in ((SCOPE, "pears"), (neighbour, "apples"), (other_mandate, "figs")):
        shared = workflow(slug).model_copy(update={"shared": True})
        stores.versions.create(scope, shared)
        stores.versions.create(scope, workflow(f"{slug}-not-shared"))
    for scope in (SCOPE, neighbour):
        page = stores.versions.shared(scope, cursor=None, limit=1)
        rest = stores.versions.shared(scope, cursor=page.cursor, limit=1)
        found = [(each.instance, each.workflow.slug) for each in (*page.items, *rest.items)]
        assert found == [("i-two", "apples"), ("i-one", "pears")]
        assert rest.cursor is None
    theirs = stores.versions.shared(other_mandate, cursor=None, limit=9).items
    assert [each.workflow.slug for each in theirs] == ["figs"]


def test_an_added_version_is_the_latest(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    changed, added = stores.versions.add(SCOPE, created, version())
    assert (changed.latest, changed.published, changed.revision) == (1, None, 2)
    assert added == version().model_copy(update={"revision": 1})
    assert stores.versions.workflow(SCOPE, WORKFLOW) == changed
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == added


def numbers(stores: Stores, *, limit: int = 50) -> list[int]:
    found: list[int] = []
    cursor: str | None = None
    while True:
        page = stores.versions.versions(SCOPE, WORKFLOW, cursor=cursor, limit=limit)
        found += [item.number for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 5, 12, 50])
def test_versions_are_listed_newest_first_in_pages(stores: Stores, limit: int) -> None:
    changed = stores.versions.create(SCOPE, workflow())
    for number in range(1, 13):
        changed, _ = stores.versions.add(SCOPE, changed, version(number))
    assert numbers(stores, limit=limit) == list(range(12, 0, -1))
    nothing = stores.versions.versions(SCOPE, WorkflowId("w-none"), cursor=None, limit=5)
    assert (list(nothing.items), nothing.cursor) == ([], None)


def test_a_workflow_is_created_with_its_first_versions_or_not_at_all(stores: Stores) -> None:
    first = workflow().model_copy(update={"latest": 2})
    stores.versions.create(SCOPE, first, version(1), version(2))
    assert numbers(stores) == [2, 1]
    other = first.model_copy(update={"id": "w-second"})
    with pytest.raises(Conflict):
        stores.versions.create(SCOPE, other, version(1, workflow=WorkflowId("w-second")))
    with pytest.raises(NotFound):
        stores.versions.get(SCOPE, WorkflowId("w-second"), 1)


def test_a_draft_is_saved_under_its_revision(stores: Stores) -> None:
    stores.versions.create(SCOPE, workflow(), version())
    stored = stores.versions.get(SCOPE, WORKFLOW, 1)
    saved = stores.versions.save(SCOPE, stored.model_copy(update={"graph_hash": "another"}))
    assert saved == stores.versions.get(SCOPE, WORKFLOW, 1)
    assert (saved.revision, saved.graph_hash) == (2, "another")
    with pytest.raises(Conflict):
        stores.versions.save(SCOPE, stored)


def test_nothing_is_added_to_a_workflow_that_has_changed(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    stores.versions.add(SCOPE, created, version(1))
    with pytest.raises(Conflict):
        stores.versions.add(SCOPE, created, version(2))
    with pytest.raises(NotFound):
        stores.versions.get(SCOPE, WORKFLOW, 2)


def test_a_version_number_is_taken_once(stores: Stores) -> None:
    created = stores.versions.create(SCOPE, workflow())
    changed, added = stores.versions.add(SCOPE, created, version(1))
    with pytest.raises(Conflict):
        stores.versions.add(SCOPE, changed, version(1))
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == added
    assert stores.versions.workflow(SCOPE, WORKFLOW) == changed


def test_a_workflow_and_its_versions_move_together(stores: Stores) -> None:
    changed, first = published(stores)
    assert (changed.published, first.status) == (1, VersionStatus.PUBLISHED)
    changed, second = stores.versions.add(SCOPE, changed, version(2))
    moved = stores.versions.move(SCOPE, named(changed, 2), entered(second), left(first))
    assert stores.versions.workflow(SCOPE, WORKFLOW) == moved
    assert (moved.published, moved.latest) == (2, 2)
    found = stores.versions.versions(SCOPE, WORKFLOW, cursor=None, limit=9).items
    assert [each.status for each in found] == [VersionStatus.PUBLISHED, VersionStatus.ARCHIVED]


def test_a_move_changes_all_or_nothing(stores: Stores) -> None:
    changed, first = published(stores)
    changed, second = stores.versions.add(SCOPE, changed, version(2))
    stale = first.model_copy(update={"revision": 1})
    with pytest.raises(Conflict):
        stores.versions.move(SCOPE, named(changed, 2), entered(second), left(stale))
    assert stores.versions.workflow(SCOPE, WORKFLOW) == changed
    assert stores.versions.get(SCOPE, WORKFLOW, 2) == second
    assert stores.versions.get(SCOPE, WORKFLOW, 1) == first


def test_a_published_version_is_found_by_what_it_means(stores: Stores) -> None:
    changed, first = published(stores)
    assert stores.versions.published_as(SCOPE, WORKFLOW, "hash-1") == 1
    assert stores.versions.published_as(SCOPE, WORKFLOW, "hash-2") is None
    same = version(2).model_copy(update={"graph_hash": "hash-1"})
    changed, second = stores.versions.add(SCOPE, changed, same)
    assert stores.versions.published_as(SCOPE, WORKFLOW, "hash-1") == 1
    stores.versions.move(SCOPE, named(changed, 2), entered(second, 2), left(first))
    assert stores.versions.published_as(SCOPE, WORKFLOW, "hash-1") == 2


def test_versions_that_are_no_longer_published_retire_until_they_are_again(
    stores: Stores,
) -> None:
    changed, first = published(stores)
    assert list(stores.versions.retiring(SCOPE)) == []
    changed, second = stores.versions.add(SCOPE, changed, version(2))
    changed = stores.versions.move(SCOPE, named(changed, 2), entered(second), left(first))
    first, second = (stores.versions.get(SCOPE, WORKFLOW, number) for number in (1, 2))
    assert list(stores.versions.retiring(SCOPE)) == [first]
    stores.versions.move(SCOPE, named(changed, 1), entered(first, 2), left(second))
    [retired] = stores.versions.retiring(SCOPE)
    assert retired.number == 2
    stores.versions.save(SCOPE, retired.model_copy(update={"retiring": None, "machines": {}}))
    assert list(stores.versions.retiring(SCOPE)) == []


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_workflows(stores: Stores, stranger: Scope) -> None:
    changed, first = published(stores)
    store = stores.versions
    with pytest.raises(NotFound):
        store.workflow(stranger, WORKFLOW)
    with pytest.raises(NotFound):
        store.get(stranger, WORKFLOW, 1)
    assert store.find(stranger, "invoices") is None
    assert listed(stores, scope=stranger) == []
    assert store.versions(stranger, WORKFLOW, cursor=None, limit=9).items == []
    assert store.published_as(stranger, WORKFLOW, "hash-1") is None
    assert list(store.retiring(stranger)) == []
    for act in (
        lambda: store.add(stranger, changed, version(2)),
        lambda: store.move(stranger, changed, first),
        lambda: store.change(stranger, changed, changed),
        lambda: store.save(stranger, first),
    ):
        with pytest.raises(Conflict):
            act()
    assert store.create(stranger, workflow()).revision == 1
    assert store.workflow(SCOPE, WORKFLOW) == changed
    assert store.get(SCOPE, WORKFLOW, 1) == first
