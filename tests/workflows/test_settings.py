"""Settings of workflows, and whose they are."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stale
from stellwerk.workflows.model import Concurrency, Overflow, Retention, Workflow
from stellwerk.workflows.settings import Changes
from tests.workflows.desk import ANNA, Desk


@pytest.fixture
def workflow(desk: Desk) -> Workflow:
    return desk.service.create(ANNA, "Invoices")[0]


def test_given_settings_change_and_others_stay(desk: Desk, workflow: Workflow) -> None:
    changes = Changes(
        tags=("finance", "daily", "finance"),
        vars={"limit": 1000},
        concurrency=Concurrency(limit=3, policy=Overflow.SKIP),
        notify=("role:finance",),
        retention=Retention(successes=7, hold=True),
    )
    changed = desk.service.update(ANNA, workflow.id, workflow.revision, changes)
    assert changed.title == "Invoices"
    assert changed.tags == ("finance", "daily")
    assert (changed.vars, changed.concurrency.limit) == ({"limit": 1000}, 3)
    assert (changed.notify, changed.retention.failures) == (("role:finance",), 90)
    renamed = desk.service.update(ANNA, workflow.id, changed.revision, Changes(title="Rechnungen"))
    assert (renamed.title, renamed.slug, renamed.tags) == ("Rechnungen", "invoices", changed.tags)
    assert desk.service.get(ANNA, workflow.id) == renamed
    assert desk.service.list(ANNA, query="rechn").items == [renamed]
    assert desk.acts()[-1] == ("workflow.update", f"workflow:{workflow.id}", "done")


def test_a_change_on_what_someone_else_has_changed_tells_both(
    desk: Desk, workflow: Workflow
) -> None:
    newer = desk.service.update(ANNA, workflow.id, workflow.revision, Changes(title="One"))
    with pytest.raises(Stale, match="'invoices' stands at revision 2") as stale:
        desk.service.update(ANNA, workflow.id, workflow.revision, Changes(title="Two"))
    assert stale.value.current == newer


def test_a_change_that_changes_nothing_writes_nothing(desk: Desk, workflow: Workflow) -> None:
    assert desk.service.update(ANNA, workflow.id, None, Changes(title="Invoices")) == workflow
    assert desk.service.activate(ANNA, workflow.id) == workflow
    assert desk.service.update(ANNA, workflow.id, None, Changes()) == workflow


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"tags": ["x" * 41]},
        {"tags": [f"t{number}" for number in range(11)]},
        {"slug": "other"},
        {"concurrency": {"limit": 0}},
        {"retention": {"successes": 0}},
    ],
)
def test_settings_have_limits(wrong: dict[str, JsonValue]) -> None:
    with pytest.raises(ValidationError):
        Changes.model_validate(wrong)


def test_a_workflow_sleeps_and_wakes(desk: Desk, workflow: Workflow) -> None:
    asleep = desk.service.deactivate(ANNA, workflow.id, workflow.revision)
    assert asleep.active is False
    assert desk.service.list(ANNA, active=True).items == []
    awake = desk.service.activate(ANNA, workflow.id, asleep.revision)
    assert awake.active is True
    acts = [action for action, _, _ in desk.acts()]
    assert acts[-2:] == ["workflow.deactivate", "workflow.activate"]


def test_a_workflow_is_handed_on_to_someone_of_the_instance(desk: Desk, workflow: Workflow) -> None:
    handed = desk.service.transfer(ANNA, workflow.id, UserId("u-ben"), workflow.revision)
    assert handed.created_by == "u-ben"
    assert desk.service.list(ANNA, mine=True).items == []
    with pytest.raises(BadInput, match="no user 'u-zoe'"):
        desk.service.transfer(ANNA, workflow.id, UserId("u-zoe"))


def test_a_write_that_loses_a_race_tells_what_is_stored(desk: Desk, workflow: Workflow) -> None:
    class Late:
        """Changes the workflow just before the service does."""

        def __call__(self, workflow: Workflow) -> Workflow:
            newer = workflow.model_copy(update={"title": "First"})
            desk.stores.versions.change(ANNA, workflow, newer)
            return workflow.model_copy(update={"title": "Second"})

    with pytest.raises(Stale) as stale:
        desk.service._change(ANNA, workflow.id, "update", Late(), revision=None)
    current = stale.value.current
    assert isinstance(current, Workflow)
    assert current.title == "First"


def test_a_conflict_without_another_revision_stays_one(desk: Desk, workflow: Workflow) -> None:
    unwritten = workflow.model_copy(update={"revision": 9})
    with pytest.raises(Conflict) as refused:
        desk.service._write(ANNA, workflow, unwritten)
    assert not isinstance(refused.value, Stale)
