from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound, StellwerkError
from stellwerk.kernel.ids import RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Level
from stellwerk.tenancy.members import MemberService
from stellwerk.tenancy.roles import RoleService
from stellwerk.tenancy.scope import of_platform
from tests.tenancy.world import ANNA, BEN, CLARA, DEMO, EDITOR, FEATURES, NORA, NORD, World

EDITOR_ADMIN = RoleId("r-i-demo-graphicalEditor-admin")
ADMIN = RoleId("r-m-demo-admin")
WORKFLOWS = AccessRule(
    context=Context.DATA,
    item="data.feature.graphicalEditor.workflows",
    view=True,
    read=Level.INSTANCE,
)


@pytest.fixture
def roles(world: World) -> RoleService:
    return RoleService(world.directory, FEATURES, audit=world.audit, clock=world.clock)


@pytest.fixture
def members(world: World) -> MemberService:
    return MemberService(world.directory, audit=world.audit, clock=world.clock)


def test_roles_are_those_of_the_scope_s_place(world: World, roles: RoleService) -> None:
    inside = roles.list(world.scope(ANNA, DEMO, EDITOR))
    assert {role.instance for role in inside} == {EDITOR}
    at_mandate = roles.list(world.scope(ANNA))
    assert [role.label for role in at_mandate] == ["admin", "user", "viewer"]
    assert roles.get(world.scope(ANNA), ADMIN) == at_mandate[0]
    with pytest.raises(NotFound):
        roles.get(world.scope(ANNA), EDITOR_ADMIN)
    with pytest.raises(NotFound):
        roles.get(world.scope(ANNA), RoleId("r-m-nord-admin"))


