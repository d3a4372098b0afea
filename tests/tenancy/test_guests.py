from __future__ import annotations

from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.tenancy.guests import KnownGuests
from stellwerk.tenancy.mandates import MandateService
from stellwerk.tenancy.scope import of_platform, of_run
from tests.tenancy.world import ANNA, DEMO, EDITOR, NORD, World


def test_each_mandate_says_for_itself_whether_guests_decide(world: World) -> None:
    guests = KnownGuests(world.directory.mandates)
    mandates = MandateService(world.directory, audit=world.audit, clock=world.clock)
    inside = of_run(DEMO, EDITOR, ANNA)
    assert not guests.allowed(inside)
    changed = mandates.update(world.scope(ANNA), 1, guests=True)
    assert changed.guests
    assert guests.allowed(inside)
    assert not guests.allowed(of_platform(NORD).at(InstanceId("i-nord")))
    assert mandates.update(world.scope(ANNA), 2, label="Anders").guests


def test_where_there_is_no_mandate_or_it_rests_nobody_is_a_guest(world: World) -> None:
    store = world.directory.mandates
    assert not KnownGuests(store).allowed(of_platform(MandateId("m-none")))
    here = of_platform(DEMO)
    resting = store.mandate(here).model_copy(update={"guests": True, "active": False})
    store.write_mandate(here, resting)
    assert not KnownGuests(store).allowed(here)
