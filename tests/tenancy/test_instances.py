from __future__ import annotations

import pytest

from stellwerk.features.found import FoundFeatures
from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Verb
from stellwerk.tenancy.features import Feature, Features, UiObject
from stellwerk.tenancy.instances import InstanceService
from stellwerk.tenancy.model import Role, Text
from stellwerk.tenancy.scope import Scope, of_platform, permitted
from tests.tenancy.world import (
    ANNA,
    AUTO,
    BEN,
    CLARA,
    DAVID,
    DEMO,
    EDITOR,
    FEATURES,
    NORD_EDITOR,
    ROOT,
    World,
)

INSIDE = of_platform(DEMO).at(EDITOR)
PAGE = "ui.feature.graphicalEditor.timeline"


class Grown:
    """The features, of which the graphical editor has gained a page that all but viewers see."""

    def __init__(self) -> None:
        self._features = FoundFeatures()

    def all(self) -> dict[str, Feature]:
        features = dict(self._features.all())
        editor = features["graphicalEditor"]
        rule = AccessRule(context=Context.UI, item=PAGE, view=True)
        roles = [
            role
            if role.label.endswith("viewer")
            else role.model_copy(update={"rules": (*role.rules, rule)})
            for role in editor.roles
        ]
        page = UiObject(item=PAGE, label=Text(de="Zeitachse", en="Timeline"))
        grown = {"ui": (*editor.ui, page), "roles": tuple(roles)}
        return features | {"graphicalEditor": editor.model_copy(update=grown)}


def service(world: World, features: Features = FEATURES) -> InstanceService:
    return InstanceService(world.directory, features, audit=world.audit, clock=world.clock)


@pytest.fixture
def instances(world: World) -> InstanceService:
    return service(world)


def role(world: World, label: str) -> Role:
    return world.directory.roles.role(INSIDE, RoleId(f"r-i-demo-graphicalEditor-{label}"))


@pytest.mark.parametrize("code", sorted(set(FEATURES.all()) - {"administration"}))
def test_an_instance_begins_with_copies_of_its_feature_s_roles(
    world: World, instances: InstanceService, code: str
) -> None:
    made = instances.create(world.scope(ANNA), code, "Zweite")
    inside = of_platform(DEMO).at(made.id)
    roles = {role.label: role for role in world.directory.roles.roles(inside)}
    declared = {role.label: role.rules for role in FEATURES.all()[code].roles}
    assert {label: role.rules for label, role in roles.items()} == declared
    assert {role.feature for role in roles.values()} == {code}
    assert roles[f"{code}-admin"].template == f"template-{code}-admin"


def test_who_creates_an_instance_administrates_it(world: World, instances: InstanceService) -> None:
    made = instances.create(world.scope(ANNA), "graphicalEditor", "Zweite")
    scope = world.scope(ANNA, DEMO, made.id)
    assert [grant.label for grant in scope.principal.grants] == ["admin", "graphicalEditor-admin"]
    assert permitted(scope, "members", Verb.CREATE).allowed
    with pytest.raises(NotFound):
        world.scope(BEN, DEMO, made.id)
    created = ["instance.create begun", "instance.create done"]
    assert world.acts() == [*created, "place.enter denied"]


@pytest.mark.parametrize("code", ["administration", "nothing", ""])
def test_there_are_no_instances_of_other_features(
    world: World, instances: InstanceService, code: str
) -> None:
    with pytest.raises(BadInput) as raised:
        instances.create(world.scope(ANNA), code, "Zweite")
    assert "graphicalEditor" in raised.value.remedy


@pytest.mark.parametrize("user", [BEN, CLARA, DAVID])
def test_only_administrators_change_instances(
    world: World, instances: InstanceService, user: UserId
) -> None:
    scope = world.scope(user)
    with pytest.raises(Forbidden):
        instances.create(scope, "graphicalEditor", "Mine")
    with pytest.raises(Forbidden):
        instances.update(scope, EDITOR, 1, label="Mine")
    with pytest.raises(Forbidden):
        instances.sync_ui_objects(scope, EDITOR)
    assert len(world.directory.mandates.instances(of_platform(DEMO))) == 2


def test_a_role_of_an_instance_never_counts_at_the_mandate(
    world: World, instances: InstanceService
) -> None:
    everything = AccessRule(context=Context.DATA, view=True, update="all", create="all", read="all")
    user = role(world, "user")
    world.directory.roles.write_role(INSIDE, user.model_copy(update={"rules": (everything,)}))
    scope = world.scope(BEN, DEMO, EDITOR)
    assert permitted(scope, "members", Verb.UPDATE).allowed
    with pytest.raises(Forbidden):
        instances.update(scope, EDITOR, 1, label="Mine")
    with pytest.raises(Forbidden):
        instances.create(scope, "chatbot", "Mine")


