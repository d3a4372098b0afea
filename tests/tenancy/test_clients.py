from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound, Unauthenticated
from stellwerk.kernel.ids import InstanceId, RoleId, UserId
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.clients import ClientService
from stellwerk.tenancy.machines import KeptSecrets
from stellwerk.tenancy.members import MemberService
from stellwerk.tenancy.model import User
from stellwerk.tenancy.ports import Credentials
from stellwerk.tenancy.scope import Scope, permitted
from tests.tenancy.world import ANNA, BEN, CLARA, DEMO, EDITOR, ISSUER, NORA, NORD, World

USER = RoleId("r-m-demo-user")


@pytest.fixture
def secrets(world: World) -> KeptSecrets:
    return KeptSecrets(world.directory.members, world.clock)


@pytest.fixture
def clients(world: World, secrets: KeptSecrets) -> ClientService:
    return ClientService(
        world.directory, secrets, audit=world.audit, clock=world.clock, issuer=ISSUER
    )


def enters(world: World, client: User, instance: InstanceId | None = None) -> Scope:
    claims = world.claims(client.subject, kind="machine", client_id=client.subject)
    return world.signing.scope(claims, DEMO, instance)


def test_a_machine_signs_in_with_its_secret(
    world: World, clients: ClientService, secrets: KeptSecrets
) -> None:
    made, secret = clients.create(world.scope(ANNA), "Nightly import", [USER])
    assert (made.kind, made.name, made.issuer) == ("machine", "Nightly import", ISSUER)
    assert len(secret) >= 43
    assert secrets.machine(made.subject, secret) == made
    scope = enters(world, made)
    assert [grant.label for grant in scope.principal.grants] == ["user"]
    with pytest.raises(NotFound):
        enters(world, made, EDITOR)


@pytest.mark.parametrize("client_id", ["", "c-none", "u-demo"])
def test_wrong_credentials_open_nothing(
    world: World, clients: ClientService, secrets: KeptSecrets, client_id: str
) -> None:
    made, secret = clients.create(world.scope(ANNA), "Import", [])
    for wrong in ("", secret[:-1], f"{secret}\udcff"):
        with pytest.raises(Unauthenticated):
            secrets.machine(made.subject, wrong)
    with pytest.raises(Unauthenticated):
        secrets.machine(client_id, secret)
    with pytest.raises(Unauthenticated):
        secrets.machine(client_id, "")


def test_a_secret_is_kept_as_hash_alone(
    world: World, clients: ClientService, secrets: KeptSecrets
) -> None:
    made, secret = clients.create(world.scope(ANNA), "Import", [])
    kept = world.directory.members.secret(made.id)
    assert kept is not None
    assert secret not in kept.model_dump_json()
    assert secret not in "".join(record.model_dump_json() for record in world.records())
    assert secret not in repr(Credentials(made.subject, secret))


def test_another_secret_replaces_the_one_before(
    world: World, clients: ClientService, secrets: KeptSecrets
) -> None:
    made, first = clients.create(world.scope(ANNA), "Import", [])
    again, second = clients.rotate(world.scope(ANNA), made.id)
    assert again == made
    assert secrets.machine(made.subject, second).id == made.id
    with pytest.raises(Unauthenticated):
        secrets.machine(made.subject, first)


def test_a_revoked_machine_is_refused_at_once(
    world: World, clients: ClientService, secrets: KeptSecrets
) -> None:
    made, secret = clients.create(world.scope(ANNA), "Import", [USER])
    clients.revoke(world.scope(ANNA), made.id)
    with pytest.raises(Unauthenticated):
        enters(world, made)
    with pytest.raises(Unauthenticated, match="revoked"):
        secrets.machine(made.subject, secret)
    assert clients.list(world.scope(ANNA)).items == []
    with pytest.raises(NotFound):
        clients.revoke(world.scope(ANNA), made.id)


def test_a_machine_expires(world: World, clients: ClientService, secrets: KeptSecrets) -> None:
    expires = world.clock.now() + timedelta(days=1)
    made, secret = clients.create(world.scope(ANNA), "Import", [USER], expires)
    assert enters(world, made).user == made.id
    world.clock.advance(days=1)
    with pytest.raises(Unauthenticated):
        enters(world, made)
    with pytest.raises(Unauthenticated, match="expired"):
        secrets.machine(made.subject, secret)
    with pytest.raises(BadInput):
        clients.create(world.scope(ANNA), "Late", [], expires)


