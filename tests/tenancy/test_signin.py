from __future__ import annotations

from datetime import timedelta

import pytest
from moto import mock_aws

from stellwerk.kernel.errors import NotFound, Unauthenticated
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import Level, Priority, Verb
from stellwerk.tenancy.model import User
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, of_platform, permitted
from tests.contracts.directories import on_moto
from tests.contracts.stores import Moto
from tests.tenancy.world import (
    ANNA,
    AUTO,
    BEN,
    CLARA,
    DAVID,
    DEMO,
    EDITOR,
    NORA,
    NORD,
    NORD_EDITOR,
    ROOT,
    World,
    world,
)


def test_a_scope_carries_the_roles_of_instance_and_mandate(world: World) -> None:
    scope = world.scope(BEN, DEMO, EDITOR)
    assert (scope.mandate, scope.instance, scope.user) == (DEMO, EDITOR, BEN)
    assert (scope.feature, scope.request) == ("graphicalEditor", "q-1")
    held = [(grant.priority, grant.label) for grant in scope.principal.grants]
    assert held[:2] == [(Priority.MANDATE, "user"), (Priority.INSTANCE, "graphicalEditor-user")]
    assert {label for _, label in held[2:]} == {"finance", "sales", "service"}


def test_at_a_mandate_no_role_of_an_instance_counts(world: World) -> None:
    scope = world.scope(BEN)
    assert (scope.instance, scope.feature) == (NO_INSTANCE, "administration")
    assert [grant.label for grant in scope.principal.grants] == ["user"]


@pytest.mark.parametrize(
    ("user", "workflows"),
    [
        (ANNA, ["instance", "instance", "instance", "instance"]),
        (BEN, ["instance", "instance", "my", "my"]),
        (CLARA, ["instance", "none", "none", "none"]),
    ],
)
def test_the_seeded_parts_reach_as_far_as_they_should(
    world: World, user: UserId, workflows: list[str]
) -> None:
    scope = world.scope(user, DEMO, EDITOR)
    verbs = (Verb.READ, Verb.CREATE, Verb.UPDATE, Verb.DELETE)
    assert [permitted(scope, "workflows", verb).level for verb in verbs] == workflows


@pytest.mark.parametrize(
    ("user", "mandate", "instance"),
    [
        (BEN, NORD, None),
        (BEN, NORD, NORD_EDITOR),
        (BEN, DEMO, NORD_EDITOR),
        (DAVID, DEMO, EDITOR),
        (ROOT, DEMO, EDITOR),
        (ROOT, SYSTEM, None),
        (ANNA, "m-none", None),
        (ROOT, "m-none", None),
        (ANNA, DEMO, "i-none"),
        (ANNA, DEMO, ""),
        (ANNA, "", None),
        (ANNA, "m-demo#", None),
        (ANNA, "m" * 65, None),
        (ANNA, DEMO, "i-demo\n"),
    ],
)
def test_a_foreign_or_unknown_place_is_not_there(
    world: World, user: UserId, mandate: str, instance: str | None
) -> None:
    with pytest.raises(NotFound):
        world.scope(user, MandateId(mandate), None if instance is None else InstanceId(instance))


def test_an_outsider_belongs_to_the_mandate_alone(world: World) -> None:
    assert [grant.label for grant in world.scope(DAVID).principal.grants] == ["user"]


def test_an_administrator_comes_into_an_instance_without_access(world: World) -> None:
    world.directory.members.remove_access(of_platform(DEMO).at(AUTO), ANNA)
    scope = world.scope(ANNA, DEMO, AUTO)
    assert [grant.label for grant in scope.principal.grants] == ["admin"]


def test_a_system_administrator_sees_mandates_and_nothing_inside(world: World) -> None:
    scope = world.scope(ROOT, NORD)
    assert permitted(scope, "mandates", Verb.UPDATE).level is Level.ALL
    for table in ("members", "roles", "instances", "clients", "audit"):
        assert not permitted(scope, table, Verb.READ).allowed


def test_only_system_administrators_come_into_a_mandate_at_rest(world: World) -> None:
    scope = of_platform(DEMO)
    mandate = world.directory.mandates.mandate(scope)
    world.directory.mandates.write_mandate(scope, mandate.model_copy(update={"active": False}))
    for user, instance in ((ANNA, None), (ANNA, EDITOR), (BEN, EDITOR), (ROOT, EDITOR)):
        with pytest.raises(NotFound):
            world.scope(user, DEMO, instance)
    assert [grant.label for grant in world.scope(ROOT).principal.grants] == ["system-admin"]


def test_nobody_comes_into_an_instance_at_rest(world: World) -> None:
    scope = of_platform(DEMO)
    instance = world.directory.mandates.instance(scope, EDITOR)
    world.directory.mandates.write_instance(scope, instance.model_copy(update={"active": False}))
    for user in (ANNA, BEN):
        with pytest.raises(NotFound):
            world.scope(user, DEMO, EDITOR)


def test_a_membership_at_rest_opens_nothing(world: World) -> None:
    scope = of_platform(DEMO)
    member = world.directory.members.standing(scope, BEN).membership
    assert member is not None
    resting = member.model_copy(update={"active": False})
    world.directory.members.write_membership(scope, resting)
    for instance in (None, EDITOR):
        with pytest.raises(NotFound):
            world.scope(BEN, DEMO, instance)
    assert world.signing.me(world.claims(BEN)).mandates == ()