def test_everybody_lists_the_instances_into_which_he_may_come(
    world: World, instances: InstanceService
) -> None:
    def listed(user: UserId) -> list[InstanceId]:
        return [one.id for one in instances.list(world.scope(user))]

    assert listed(ANNA) == [EDITOR, AUTO]
    assert listed(BEN) == [EDITOR, AUTO]
    assert listed(DAVID) == []
    instances.update(world.scope(ANNA), AUTO, 1, active=False)
    assert listed(ANNA) == [EDITOR, AUTO]
    assert listed(CLARA) == [EDITOR]
    with pytest.raises(Forbidden):
        instances.list(world.scope(ROOT))


def test_an_instance_is_there_for_those_who_may_come_in(
    world: World, instances: InstanceService
) -> None:
    assert instances.get(world.scope(CLARA), EDITOR).label == "Editor"
    for scope, instance in [
        (world.scope(DAVID), EDITOR),
        (world.scope(ANNA), NORD_EDITOR),
        (world.scope(BEN), InstanceId("i-none")),
    ]:
        with pytest.raises(NotFound):
            instances.get(scope, instance)
    instances.update(world.scope(ANNA), EDITOR, 1, active=False)
    assert not instances.get(world.scope(ANNA), EDITOR).active
    with pytest.raises(NotFound):
        instances.get(world.scope(CLARA), EDITOR)


def test_an_instance_is_changed_on_its_revision(world: World, instances: InstanceService) -> None:
    scope = world.scope(ANNA)
    renamed = instances.update(scope, EDITOR, 1, label="Werkstatt")
    assert (renamed.label, renamed.active, renamed.revision) == ("Werkstatt", True, 2)
    with pytest.raises(Conflict):
        instances.update(scope, EDITOR, 1, label="Labor")
    with pytest.raises(NotFound):
        instances.update(scope, NORD_EDITOR, 1, label="Labor")
    with pytest.raises(NotFound):
        instances.sync_ui_objects(scope, NORD_EDITOR)
    assert instances.get(scope, EDITOR) == renamed


def test_new_pages_are_added_to_copies_with_the_label_of_their_template(world: World) -> None:
    scope = world.scope(ANNA)
    assert service(world).sync_ui_objects(scope, EDITOR) == []
    grown = service(world, Grown())
    added = grown.sync_ui_objects(scope, EDITOR)
    assert [(one.role.label, one.rule.item) for one in added] == [
        ("graphicalEditor-admin", PAGE),
        ("graphicalEditor-user", PAGE),
    ]
    assert role(world, "user").rules[-1] == added[1].rule
    assert grown.sync_ui_objects(scope, EDITOR) == []
    assert [record.action for record in world.records()] == ["instance.sync_ui_objects"] * 6


def test_what_a_copy_says_of_a_page_stays(world: World) -> None:
    own = AccessRule(context=Context.UI, item="ui.feature.graphicalEditor.*", view=False)
    for label, rules in (("admin", (own,)), ("user", ())):
        before = role(world, label)
        world.directory.roles.write_role(INSIDE, before.model_copy(update={"rules": rules}))
    added = service(world, Grown()).sync_ui_objects(world.scope(ANNA), EDITOR)
    assert {one.role.label for one in added} == {"graphicalEditor-user"}
    assert role(world, "admin").rules == (own,)
    pages = [rule for rule in role(world, "user").rules if rule.context is Context.UI]
    assert len(pages) == 11
    assert {rule.context for rule in role(world, "user").rules} == {Context.UI}


def test_a_copy_under_another_label_gains_nothing(world: World) -> None:
    before = role(world, "admin")
    renamed = before.model_copy(update={"label": "Leitung"})
    world.directory.roles.write_role(INSIDE, renamed)
    added = service(world, Grown()).sync_ui_objects(world.scope(ANNA), EDITOR)
    assert {one.role.label for one in added} == {"graphicalEditor-user"}


def test_a_later_template_changes_no_copy(world: World) -> None:
    grown = service(world, Grown())
    before = world.directory.roles.roles(INSIDE)
    made = grown.create(world.scope(ANNA), "graphicalEditor", "Neu")
    assert world.directory.roles.roles(INSIDE) == before
    new: Scope = of_platform(DEMO).at(made.id)
    items = {rule.item for one in world.directory.roles.roles(new) for rule in one.rules}
    assert PAGE in items
