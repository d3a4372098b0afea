"""Owners act without a token: by what is stored of them at that moment."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Forbidden
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy.clients import ClientService
from stellwerk.tenancy.machines import KeptSecrets
from stellwerk.tenancy.members import MemberService
from stellwerk.tenancy.owners import Owners
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.tenancy.templates import SYSTEM_ADMIN
from tests.tenancy.world import ANNA, AUTO, BEN, DAVID, DEMO, EDITOR, ISSUER, NORA, ROOT, World

HERE = of_platform(DEMO, request="q-9").at(EDITOR)


@pytest.fixture
def owners(world: World) -> Owners:
    return Owners(world.directory, world.clock)


@pytest.mark.parametrize("user", [ANNA, BEN])
def test_an_owner_has_the_roles_that_signing_in_would_give(
    world: World, owners: Owners, user: UserId
) -> None:
    signed_in = world.scope(user, DEMO, EDITOR)
    acting = owners.acting(HERE, user)
    assert acting.principal == signed_in.principal
    assert (acting.place, acting.feature) == (signed_in.place, signed_in.feature)
    assert acting.request == "q-9"


def test_an_administrator_of_the_mandate_comes_in_without_access(
    world: World, owners: Owners
) -> None:
    world.directory.members.remove_access(HERE, ANNA)
    assert [grant.label for grant in owners.acting(HERE, ANNA).principal.grants] == ["admin"]


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        (DAVID, "has no access to the instance"),
        (NORA, "is no active member"),
        (ROOT, "is no active member"),
        (UserId("u-nobody"), "is no active member"),
    ],
)
def test_others_are_refused_with_the_reason(owners: Owners, user: UserId, reason: str) -> None:
    with pytest.raises(Forbidden, match=f"'{user}' {reason}"):
        owners.acting(HERE, user)


def test_a_place_that_is_not_there_lets_nobody_in(owners: Owners) -> None:
    with pytest.raises(Forbidden, match="instance that is not active"):
        owners.acting(HERE.at(InstanceId("i-none")), ANNA)
    with pytest.raises(Forbidden, match="mandate that is not active"):
        owners.acting(of_platform().at(EDITOR), ANNA)


def test_global_roles_do_not_count(world: World, owners: Owners) -> None:
    stored = world.directory.members.user(BEN)
    world.directory.members.write_user(stored.model_copy(update={"roles": (SYSTEM_ADMIN,)}), stored)
    labels = [grant.label for grant in owners.acting(HERE, BEN).principal.grants]
    assert labels == ["user", "graphicalEditor-user", "finance", "sales", "service"]
    assert len(world.scope(BEN, DEMO, EDITOR).principal.grants) == len(labels) + 1


def _machine(world: World, expires_in: timedelta) -> UserId:
    """Make a machine that may come into the editor."""
    clients = ClientService(
        world.directory,
        KeptSecrets(world.directory.members, world.clock),
        audit=world.audit,
        clock=world.clock,
        issuer=ISSUER,
    )
    anna = world.scope(ANNA)
    made, _ = clients.create(anna, "Import", [], world.clock.now() + expires_in)
    members = MemberService(world.directory, audit=world.audit, clock=world.clock)
    members.add(_editor(world), made.id, [RoleId("r-i-demo-graphicalEditor-user")])
    return made.id


def _editor(world: World) -> Scope:
    return world.scope(ANNA, DEMO, EDITOR)


def test_a_machine_owns_until_it_expires(world: World, owners: Owners) -> None:
    machine = _machine(world, timedelta(days=1))
    world.clock.advance(seconds=86_399)
    assert owners.acting(HERE, machine).user == machine
    world.clock.advance(seconds=1)
    with pytest.raises(Forbidden, match="until a moment that is over"):
        owners.acting(HERE, machine)


def test_a_machine_that_gets_other_roles_expires_all_the_same(world: World, owners: Owners) -> None:
    machine = _machine(world, timedelta(days=1))
    members = MemberService(world.directory, audit=world.audit, clock=world.clock)
    anna = world.scope(ANNA)
    revision = members.get(anna, machine).revision
    members.set_roles(anna, machine, revision, [RoleId("r-m-demo-viewer")])
    assert owners.acting(HERE, machine).principal.grants[0].label == "viewer"
    world.clock.advance(seconds=86_400)
    with pytest.raises(Forbidden, match="until a moment that is over"):
        owners.acting(HERE, machine)


def test_another_instance_is_another_place(owners: Owners) -> None:
    auto = owners.acting(HERE.at(AUTO), ANNA)
    assert auto.feature == "automation"
    assert "graphicalEditor-admin" not in {grant.label for grant in auto.principal.grants}
