"""Who may do what with workflows: every method, with a role of every kind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stellwerk.kernel.errors import Forbidden, NotFound, StellwerkError
from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.tenancy.access import Level
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.carrying import CarriedVersion, Document
from stellwerk.workflows.settings import Changes
from tests.workflows.desk import (
    ABROAD,
    ANNA,
    BEN,
    CARA,
    DORA,
    INSTANCE,
    NEXT_DOOR,
    NOBODY,
    USER,
    Desk,
    drawn,
    operation,
    person,
    rule,
)

DOCUMENT = Document(title="A", slug="a", versions=(CarriedVersion(number=1, graph=drawn()),))
Act = Callable[[Desk, Scope, WorkflowId], object]

READING: dict[str, Act] = {
    "get": lambda desk, scope, workflow: desk.service.get(scope, workflow),
    "find": lambda desk, scope, workflow: desk.service.find(scope, "of-anna"),
    "versions": lambda desk, scope, workflow: desk.service.versions(scope, workflow),
    "version": lambda desk, scope, workflow: desk.service.version(scope, workflow, 1),
    "draft": lambda desk, scope, workflow: desk.service.draft(scope, workflow),
    "diff": lambda desk, scope, workflow: desk.service.diff(scope, workflow, 1, 2),
}
CHANGING: dict[str, Act] = {
    "update": lambda desk, scope, workflow: desk.service.update(
        scope, workflow, None, Changes(title="B")
    ),
    "activate": lambda desk, scope, workflow: desk.service.activate(scope, workflow),
    "deactivate": lambda desk, scope, workflow: desk.service.deactivate(scope, workflow),
    "transfer": lambda desk, scope, workflow: desk.service.transfer(
        scope, workflow, UserId("u-ben")
    ),
    "share": lambda desk, scope, workflow: desk.service.share(scope, workflow),
    "unshare": lambda desk, scope, workflow: desk.service.unshare(scope, workflow),
    "new_draft": lambda desk, scope, workflow: desk.service.new_draft(scope, workflow),
    "save_draft": lambda desk, scope, workflow: desk.service.save_draft(
        scope, workflow, 2, None, drawn(9)
    ),
    "edit_published": lambda desk, scope, workflow: desk.service.save_draft(
        scope, workflow, 1, None, drawn(9)
    ),
    "publish": lambda desk, scope, workflow: desk.service.publish(scope, drawn(8), slug="of-anna"),
    "publish_version": lambda desk, scope, workflow: desk.service.publish_version(
        scope, workflow, 2
    ),
    "unpublish": lambda desk, scope, workflow: desk.service.unpublish(scope, workflow, 1),
    "archive": lambda desk, scope, workflow: desk.service.archive(scope, workflow, 1),
    "republish": lambda desk, scope, workflow: desk.service.republish(scope, workflow, 3),
    "roll_back": lambda desk, scope, workflow: desk.service.roll_back(scope, workflow, 3),
    "export": lambda desk, scope, workflow: desk.service.export(scope, workflow),
}
BEGINNING: dict[str, Act] = {
    "create": lambda desk, scope, workflow: desk.service.create(scope, "New"),
    "publish": lambda desk, scope, workflow: desk.service.publish(scope, drawn(), slug="new"),
    "import": lambda desk, scope, workflow: desk.service.import_(scope, DOCUMENT),
    "copy": lambda desk, scope, workflow: desk.service.copy(scope, INSTANCE, workflow),
}
OPERATIONS = {
    "share": "share",
    "unshare": "share",
    "publish": "publish",
    "publish_version": "publish",
    "unpublish": "publish",
    "archive": "publish",
    "republish": "publish",
    "roll_back": "publish",
    "export": "export",
    "import": "import",
}


def prepared(desk: Desk, owner: Scope = ANNA) -> WorkflowId:
    """Return a shared workflow: version 1 published, 2 a draft, 3 archived."""
    workflow, _ = desk.service.create(owner, "Of Anna", "of-anna", drawn(1))
    desk.service.new_draft(owner, workflow.id)
    third = desk.service.new_draft(owner, workflow.id)
    desk.service.save_draft(owner, workflow.id, third.number, None, drawn(3))
    desk.service.publish_version(owner, workflow.id, 3)
    desk.service.publish_version(owner, workflow.id, 1)
    stored = desk.stores.versions.workflow(owner, workflow.id)
    shared = stored.model_copy(update={"shared": True})
    desk.stores.versions.change(owner, stored, shared)
    return workflow.id


@pytest.mark.parametrize("name", [*READING, *CHANGING])
def test_an_administrator_may_do_all_of_it(desk: Desk, name: str) -> None:
    workflow = prepared(desk)
    assert (READING | CHANGING)[name](desk, person("u-boss"), workflow) is not None


@pytest.mark.parametrize("name", [*READING, *sorted(set(CHANGING) - {"publish"})])
@pytest.mark.parametrize("scope", [NOBODY, BEN, ABROAD, NEXT_DOOR], ids=lambda scope: scope.user)
def test_what_one_may_not_read_does_not_exist(desk: Desk, scope: Scope, name: str) -> None:
    workflow = prepared(desk)
    before = desk.stores.versions.workflow(ANNA, workflow)
    acts = len(desk.audited())
    with pytest.raises(NotFound):
        (READING | CHANGING)[name](desk, scope, workflow)
    assert desk.stores.versions.workflow(ANNA, workflow) == before
    assert len(desk.audited()) == acts


@pytest.mark.parametrize("name", READING)
def test_a_viewer_reads(desk: Desk, name: str) -> None:
    assert READING[name](desk, CARA, prepared(desk)) is not None


@pytest.mark.parametrize("name", [*CHANGING, *BEGINNING])
def test_a_viewer_changes_nothing_and_the_denial_is_on_record(desk: Desk, name: str) -> None:
    workflow = prepared(desk)
    before = desk.stores.versions.workflow(ANNA, workflow)
    with pytest.raises(Forbidden, match="You may not"):
        (CHANGING | BEGINNING)[name](desk, CARA, workflow)
    assert desk.stores.versions.workflow(ANNA, workflow) == before
    assert desk.acts()[-1][2] == "denied"
    assert desk.audited()[-1].user == CARA.user


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_needs_its_own_right(desk: Desk, name: str) -> None:
    workflow = prepared(desk)
    act = (CHANGING | BEGINNING)[name]
    with pytest.raises(Forbidden, match=f"'{OPERATIONS[name]}'"):
        act(desk, DORA, workflow)
    rules = (*DORA.principal.grants[0].rules, operation(OPERATIONS[name]))
    assert act(desk, person("u-dora", rules), workflow) is not None


@pytest.mark.parametrize(
    "name", [*READING, *sorted(set(CHANGING) - {"share", "unshare", "export"})]
)
def test_one_may_do_with_ones_own_what_the_level_my_grants(desk: Desk, name: str) -> None:
    mine = person("u-anna", USER)
    workflow = prepared(desk, mine)
    assert (READING | CHANGING)[name](desk, mine, workflow) is not None


def test_a_list_shows_only_what_one_may_read(desk: Desk) -> None:
    prepared(desk)
    workflow, _ = desk.service.create(BEN, "Of Ben")
    assert [each.slug for each in desk.service.list(BEN).items] == ["of-ben"]
    assert [each.slug for each in desk.service.list(CARA).items] == ["of-anna", "of-ben"]
    assert [each.slug for each in desk.service.list(CARA, mine=True).items] == []
    for act in (desk.service.list, desk.service.shared):
        with pytest.raises(Forbidden):
            act(NOBODY)
    with pytest.raises(Forbidden):
        desk.service.validate(NOBODY, drawn())
    desk.service.transfer(BEN, workflow.id, UserId("u-anna"))
    assert desk.service.list(BEN).items == []


def test_one_who_may_save_but_not_create_cannot_edit_what_was_published(desk: Desk) -> None:
    workflow = prepared(desk)
    saver = person("u-eve", (rule("*", Level.ALL, create=Level.NONE),))
    desk.service.save_draft(saver, workflow, 2, None, drawn(7))
    with pytest.raises(Forbidden, match="may not create versions"):
        desk.service.save_draft(saver, workflow, 1, None, drawn(7))


def test_publishing_under_a_slug_of_others_that_one_may_not_read_is_not_found(desk: Desk) -> None:
    prepared(desk)
    with pytest.raises(StellwerkError) as refused:
        desk.service.publish(BEN, drawn(8), slug="of-anna")
    assert isinstance(refused.value, NotFound)
