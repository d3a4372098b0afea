from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from moto import mock_aws

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound, StellwerkError
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Level, Verb
from stellwerk.tenancy.members import MemberService
from stellwerk.tenancy.roles import RoleService
from stellwerk.tenancy.scope import of_platform, permitted
from tests.contracts.directories import on_moto
from tests.contracts.stores import Moto
from tests.tenancy.world import (
    ANNA,
    BEN,
    CLARA,
    DAVID,
    DEMO,
    EDITOR,
    FEATURES,
    NORA,
    NORD,
    World,
    world,
)

ADMIN, USER = RoleId("r-m-demo-admin"), RoleId("r-m-demo-user")
EDITOR_ADMIN = RoleId("r-i-demo-graphicalEditor-admin")
EDITOR_USER = RoleId("r-i-demo-graphicalEditor-user")


def service(world: World) -> MemberService:
    return MemberService(world.directory, audit=world.audit, clock=world.clock)


@pytest.fixture
def members(world: World) -> MemberService:
    return service(world)


def test_members_are_listed_by_user_in_pages(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA)
    first = members.list(scope, limit=3)
    rest = members.list(scope, cursor=first.cursor, limit=3)
    assert [one.user for one in [*first.items, *rest.items]] == [ANNA, DAVID, BEN, CLARA]
    anna = first.items[0]
    assert (anna.name, anna.email, anna.kind) == ("Anna Muster", "anna@muster.example", "person")
    assert (anna.roles, anna.active, anna.signed_in, anna.revision) == ((ADMIN,), True, True, 1)
    inside = members.list(world.scope(ANNA, DEMO, EDITOR))
    assert [one.user for one in inside.items] == [ANNA, BEN, CLARA]


def test_an_unknown_address_is_invited(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA)
    added = members.add(scope, "eva@muster.example", [USER], name="Eva Neu")
    assert (added.name, added.signed_in, added.roles) == ("Eva Neu", False, (USER,))
    claims = world.claims("s-eva", email="eva@muster.example", email_verified=True)
    assert world.signing.scope(claims, DEMO).user == added.user
    assert members.get(scope, added.user).signed_in


def test_without_a_name_the_address_has_to_do(world: World, members: MemberService) -> None:
    assert members.add(world.scope(ANNA), "eva@muster.example").name == "eva"


def test_a_person_is_one_in_all_mandates(world: World, members: MemberService) -> None:
    added = members.add(world.scope(ANNA), "NORA@nordwind.example", [USER])
    assert added.user == NORA
    assert world.scope(NORA, DEMO).user == NORA
    places = {place.mandate for place in world.directory.members.places(NORA)}
    assert places == {DEMO, NORD}


@pytest.mark.parametrize("who", [NORA, "u-none"])
def test_to_a_mandate_nobody_is_added_by_id(world: World, members: MemberService, who: str) -> None:
    with pytest.raises(NotFound):
        members.add(world.scope(ANNA), who, [USER])


@pytest.mark.parametrize("who", ["", "eva@", "@muster.example", "a b@c.de", f"{'x' * 250}@c.de"])
def test_nobody_is_invited_without_an_address(
    world: World, members: MemberService, who: str
) -> None:
    with pytest.raises(BadInput):
        members.add(world.scope(ANNA), who, [USER])


def test_only_members_of_the_mandate_come_into_an_instance(
    world: World, members: MemberService
) -> None:
    inside = world.scope(ANNA, DEMO, EDITOR)
    for who in (NORA, "nora@nordwind.example", "eva@muster.example", "u-none"):
        with pytest.raises(NotFound):
            members.add(inside, who, [EDITOR_USER])
    assert world.directory.members.by_email("eva@muster.example") is None
    assert members.add(inside, DAVID, [EDITOR_USER]).user == DAVID
    assert permitted(world.scope(DAVID, DEMO, EDITOR), "workflows", Verb.CREATE).allowed


def test_a_member_is_added_once(world: World, members: MemberService) -> None:
    for who in (BEN, "ben@muster.example"):
        with pytest.raises(Conflict):
            members.add(world.scope(ANNA), who, [USER])
        with pytest.raises(Conflict):
            members.add(world.scope(ANNA, DEMO, EDITOR), who, [])