def test_a_role_that_was_removed_gives_nothing_more(world: World) -> None:
    scope = of_platform(DEMO).at(EDITOR)
    role = world.directory.roles.role(scope, RoleId("r-i-demo-graphicalEditor-user"))
    world.directory.roles.delete_role(scope, role)
    assert not permitted(world.scope(BEN, DEMO, EDITOR), "workflows", Verb.READ).allowed


def test_the_platform_s_scope_has_global_roles_alone(world: World) -> None:
    assert [grant.label for grant in world.platform(ROOT).principal.grants] == ["system-admin"]
    assert world.platform(ANNA).principal.grants == ()
    assert world.platform(ANNA).mandate == SYSTEM


def test_an_unknown_subject_or_issuer_is_refused(world: World) -> None:
    with pytest.raises(Unauthenticated):
        world.signing.user(world.claims("stranger"))
    with pytest.raises(Unauthenticated):
        world.signing.user(world.claims(ANNA, issuer="https://other.example"))
    with pytest.raises(Unauthenticated):
        world.signing.user(world.claims(ANNA, kind="machine"))


def test_who_was_revoked_or_has_expired_is_refused(world: World) -> None:
    expires = world.clock.now() + timedelta(minutes=1)
    change(world, BEN, expires=expires)
    assert world.signing.user(world.claims(BEN)).id == BEN
    world.clock.advance(minutes=1)
    with pytest.raises(Unauthenticated, match="expired"):
        world.scope(BEN, DEMO)
    change(world, CLARA, active=False)
    with pytest.raises(Unauthenticated, match="revoked"):
        world.signing.me(world.claims(CLARA))


def test_an_invited_person_is_linked_by_verified_address(world: World) -> None:
    invited = invite(world, "eva@muster.example")
    claims = world.claims("s-eva", email="Eva@Muster.example", email_verified=True)
    assert world.signing.user(claims).id == invited.id
    assert world.signing.user(world.claims("s-eva")).subject == "s-eva"
    assert world.acts(SYSTEM) == ["user.link begun", "user.link done"]


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "eva@muster.example"},
        {"email": "", "email_verified": True},
        {"email": "other@muster.example", "email_verified": True},
        {"email": "eva@muster.example", "email_verified": True, "kind": "machine"},
        {"email": "anna@muster.example", "email_verified": True},
    ],
    ids=["unverified", "none", "another", "machine", "taken"],
)
def test_nobody_is_linked_by_less(world: World, claims: dict[str, object]) -> None:
    invite(world, "eva@muster.example")
    with pytest.raises(Unauthenticated):
        world.signing.user(world.claims("s-eva", **claims))
    assert world.acts(SYSTEM) == []


def test_me_shows_what_may_be_done_where(world: World) -> None:
    me = world.signing.me(world.claims(BEN))
    [demo] = me.mandates
    assert (me.user.id, demo.mandate.id, demo.seen.roles) == (BEN, DEMO, ("user",))
    assert demo.seen.ui == ("ui.feature.administration.overview",)
    editor, auto = demo.instances
    assert (editor.instance.id, auto.instance.id) == (EDITOR, AUTO)
    assert editor.seen.roles[0] == "graphicalEditor-user"
    assert "ui.feature.graphicalEditor.editor" in editor.seen.ui
    assert "ui.feature.graphicalEditor.members" not in editor.seen.ui
    assert "resource.feature.graphicalEditor.publish" in editor.seen.operations
    assert "resource.feature.graphicalEditor.share" not in editor.seen.operations
    assert me.platform.ui == ()


def test_me_shows_viewers_no_operations(world: World) -> None:
    [demo] = world.signing.me(world.claims(CLARA)).mandates
    assert [instance.seen.operations for instance in demo.instances] == [(), ()]


def test_only_system_administrators_see_the_page_of_mandates(world: World) -> None:
    page = "ui.feature.administration.mandates"
    root = world.signing.me(world.claims(ROOT))
    assert (root.platform.ui, root.platform.roles, root.mandates) == (
        (page,),
        ("system-admin",),
        (),
    )
    [demo] = world.signing.me(world.claims(ANNA)).mandates
    assert page not in demo.seen.ui
    assert len(demo.seen.ui) == 7


def test_me_leaves_out_what_rests(world: World) -> None:
    scope = of_platform(DEMO)
    instance = world.directory.mandates.instance(scope, AUTO)
    world.directory.mandates.write_instance(scope, instance.model_copy(update={"active": False}))
    [demo] = world.signing.me(world.claims(ANNA)).mandates
    assert [seen.instance.id for seen in demo.instances] == [EDITOR]


def test_a_scope_takes_three_requests_and_me_five() -> None:
    with mock_aws():
        stores, counted = on_moto(Moto())
        seeded = world(stores)
        counted.requests.clear()
        seeded.scope(NORA, NORD, NORD_EDITOR)
        assert counted.requests == ["get_item", "batch_get_item", "batch_get_item"]
        counted.requests.clear()
        seeded.signing.me(seeded.claims(ANNA))
        assert counted.requests == ["get_item", "query", *["batch_get_item"] * 3]


def change(world: World, user: UserId, **changes: object) -> None:
    stored = world.directory.members.user(user)
    world.directory.members.write_user(stored.model_copy(update=changes), stored)


def invite(world: World, email: str) -> User:
    invited = User(id=UserId("u-eva"), email=email, name="Eva", created=world.clock.now())
    return world.directory.members.write_user(invited)