def test_machines_are_listed_apart_from_people(world: World, clients: ClientService) -> None:
    made = []
    for number in range(3):
        made.append(clients.create(world.scope(ANNA), f"Import {number}", [])[0])
        world.clock.advance(seconds=1)
    first = clients.list(world.scope(ANNA), limit=2)
    rest = clients.list(world.scope(ANNA), cursor=first.cursor)
    assert [*first.items, *rest.items] == made
    members = MemberService(world.directory, audit=world.audit, clock=world.clock)
    listed = members.list(world.scope(ANNA)).items
    assert {one.kind for one in listed} == {"person"}


def test_a_machine_gets_into_an_instance_like_a_person(
    world: World, clients: ClientService
) -> None:
    made, _ = clients.create(world.scope(ANNA), "Import", [])
    members = MemberService(world.directory, audit=world.audit, clock=world.clock)
    scope = world.scope(ANNA, DEMO, EDITOR)
    added = members.add(scope, made.id, [RoleId("r-i-demo-graphicalEditor-user")])
    assert added.kind == "machine"
    assert permitted(enters(world, made, EDITOR), "workflows", Verb.READ).allowed


def test_a_machine_is_not_the_last_administrator(world: World, clients: ClientService) -> None:
    clients.create(world.scope(ANNA), "Root", [RoleId("r-m-demo-admin")])
    members = MemberService(world.directory, audit=world.audit, clock=world.clock)
    with pytest.raises(Conflict, match="administrate"):
        members.remove(world.scope(ANNA), ANNA)


@pytest.mark.parametrize("role", ["r-m-nord-user", "r-none", "r-i-demo-finance"])
def test_a_machine_gets_roles_of_its_mandate_alone(
    world: World, clients: ClientService, role: str
) -> None:
    with pytest.raises(NotFound):
        clients.create(world.scope(ANNA), "Import", [RoleId(role)])
    assert clients.list(world.scope(ANNA)).items == []


def test_machines_of_another_mandate_and_people_are_not_there(
    world: World, clients: ClientService
) -> None:
    made, _ = clients.create(world.scope(ANNA), "Import", [])
    for scope, client in [
        (world.scope(NORA, NORD), made.id),
        (world.scope(ANNA), BEN),
        (world.scope(ANNA), UserId("c-none")),
    ]:
        with pytest.raises(NotFound):
            clients.rotate(scope, client)
        with pytest.raises(NotFound):
            clients.revoke(scope, client)
    assert enters(world, made).user == made.id


@pytest.mark.parametrize("user", [BEN, CLARA])
def test_only_administrators_have_machines(
    world: World, clients: ClientService, user: UserId
) -> None:
    made, _ = clients.create(world.scope(ANNA), "Import", [])
    scope = world.scope(user)
    with pytest.raises(Forbidden):
        clients.list(scope)
    with pytest.raises(Forbidden):
        clients.create(scope, "Mine", [])
    with pytest.raises(Forbidden):
        clients.rotate(scope, made.id)
    with pytest.raises(Forbidden):
        clients.revoke(scope, made.id)


class Moving:
    """A registry that gives a machine another client id with another secret."""

    def __init__(self) -> None:
        self.withdrawn: list[str] = []

    def register(self, client: UserId, name: str) -> Credentials:
        return Credentials("app-1", "one")

    def renew(self, client: UserId, name: str, client_id: str) -> Credentials:
        return Credentials("app-2", "two")

    def withdraw(self, client: UserId, client_id: str) -> None:
        self.withdrawn.append(client_id)


def test_a_machine_stays_itself_under_another_client_id(world: World) -> None:
    registry = Moving()
    clients = ClientService(
        world.directory, registry, audit=world.audit, clock=world.clock, issuer=ISSUER
    )
    made, _ = clients.create(world.scope(ANNA), "Import", [USER])
    moved, secret = clients.rotate(world.scope(ANNA), made.id)
    assert (moved.id, moved.subject, secret) == (made.id, "app-2", "two")
    assert enters(world, moved).user == made.id
    with pytest.raises(Unauthenticated):
        enters(world, made)
    clients.revoke(world.scope(ANNA), made.id)
    assert registry.withdrawn == ["app-2"]
