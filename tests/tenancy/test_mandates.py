from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.mandates import MandateService
from stellwerk.tenancy.model import SHARE
from stellwerk.tenancy.scope import SYSTEM, of_platform, permitted
from stellwerk.tenancy.shares import KnownShares
from stellwerk.tenancy.templates import system_templates
from tests.fakes.clock import FixedClock
from tests.tenancy.world import ANNA, BEN, CLARA, DEMO, EDITOR, NORA, NORD, ROOT, World


@pytest.fixture
def mandates(world: World) -> MandateService:
    return MandateService(world.directory, audit=world.audit, clock=world.clock)


def test_a_mandate_begins_with_copies_of_the_system_s_roles(
    world: World, mandates: MandateService
) -> None:
    made = mandates.create(world.platform(ROOT), " Ostwind AG ", NORA)
    assert (made.label, made.created_by, made.active, made.revision) == (
        "Ostwind AG",
        ROOT,
        True,
        1,
    )
    roles = world.directory.roles.roles(of_platform(made.id))
    assert {role.label for role in roles} == {"admin", "user", "viewer"}
    for role in roles:
        [template] = [one for one in system_templates() if one.id == role.template]
        assert role.rules == template.rules
        assert (role.mandate, role.is_system_role, role.feature) == (made.id, False, None)
    ids = {role.id for role in world.directory.roles.roles(of_platform(NORD))}
    assert ids.isdisjoint(role.id for role in roles)


def test_its_administrator_can_begin_at_once(world: World, mandates: MandateService) -> None:
    made = mandates.create(world.platform(ROOT), "Ostwind AG", NORA)
    scope = world.scope(NORA, made.id)
    assert permitted(scope, "members", Verb.CREATE).allowed
    assert world.acts(SYSTEM) == ["mandate.create begun", "mandate.create done"]
    assert world.records(SYSTEM)[1].object == f"mandate:{made.id}"


def test_its_administrator_can_be_invited(world: World, mandates: MandateService) -> None:
    made = mandates.create(world.platform(ROOT), "Ostwind AG", "olga@ostwind.example")
    claims = world.claims("s-olga", email="olga@ostwind.example", email_verified=True)
    assert permitted(world.signing.scope(claims, made.id), "roles", Verb.UPDATE).allowed


def test_only_system_administrators_create_mandates(world: World, mandates: MandateService) -> None:
    before = mandates.list(world.platform(ROOT)).items
    for scope in (world.platform(ANNA), world.scope(ANNA), world.scope(ROOT)):
        with pytest.raises(Forbidden):
            mandates.create(scope, "Ostwind AG", ANNA)
    assert mandates.list(world.platform(ROOT)).items == before
    assert world.acts() == ["mandate.create begun", "mandate.create denied"] * 2


