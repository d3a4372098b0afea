from __future__ import annotations

from localcloud.seeding.people import COMPANIES, PEOPLE
from localcloud.seeding.seeds import Seeds
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.features import rule_faults
from stellwerk.tenancy.model import UserMandate
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import of_platform, permitted
from stellwerk.tenancy.templates import system_admin, system_templates
from tests.contracts.directories import on_moto
from tests.contracts.stores import Moto
from tests.fakes.clock import FixedClock
from tests.fakes.directory import directory
from tests.tenancy.world import ANNA, BEN, DEMO, EDITOR, FEATURES, world


def seeds(stores: Directory, issuer: str = "https://issuer.example") -> Seeds:
    return Seeds(stores, FEATURES.all(), issuer=issuer, clock=FixedClock())


def test_everybody_is_there_with_a_part() -> None:
    stores = directory()
    assert seeds(stores).sow()
    assert set(stores.members.users([person.id for person in PEOPLE])) == {
        person.id for person in PEOPLE
    }
    for company in COMPANIES:
        scope = of_platform(company.id)
        assert stores.mandates.mandate(scope).label == company.label
        members = stores.members.members(scope, cursor=None, limit=99).items
        assert {item.user for item in members} == {person.id for person in company.people}
        assert [item.id for item in stores.mandates.instances(scope)] == sorted(company.instances)


def test_a_second_run_leaves_all_as_it_is() -> None:
    stores = directory()
    seeds(stores).sow()
    stores.members.remove_membership(of_platform(DEMO), BEN)
    assert not seeds(stores).sow()
    assert stores.members.places(BEN) == []


def test_a_run_that_was_interrupted_is_finished() -> None:
    stores = directory()
    company = COMPANIES[0]
    stores.members.write_user(
        world().directory.members.user(ANNA).model_copy(update={"revision": 0})
    )
    member = UserMandate(mandate=company.id, user=ANNA)
    kept = stores.members.write_membership(of_platform(company.id), member)
    assert seeds(stores).sow()
    assert kept in stores.members.places(ANNA)
    assert len(stores.members.places(ANNA)) == 3


def test_users_follow_their_issuer_to_another_address() -> None:
    stores = directory()
    seeds(stores).sow()
    places = stores.members.places(ANNA)
    assert seeds(stores, "http://127.0.0.1:9000/oidc").sow()
    assert stores.members.by_subject("https://issuer.example", ANNA) is None
    moved = stores.members.by_subject("http://127.0.0.1:9000/oidc", ANNA)
    assert moved is not None
    assert moved.id == ANNA
    assert stores.members.places(ANNA) == places


def test_seeding_works_on_the_real_stores_twice(moto: Moto) -> None:
    stores, _ = on_moto(moto)
    seeds(stores).sow()
    places = stores.members.places(ANNA)
    seeds(stores, "https://other.example").sow()
    assert stores.members.places(ANNA) == places
    assert len(places) == 3


def test_who_runs_the_command_line_locally_is_the_administrator() -> None:
    scope = world().scope(ANNA, DEMO, EDITOR)
    assert permitted(scope, "workflows", Verb.DELETE).allowed
    assert permitted(scope, "members", Verb.UPDATE).allowed


def test_the_rules_of_system_roles_are_about_things_that_exist() -> None:
    for role in [*system_templates(), system_admin()]:
        assert rule_faults(role.rules, FEATURES.all().values()) == []
