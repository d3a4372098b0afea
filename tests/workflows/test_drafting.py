"""Beginning workflows, and editing them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.records import Stale
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.ports import Versions
from stellwerk.workflows.service import WorkflowService
from tests.workflows.desk import ANNA, Desk, drawn


def test_a_workflow_begins_with_an_empty_draft_of_its_creator(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "  Rechnung prüfen ")
    assert (workflow.title, workflow.slug) == ("Rechnung prüfen", "rechnung-pruefen")
    assert (workflow.created_by, workflow.latest, workflow.published) == ("u-anna", 1, None)
    assert (draft.number, draft.status, draft.author) == (1, VersionStatus.DRAFT, "u-anna")
    assert desk.service.graph(ANNA, draft) == Graph()
    assert desk.service.get(ANNA, workflow.id) == workflow
    assert desk.acts() == [("workflow.create", f"workflow:{workflow.id}", "done")]
    assert desk.machines.definitions == {}


def test_namesakes_get_numbers_unless_a_slug_is_chosen(desk: Desk) -> None:
    title = "x" * 60
    slugs = [desk.service.create(ANNA, title)[0].slug for _ in range(3)]
    assert slugs == ["x" * 40, "x" * 38 + "-2", "x" * 38 + "-3"]
    assert desk.service.create(ANNA, title, "chosen")[0].slug == "chosen"
    with pytest.raises(Conflict, match="'chosen' exists already"):
        desk.service.create(ANNA, title, "chosen")
    with pytest.raises(BadInput, match="short name"):
        desk.service.create(ANNA, title, "Not a slug")


def test_namesakes_come_to_an_end(desk: Desk) -> None:
    for _ in range(50):
        desk.service.create(ANNA, "Same")
    with pytest.raises(Conflict, match="50 workflows called like 'same'"):
        desk.service.create(ANNA, "Same")


@pytest.mark.parametrize("title", ["", "   ", "x" * 201])
def test_a_workflow_without_a_proper_title_does_not_begin(desk: Desk, title: str) -> None:
    with pytest.raises(BadInput, match="title of 1 to 200"):
        desk.service.create(ANNA, title)
    assert desk.service.list(ANNA).items == []


def test_a_draft_is_saved_in_place_with_its_faults(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices", graph=drawn(1))
    desk.compiler.faults = [Fault(Code.CYCLE, "A circle.")]
    moment = desk.clock.advance(hours=1)
    saved, faults = desk.service.save_draft(ANNA, workflow.id, 1, draft.revision, drawn(2))
    assert [fault.code for fault in faults] == [Code.CYCLE]
    assert (saved.number, saved.revision, saved.saved) == (1, draft.revision + 1, moment)
    assert desk.service.graph(ANNA, saved) == drawn(2)
    assert desk.service.version(ANNA, workflow.id, 1) == saved
    assert desk.acts()[-1] == ("version.save", f"version:{workflow.id}/1", "done")


def test_a_save_on_what_someone_else_has_saved_tells_both(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices")
    newer, _ = desk.service.save_draft(ANNA, workflow.id, 1, draft.revision, drawn(1))
    with pytest.raises(Stale, match="revision 2; you had seen revision 1") as stale:
        desk.service.save_draft(ANNA, workflow.id, 1, draft.revision, drawn(2))
    assert (stale.value.current, stale.value.seen) == (newer, draft.revision)
    assert desk.service.graph(ANNA, desk.service.version(ANNA, workflow.id, 1)) == drawn(1)


def test_a_save_that_does_not_ask_replaces_what_is_there(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    for value in (1, 2):
        saved, _ = desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(value))
    assert saved.revision == 3


def test_things_of_others_are_faults_of_a_draft(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    good = drawn(file="f-1", user="u-ben", workflow="invoices")
    assert desk.service.save_draft(ANNA, workflow.id, 1, None, good)[1] == []
    foreign = drawn(file="f-2", user="u-zoe", workflow="w-unknown", connection="invoices")
    _, faults = desk.service.save_draft(ANNA, workflow.id, 1, None, foreign)
    assert [(str(fault.code), fault.parameter) for fault in faults] == [
        ("resource_missing", "names.file"),
        ("resource_missing", "names.user"),
        ("resource_missing", "names.workflow"),
        ("resource_wrong_kind", "names.connection"),
    ]
    assert all(fault.node == NodeKey("work") for fault in faults)


def test_editing_what_was_published_makes_a_new_draft_from_it(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(1), slug="invoices")
    saved, _ = desk.service.save_draft(ANNA, workflow.id, 1, version.revision, drawn(2))
    assert (saved.number, saved.based_on, saved.status) == (2, 1, VersionStatus.DRAFT)
    assert desk.service.version(ANNA, workflow.id, 1) == version
    assert desk.service.get(ANNA, workflow.id).latest == 2
    assert desk.acts()[-1] == ("version.save", f"version:{workflow.id}/2", "done")
    desk.service.unpublish(ANNA, workflow.id, 1)
    again, _ = desk.service.save_draft(ANNA, workflow.id, 1, None, drawn(3))
    assert (again.number, again.based_on) == (3, 1)


def test_a_new_draft_comes_from_the_published_version_or_the_one_that_is_named(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices", "invoices", drawn(0))
    first = desk.service.new_draft(ANNA, workflow.id)
    assert (first.number, first.based_on) == (2, 1)
    desk.service.publish(ANNA, drawn(5), slug="invoices")
    desk.service.new_draft(ANNA, workflow.id, 2)
    of_published = desk.service.new_draft(ANNA, workflow.id)
    assert (of_published.number, of_published.based_on) == (5, 3)
    assert desk.service.graph(ANNA, of_published) == drawn(5)
    with pytest.raises(NotFound):
        desk.service.new_draft(ANNA, workflow.id, 77)


def test_the_draft_to_edit_is_the_newest_that_was_never_published(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(1), slug="invoices")
    assert desk.service.draft(ANNA, workflow.id) == version
    draft = desk.service.new_draft(ANNA, workflow.id)
    desk.service.publish(ANNA, drawn(3), slug="invoices")
    assert desk.service.draft(ANNA, workflow.id) == draft
    newer = desk.service.new_draft(ANNA, workflow.id)
    assert desk.service.draft(ANNA, workflow.id) == newer


class Rival:
    """Versions whose draft someone else writes just before each of our first writes."""

    def __init__(self, desk: Desk, times: int, *, quietly: bool = False) -> None:
        self._store = desk.stores.versions
        self._times = times
        self._quietly = quietly

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def save(self, scope: Scope, version: Version) -> Version:
        if self._lose():
            if not self._quietly:
                self._store.save(scope, version)
            raise Conflict("someone else was faster")
        return self._store.save(scope, version)

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        if self._lose():
            self._store.add(scope, workflow, version)
        return self._store.add(scope, workflow, version)

    def _lose(self) -> bool:
        self._times -= 1
        return self._times >= 0


def beside(desk: Desk, rival: Rival) -> WorkflowService:
    return WorkflowService(replace(desk.press, versions=cast("Versions", rival)))


def test_a_save_that_loses_a_race_tells_what_is_stored(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices")
    service = beside(desk, Rival(desk, 1))
    with pytest.raises(Stale) as stale:
        service.save_draft(ANNA, workflow.id, 1, draft.revision, drawn(2))
    assert stale.value.current.revision == draft.revision + 1


def test_a_save_that_is_refused_for_another_reason_says_so(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices")
    service = beside(desk, Rival(desk, 1, quietly=True))
    with pytest.raises(Conflict, match="someone else"):
        service.save_draft(ANNA, workflow.id, 1, draft.revision, drawn(2))


@pytest.mark.parametrize(("others", "number"), [(0, 2), (1, 3), (4, 6)])
def test_a_draft_gets_the_next_number_whoever_adds_meanwhile(
    desk: Desk, others: int, number: int
) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    assert beside(desk, Rival(desk, others)).new_draft(ANNA, workflow.id).number == number


def test_a_draft_that_is_always_too_late_is_refused(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    with pytest.raises(Conflict):
        beside(desk, Rival(desk, 99)).new_draft(ANNA, workflow.id)