def test_a_role_is_made_changed_and_removed(world: World, roles: RoleService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    made = roles.create(scope, " Prüfer ", description="Liest.", rules=[WORKFLOWS])
    assert (made.label, made.instance, made.feature) == ("Prüfer", EDITOR, "graphicalEditor")
    assert roles.get(scope, made.id) == made
    changed = roles.update(scope, made.id, 1, label="Revision", description="", rules=[])
    assert (changed.label, changed.description, changed.rules, changed.revision) == (
        "Revision",
        "",
        (),
        2,
    )
    assert roles.update(scope, made.id, 2).label == "Revision"
    roles.delete(scope, made.id, 3)
    with pytest.raises(NotFound):
        roles.get(scope, made.id)
    actions = [record.action for record in world.records() if record.outcome == "done"]
    assert actions == ["role.create", "role.update", "role.update", "role.delete"]


@pytest.mark.parametrize("revision", [0, 2])
def test_a_role_is_changed_on_its_revision(world: World, roles: RoleService, revision: int) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    made = roles.create(scope, "Prüfer")
    with pytest.raises(Conflict):
        roles.update(scope, made.id, revision, label="Revision")
    with pytest.raises(Conflict):
        roles.delete(scope, made.id, revision)
    assert roles.get(scope, made.id) == made


def test_a_label_is_taken_once_in_a_place(world: World, roles: RoleService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    with pytest.raises(Conflict):
        roles.create(scope, "finance")
    made = roles.create(scope, "Prüfer")
    with pytest.raises(Conflict):
        roles.update(scope, made.id, 1, label="finance")
    assert roles.create(world.scope(ANNA), "finance").instance is None


def test_all_faults_of_rules_are_told_at_once(world: World, roles: RoleService) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR)
    rules = [
        AccessRule(context=Context.DATA, item="data.feature.graphicalEditor.unicorns"),
        AccessRule(context=Context.UI, item="ui.feature.automation.*"),
        AccessRule(context=Context.RESOURCE, item="data.feature.graphicalEditor.runs"),
        WORKFLOWS,
        WORKFLOWS,
    ]
    with pytest.raises(BadInput) as raised:
        roles.create(scope, "Prüfer", rules=rules)
    for told in ("unicorns", "automation", "RESOURCE rule 3", "DATA rule 5"):
        assert told in raised.value.message
    with pytest.raises(BadInput, match="too many"):
        roles.create(scope, "Prüfer", rules=[WORKFLOWS] * 201)
    assert {role.label for role in roles.list(scope)}.isdisjoint({"Prüfer"})


def test_a_description_has_its_bounds(world: World, roles: RoleService) -> None:
    scope = world.scope(ANNA)
    assert roles.create(scope, "Prüfer", description="x" * 1000).description == "x" * 1000
    with pytest.raises(BadInput):
        roles.create(scope, "Revision", description="x" * 1001)


def test_a_mandate_s_role_may_be_about_all_features(world: World, roles: RoleService) -> None:
    rules = [
        AccessRule(context=Context.UI, item="ui.feature.automation.*", view=True),
        AccessRule(context=Context.DATA, item="data.feature.administration.audit", read=Level.ALL),
        AccessRule(context=Context.RESOURCE, view=True),
    ]
    assert roles.create(world.scope(ANNA), "Revision", rules=rules).rules == tuple(rules)


def test_nobody_gives_more_than_he_holds(world: World, roles: RoleService) -> None:
    at_mandate = world.scope(ANNA)
    helper = roles.create(
        at_mandate,
        "Helfer",
        rules=[
            AccessRule(
                context=Context.DATA,
                item="data.feature.administration.roles",
                read=Level.ALL,
                create=Level.ALL,
                update=Level.ALL,
            )
        ],
    )
    MemberService(world.directory, audit=world.audit, clock=world.clock).set_roles(
        at_mandate, BEN, 1, [helper.id]
    )
    scope = world.scope(BEN)
    with pytest.raises(Forbidden, match="audit"):
        roles.create(
            scope,
            "Mehr",
            rules=[
                AccessRule(
                    context=Context.DATA,
                    item="data.feature.administration.audit",
                    read=Level.ALL,
                )
            ],
        )
    more = AccessRule(context=Context.RESOURCE, view=True)
    with pytest.raises(Forbidden):
        roles.update(scope, helper.id, 1, rules=[*helper.rules, more])
    page = AccessRule(context=Context.UI, view=True)
    assert roles.update(scope, helper.id, 1, rules=[*helper.rules, page]).rules[-1] == page


@pytest.mark.parametrize("user", [BEN, CLARA])
def test_only_administrators_touch_roles(world: World, roles: RoleService, user: UserId) -> None:
    for scope in (world.scope(user), world.scope(user, DEMO, EDITOR)):
        stored = world.directory.roles.roles(scope)
        with pytest.raises(Forbidden):
            roles.list(scope)
        with pytest.raises(Forbidden):
            roles.get(scope, stored[0].id)
        with pytest.raises(Forbidden):
            roles.create(scope, "Mine")
        with pytest.raises(Forbidden):
            roles.update(scope, stored[0].id, 1, rules=[])
        with pytest.raises(Forbidden):
            roles.delete(scope, stored[0].id, 1)
        assert world.directory.roles.roles(scope) == stored


def test_roles_of_another_mandate_are_not_there(world: World, roles: RoleService) -> None:
    scope = world.scope(NORA, NORD)
    with pytest.raises(NotFound):
        roles.update(scope, ADMIN, 1, rules=[])
    with pytest.raises(NotFound):
        roles.delete(scope, ADMIN, 1)
    assert world.directory.roles.role(of_platform(DEMO), ADMIN).revision == 1


@pytest.mark.parametrize("inside", [True, False], ids=["instance", "mandate"])
def test_the_last_role_that_administrates_stays(
    world: World, roles: RoleService, inside: bool
) -> None:
    scope = world.scope(ANNA, DEMO, EDITOR) if inside else world.scope(ANNA)
    admin = EDITOR_ADMIN if inside else ADMIN
    before = roles.get(scope, admin)
    with pytest.raises(Conflict, match="administrate"):
        roles.update(scope, admin, 1, rules=[])
    with pytest.raises(Conflict, match="administrate"):
        roles.delete(scope, admin, 1)
    assert roles.get(scope, admin) == before
    assert roles.update(scope, admin, 1, label="Leitung").label == "Leitung"


def test_a_role_may_go_when_another_administrates(
    world: World, roles: RoleService, members: MemberService
) -> None:
    scope = world.scope(ANNA)
    second = roles.create(scope, "Leitung", rules=roles.get(scope, ADMIN).rules)
    members.set_roles(scope, BEN, 1, [second.id])
    roles.delete(scope, ADMIN, 1)
    assert members.get(scope, BEN).roles == (second.id,)


def test_two_administrators_cannot_take_each_other_s_role_at_once(
    world: World, roles: RoleService, members: MemberService
) -> None:
    scope = world.scope(ANNA)
    second = roles.create(scope, "Leitung", rules=roles.get(scope, ADMIN).rules)
    members.set_roles(scope, BEN, 1, [second.id])
    acts: list[Callable[[], object]] = [
        lambda: roles.delete(scope, ADMIN, 1),
        lambda: roles.delete(world.scope(BEN), second.id, 1),
        lambda: members.remove(world.scope(BEN), ANNA),
        lambda: members.set_roles(scope, BEN, 2, []),
    ]
    start = threading.Barrier(len(acts))
    done: list[int] = []

    def act(number: int) -> None:
        start.wait()
        try:
            acts[number]()
        except StellwerkError:
            return
        done.append(number)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) <= 2
    left = {role.id for role in world.directory.roles.roles(of_platform(DEMO))}
    seats = world.directory.members.members(of_platform(DEMO), cursor=None, limit=9).items
    assert any(left & {ADMIN, second.id} & set(seat.roles) for seat in seats)