@pytest.mark.parametrize(
    ("label", "admin", "error"),
    [
        ("  ", NORA, BadInput),
        ("x" * 121, NORA, BadInput),
        ("a\nb", NORA, BadInput),
        ("Ostwind AG", "u-none", NotFound),
        ("Ostwind AG", "olga@", BadInput),
        ("Ostwind AG", "o lga@ostwind.example", BadInput),
    ],
)
def test_a_mandate_that_cannot_be_is_not_made(
    world: World, mandates: MandateService, label: str, admin: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        mandates.create(world.platform(ROOT), label, admin)
    assert len(mandates.list(world.platform(ROOT)).items) == 2


def test_everybody_lists_what_is_his_to_see(world: World, mandates: MandateService) -> None:
    listed = mandates.list(world.platform(ROOT), limit=1)
    rest = mandates.list(world.platform(ROOT), cursor=listed.cursor)
    assert [one.id for one in [*listed.items, *rest.items]] == [DEMO, NORD]
    assert [one.id for one in mandates.list(world.platform(CLARA)).items] == [DEMO]
    assert [one.id for one in mandates.list(world.scope(NORA, NORD)).items] == [NORD]


def test_members_see_their_mandate(world: World, mandates: MandateService) -> None:
    for scope in (world.scope(CLARA), world.scope(CLARA, DEMO, EDITOR), world.scope(ROOT)):
        assert mandates.get(scope).label == "Muster AG"


def test_an_administrator_renames_his_mandate(world: World, mandates: MandateService) -> None:
    changed = mandates.update(world.scope(ANNA), 1, label="Muster SE")
    assert (changed.label, changed.revision) == ("Muster SE", 2)
    assert mandates.get(world.scope(ANNA)) == changed
    with pytest.raises(Conflict):
        mandates.update(world.scope(ANNA), 1, label="Muster KG")
    begun, done = world.records()[:2]
    assert (begun.action, done.outcome) == ("mandate.update", "done")
    assert done.before
    assert done.after
    assert done.before != done.after


def test_only_a_global_role_lets_a_mandate_rest_and_wakes_it(
    world: World, mandates: MandateService
) -> None:
    with pytest.raises(Forbidden):
        mandates.update(world.scope(ANNA), 1, active=False)
    assert mandates.update(world.scope(ANNA), 1, active=True).active
    resting = mandates.update(world.scope(ROOT), 2, active=False)
    assert not resting.active
    assert [one.id for one in mandates.list(world.platform(ANNA)).items] == []
    assert mandates.update(world.scope(ROOT), 3, active=True).active
    assert world.scope(ANNA).user == ANNA


def test_only_a_global_role_changes_the_share_of_a_mandate(
    world: World, mandates: MandateService
) -> None:
    with pytest.raises(Forbidden, match="share"):
        mandates.update(world.scope(ANNA), 1, open_runs=9)
    assert mandates.get(world.scope(ANNA)).open_runs == SHARE
    assert mandates.update(world.scope(ROOT), 1, open_runs=9).open_runs == 9
    assert mandates.update(world.scope(ANNA), 2, open_runs=9, label="M").open_runs == 9


def test_a_share_is_what_the_mandate_says_and_is_read_once_a_minute(
    world: World, mandates: MandateService
) -> None:
    clock = FixedClock()
    shares = KnownShares(world.directory.mandates, clock)
    assert shares.share(world.scope(ANNA)) == SHARE
    mandates.update(world.scope(ROOT), 1, open_runs=9)
    assert shares.share(world.scope(ANNA)) == SHARE
    assert shares.share(world.scope(NORA, NORD)) == SHARE
    clock.advance(seconds=61)
    assert shares.share(world.scope(ANNA)) == 9
    assert shares.share(of_platform(MandateId("m-never"))) == SHARE
    for number in range(1000):
        shares.share(of_platform(MandateId(f"m-{number}")))
    assert shares.share(world.scope(ANNA)) == 9


def test_others_change_nothing(world: World, mandates: MandateService) -> None:
    for user in (BEN, CLARA):
        for scope in (world.scope(user), world.scope(user, DEMO, EDITOR)):
            with pytest.raises(Forbidden):
                mandates.update(scope, 1, label="Mine")
    assert mandates.get(world.scope(ANNA)).revision == 1


def test_a_refused_read_is_audited(world: World, mandates: MandateService) -> None:
    scope = of_platform(DEMO)
    for role in world.directory.roles.roles(scope):
        if role.label == "viewer":
            world.directory.roles.delete_role(scope, role)
    with pytest.raises(Forbidden):
        mandates.get(world.scope(CLARA))
    assert world.acts() == ["mandate.read denied"]
    assert "no role" in world.records()[0].reason


def test_a_mandate_that_was_begun_only_is_none(world: World, mandates: MandateService) -> None:
    world.log.down = True
    with pytest.raises(Exception, match="recorded"):
        mandates.create(world.platform(ROOT), "Ostwind AG", NORA)
    world.log.down = False
    assert [one.id for one in mandates.list(world.platform(ROOT)).items] == [DEMO, NORD]
    with pytest.raises(NotFound):
        world.scope(ROOT, MandateId("m-ostwind"))
