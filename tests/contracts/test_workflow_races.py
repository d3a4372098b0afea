"""Several people at the same workflow at the same moment: nothing is lost, nothing mixed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.records import Stale
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.settings import Changes
from tests.contracts.stores import Stores
from tests.runs.stage import race
from tests.workflows.desk import ANNA, Desk, drawn, person

PEOPLE = [person(f"u-{number}") for number in range(6)]


@pytest.fixture
def desk(stores: Stores) -> Desk:
    return Desk(stores)


def everything(desk: Desk, workflow: WorkflowId) -> tuple[Workflow, list[Version]]:
    versions = desk.service.versions(ANNA, workflow, limit=100).items
    return desk.service.get(ANNA, workflow), sorted(versions, key=lambda version: version.number)


def check(desk: Desk, workflow: WorkflowId) -> None:
    """Check what holds whatever has happened."""
    found, versions = everything(desk, workflow)
    assert [version.number for version in versions] == list(range(1, found.latest + 1))
    published = [each.number for each in versions if each.status is VersionStatus.PUBLISHED]
    assert published == ([found.published] if found.published else [])
    for version in versions:
        retired = version.status is not VersionStatus.PUBLISHED and not version.fresh
        assert (version.retiring is not None) == retired
        arns = [arn.rsplit(":", 1)[-1] for arn in version.machines.values()]
        assert all(name in desk.machines.definitions for name in arns)
        assert bool(arns) == (not version.fresh)


def outcomes(results: list[object]) -> tuple[list[object], list[Exception]]:
    """Return what succeeded, and the errors."""
    errors = [result for result in results if isinstance(result, Exception)]
    return [result for result in results if not isinstance(result, Exception)], errors


def test_of_saves_on_the_same_draft_one_wins_and_the_others_are_told(desk: Desk) -> None:
    workflow, draft = desk.service.create(ANNA, "Invoices")
    saves = [
        partial(desk.service.save_draft, scope, workflow.id, 1, draft.revision, drawn(scope.user))
        for scope in PEOPLE
    ]
    won, lost = outcomes(race(*saves))
    assert len(won) == 1
    assert all(isinstance(error, Stale) for error in lost)
    _, [stored] = everything(desk, workflow.id)
    assert stored.revision == draft.revision + 1
    assert [each.current for each in lost if isinstance(each, Stale)] == [stored] * 5
    check(desk, workflow.id)


def test_edits_of_what_is_published_become_a_draft_each(desk: Desk) -> None:
    workflow, version = desk.service.publish(ANNA, drawn(0), slug="invoices")
    saves = [
        partial(desk.service.save_draft, scope, workflow.id, 1, version.revision, drawn(scope.user))
        for scope in PEOPLE[:4]
    ]
    won, lost = outcomes(race(*saves))
    assert lost == []
    assert len(won) == 4
    _, versions = everything(desk, workflow.id)
    texts = {desk.service.graph(ANNA, each).model_dump_json() for each in versions[1:]}
    assert texts == {drawn(scope.user).model_dump_json() for scope in PEOPLE[:4]}
    check(desk, workflow.id)


def test_of_all_that_publish_at_once_one_version_stays_published(desk: Desk) -> None:
    workflow, _ = desk.service.publish(ANNA, drawn(0), slug="invoices")
    drafts = [desk.service.new_draft(ANNA, workflow.id).number for _ in PEOPLE]
    publishes = [
        partial(desk.service.publish_version, scope, workflow.id, number)
        for scope, number in zip(PEOPLE, drafts, strict=True)
    ]
    won, lost = outcomes(race(*publishes))
    assert won
    assert all(isinstance(error, Conflict) for error in lost)
    check(desk, workflow.id)
    _, versions = everything(desk, workflow.id)
    assert len([each for each in versions if not each.fresh]) == 1 + len(won)


def test_a_draft_is_published_as_it_was_seen_or_saved_but_never_mixed(desk: Desk) -> None:
    for number in range(4):
        workflow, draft = desk.service.create(ANNA, f"Invoices {number}", graph=drawn("seen"))
        race(
            partial(desk.service.publish_version, ANNA, workflow.id, 1, draft.revision),
            partial(
                desk.service.save_draft, PEOPLE[0], workflow.id, 1, draft.revision, drawn("saved")
            ),
        )
        check(desk, workflow.id)
        _, [first, *derived] = everything(desk, workflow.id)
        graph = desk.service.graph(ANNA, first)
        expected = "seen" if first.status is VersionStatus.PUBLISHED else "saved"
        assert graph == drawn(expected)
        assert [desk.service.graph(ANNA, each) for each in derived] in ([], [drawn("saved")])


def test_settings_publishing_and_archiving_do_not_undo_one_another(desk: Desk) -> None:
    workflow, _ = desk.service.publish(ANNA, drawn(0), slug="invoices")
    second = desk.service.new_draft(ANNA, workflow.id)
    acts: list[Callable[[], object]] = [
        partial(desk.service.publish_version, ANNA, workflow.id, second.number),
        partial(desk.service.archive, PEOPLE[0], workflow.id, 1),
        partial(desk.service.update, PEOPLE[1], workflow.id, None, Changes(title="New title")),
        partial(desk.service.deactivate, PEOPLE[2], workflow.id),
        partial(desk.service.new_draft, PEOPLE[3], workflow.id),
    ]
    results = race(*acts)
    _, lost = outcomes(results)
    assert all(isinstance(error, Conflict) for error in lost)
    check(desk, workflow.id)
    found, versions = everything(desk, workflow.id)
    renamed, asleep, added = (not isinstance(result, Exception) for result in results[2:])
    assert (found.title == "New title", not found.active) == (renamed, asleep)
    assert len(versions) == 2 + added


def test_of_workflows_that_want_the_same_slug_one_gets_it(desk: Desk) -> None:
    creates = [partial(desk.service.create, scope, "Same", "same") for scope in PEOPLE]
    won, lost = outcomes(race(*creates))
    assert len(won) == 1
    assert all(isinstance(error, Conflict) for error in lost)
    assert [each.slug for each in desk.service.list(ANNA).items] == ["same"]


def test_a_first_publish_at_the_same_moment_makes_one_workflow(desk: Desk) -> None:
    won, lost = outcomes(
        race(*(partial(desk.service.publish, scope, drawn(1), slug="same") for scope in PEOPLE))
    )
    assert won
    assert [error for error in lost if not isinstance(error, Conflict)] == []
    [workflow] = desk.service.list(ANNA).items
    check(desk, workflow.id)
    assert workflow.latest == 1