@pytest.mark.parametrize(
    "role", ["r-m-nord-admin", "r-i-demo-graphicalEditor-admin", "r-none", "system-admin"]
)
def test_roles_of_other_places_are_refused(world: World, members: MemberService, role: str) -> None:
    scope = world.scope(ANNA)
    with pytest.raises(NotFound):
        members.add(scope, "eva@muster.example", [USER, RoleId(role)])
    with pytest.raises(NotFound):
        members.set_roles(scope, BEN, 1, [USER, RoleId(role)])
    assert world.directory.members.by_email("eva@muster.example") is None
    assert members.get(scope, BEN).roles == (USER,)


def test_roles_are_set_on_the_revision(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    changed = members.set_roles(scope, CLARA, 1, [EDITOR_USER, EDITOR_USER])
    assert (changed.roles, changed.revision) == ((EDITOR_USER,), 2)
    with pytest.raises(Conflict):
        members.set_roles(scope, CLARA, 1, [])
    with pytest.raises(NotFound):
        members.set_roles(scope, DAVID, 1, [EDITOR_USER])
    assert members.get(scope, CLARA) == changed


def test_roles_that_have_gone_fall_out(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    before = members.get(scope, BEN)
    gone = RoleId("r-i-demo-finance")
    roles = RoleService(world.directory, FEATURES, audit=world.audit, clock=world.clock)
    roles.delete(scope, gone, 1)
    changed = members.set_roles(scope, BEN, 1, before.roles)
    assert set(changed.roles) == set(before.roles) - {gone}


def test_who_leaves_a_mandate_leaves_its_instances(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA)
    members.remove(scope, BEN)
    for instance in (None, EDITOR):
        with pytest.raises(NotFound):
            world.scope(BEN, DEMO, instance)
    with pytest.raises(NotFound):
        members.remove(scope, BEN)
    members.add(scope, "ben@muster.example", [USER])
    with pytest.raises(NotFound):
        world.scope(BEN, DEMO, EDITOR)


def test_who_leaves_an_instance_stays_in_the_mandate(world: World, members: MemberService) -> None:
    members.remove(world.scope(ANNA, DEMO, EDITOR), BEN)
    assert world.scope(BEN).user == BEN
    with pytest.raises(NotFound):
        world.scope(BEN, DEMO, EDITOR)


@pytest.mark.parametrize("instance", [None, EDITOR], ids=["mandate", "instance"])
def test_the_last_administrator_stays(
    world: World, members: MemberService, instance: InstanceId | None
) -> None:
    scope = world.scope(ANNA, DEMO, instance)
    with pytest.raises(Conflict, match="administrate"):
        members.remove(scope, ANNA)
    with pytest.raises(Conflict, match="administrate"):
        members.set_roles(scope, ANNA, 1, [])
    admin = ADMIN if instance is None else EDITOR_ADMIN
    members.set_roles(scope, BEN, 1, [admin])
    members.remove(scope, ANNA)
    with pytest.raises(Conflict, match="administrate"):
        members.remove(world.scope(BEN, DEMO, instance), BEN)


def test_neither_revoked_people_nor_machines_are_the_last_administrator(
    world: World, members: MemberService
) -> None:
    scope = world.scope(ANNA)
    members.set_roles(scope, BEN, 1, [ADMIN])
    stored = world.directory.members.user(BEN)
    world.directory.members.write_user(stored.model_copy(update={"active": False}), stored)
    with pytest.raises(Conflict, match="administrate"):
        members.remove(scope, ANNA)


def test_an_administrator_without_access_puts_an_instance_right(
    world: World, members: MemberService
) -> None:
    members.set_roles(world.scope(ANNA), DAVID, 1, [ADMIN])
    members.remove(world.scope(DAVID, DEMO, EDITOR), BEN)
    added = members.add(world.scope(DAVID, DEMO, EDITOR), BEN, [EDITOR_ADMIN])
    assert added.roles == (EDITOR_ADMIN,)


def test_nobody_gives_a_role_beyond_his_own(world: World, members: MemberService) -> None:
    roles = RoleService(world.directory, FEATURES, audit=world.audit, clock=world.clock)
    doorman = roles.create(
        world.scope(ANNA),
        "Empfang",
        rules=[
            AccessRule(
                context=Context.DATA,
                item="data.feature.administration.members",
                view=True,
                read=Level.ALL,
                create=Level.ALL,
                update=Level.ALL,
            )
        ],
    )
    members.set_roles(world.scope(ANNA), CLARA, 1, [doorman.id, USER])
    scope = world.scope(CLARA)
    with pytest.raises(Forbidden):
        members.add(scope, "eva@muster.example", [ADMIN])
    with pytest.raises(Forbidden):
        members.set_roles(scope, CLARA, 2, [doorman.id, ADMIN])
    assert members.add(scope, "eva@muster.example", [doorman.id]).roles == (doorman.id,)
    assert members.set_roles(scope, CLARA, 2, [doorman.id]).roles == (doorman.id,)


@pytest.mark.parametrize("user", [BEN, CLARA])
def test_only_administrators_change_members(
    world: World, members: MemberService, user: UserId
) -> None:
    for scope in (world.scope(user), world.scope(user, DEMO, EDITOR)):
        with pytest.raises(Forbidden):
            members.add(scope, "eva@muster.example")
        with pytest.raises(Forbidden):
            members.set_roles(scope, user, 1, [])
        with pytest.raises(Forbidden):
            members.remove(scope, ANNA)
    outcomes = {record.outcome for record in world.records()}
    assert outcomes == {"begun", "denied"}


def test_users_see_their_colleagues_and_viewers_do_not(
    world: World, members: MemberService
) -> None:
    assert members.get(world.scope(BEN, DEMO, EDITOR), CLARA).name == "Clara Lang"
    with pytest.raises(Forbidden):
        members.list(world.scope(CLARA, DEMO, EDITOR))
    with pytest.raises(NotFound):
        members.get(world.scope(BEN, DEMO, EDITOR), NORA)
    with pytest.raises(NotFound):
        members.get(world.scope(BEN), NORA)


def test_a_foreign_user_is_refused_like_one_who_does_not_exist(
    world: World, members: MemberService
) -> None:
    inside = world.scope(ANNA, DEMO, EDITOR)
    told = {}
    for name, who in (("foreign", NORA), ("unknown", UserId("u-none"))):
        said = []
        acts: list[Callable[[UserId], object]] = [
            lambda who: members.get(inside, who),
            lambda who: members.add(inside, who),
            lambda who: members.add(world.scope(ANNA), who),
            lambda who: members.remove(inside, who),
            lambda who: members.set_roles(inside, who, 1, []),
        ]
        for act in acts:
            with pytest.raises(NotFound) as raised:
                act(who)
            said.append((raised.value.message.replace(who, "X"), raised.value.remedy))
        told[name] = said
    assert told["foreign"] == told["unknown"]


def test_changes_are_audited_with_what_was_and_is(world: World, members: MemberService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    members.set_roles(scope, CLARA, 1, [EDITOR_USER])
    members.remove(scope, CLARA)
    _, changed, _, removed = world.records()
    assert changed.object == removed.object == "user:u-demo-viewer"
    assert changed.after == removed.before
    assert removed.after == ""
    assert changed.request == "q-1"


@pytest.mark.parametrize("real", [False, True], ids=["fake", "moto"])
def test_two_administrators_cannot_dismiss_each_other_at_once(real: bool) -> None:
    with mock_aws():
        seeded = world(on_moto(Moto())[0] if real else None)
        members = service(seeded)
        members.set_roles(seeded.scope(ANNA), BEN, 1, [ADMIN])
        anna, ben = seeded.scope(ANNA), seeded.scope(BEN)
        acts: list[Callable[[], object]] = [
            lambda: members.remove(anna, BEN),
            lambda: members.remove(ben, ANNA),
            lambda: members.set_roles(anna, ANNA, 1, []),
        ]
        at_once(acts)
        seats = seeded.directory.members.members(of_platform(DEMO), cursor=None, limit=9).items
        assert len([seat for seat in seats if ADMIN in seat.roles]) == 1


def test_one_person_invited_by_two_is_one(world: World, members: MemberService) -> None:
    roles: list[Callable[[], object]] = [
        lambda: members.add(world.scope(ANNA), "eva@muster.example"),
        lambda: members.add(world.scope(NORA, NORD), "eva@muster.example"),
    ]
    at_once(roles)
    eva = world.directory.members.by_email("eva@muster.example")
    assert eva is not None
    assert len(world.directory.members.places(eva.id)) == 2


def at_once(acts: list[Callable[[], object]]) -> None:
    start = threading.Barrier(len(acts))

    def act(number: int) -> None:
        start.wait()
        try:
            acts[number]()
        except StellwerkError:
            return

    threads = [threading.Thread(target=act, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
