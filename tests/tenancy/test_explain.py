from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, UserId
from stellwerk.tenancy.access import Context, Level, Priority, Verb
from stellwerk.tenancy.explain import Explainer, Explanation
from tests.tenancy.world import (
    ANNA,
    BEN,
    CLARA,
    DAVID,
    DEMO,
    EDITOR,
    NORA,
    NORD_EDITOR,
    ROOT,
    World,
)

WORKFLOWS = "data.feature.graphicalEditor.workflows"


@pytest.fixture
def explainer(world: World) -> Explainer:
    return Explainer(world.directory, audit=world.audit)


def explain(
    world: World, explainer: Explainer, user: UserId, instance: InstanceId | None = EDITOR
) -> Explanation:
    scope = world.scope(ANNA)
    return explainer.explain(scope, user, Context.DATA, WORKFLOWS, Verb.UPDATE, instance=instance)


def test_a_decision_is_explained_by_the_roles_considered(
    world: World, explainer: Explainer
) -> None:
    found = explain(world, explainer, BEN)
    assert (found.decision.allowed, found.decision.level) == (True, Level.MY)
    assert "graphicalEditor-user" in found.decision.reason
    first = found.roles[0]
    assert (first.priority, first.label, first.level) == (
        Priority.INSTANCE,
        "graphicalEditor-user",
        Level.MY,
    )
    assert first.rule is not None
    assert first.rule.item == WORKFLOWS
    assert [role.label for role in found.roles if role.counts] == ["graphicalEditor-user"]
    assert found.roles[-1].label == "user"
    assert found.roles[-1].rule is None


def test_a_role_of_the_mandate_that_an_instance_s_overrules_does_not_count(
    world: World, explainer: Explainer
) -> None:
    found = explain(world, explainer, ANNA)
    says = {role.label: (role.level, role.counts) for role in found.roles if role.rule}
    assert says == {
        "graphicalEditor-admin": (Level.INSTANCE, True),
        "admin": (Level.ALL, False),
    }


def test_a_row_is_explained_by_its_creator(world: World, explainer: Explainer) -> None:
    for creator, allowed in ((BEN, True), (ANNA, False)):
        found = explainer.explain(
            world.scope(ANNA),
            BEN,
            Context.DATA,
            WORKFLOWS,
            Verb.UPDATE,
            instance=EDITOR,
            created_by=creator,
        )
        assert found.decision.allowed is allowed


def test_it_says_what_signing_in_would_do(world: World, explainer: Explainer) -> None:
    assert not explain(world, explainer, DAVID).decision.allowed
    assert explain(world, explainer, ANNA, None).decision.level is Level.ALL
    assert not explain(world, explainer, CLARA).decision.allowed


def test_foreign_users_and_instances_are_not_there(world: World, explainer: Explainer) -> None:
    for user, instance in (
        (NORA, EDITOR),
        (ROOT, None),
        (UserId("u-none"), None),
        (BEN, NORD_EDITOR),
    ):
        with pytest.raises(NotFound):
            explain(world, explainer, user, instance)


@pytest.mark.parametrize("user", [BEN, CLARA])
def test_only_administrators_are_told(world: World, explainer: Explainer, user: UserId) -> None:
    for scope in (world.scope(user), world.scope(user, DEMO, EDITOR)):
        with pytest.raises(Forbidden):
            explainer.explain(scope, user, Context.DATA, WORKFLOWS, Verb.READ)
    assert world.acts() == ["access.explain denied"] * 2
