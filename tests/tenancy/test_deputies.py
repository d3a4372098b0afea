from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Forbidden, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.deputies import MOST, DeputyService
from stellwerk.tenancy.scope import of_run
from tests.fakes.people import FakeDeputies
from tests.tenancy.world import ANNA, BEN, CLARA, DEMO, EDITOR, NORA, World

DAY = timedelta(days=1)


@pytest.fixture
def deputies(world: World) -> DeputyService:
    return DeputyService(
        FakeDeputies(), world.directory.members, audit=world.audit, clock=world.clock
    )


def test_someone_names_a_deputy_for_a_period(world: World, deputies: DeputyService) -> None:
    now, ben = world.clock.now(), world.scope(BEN)
    named = deputies.name(ben, ANNA, until=now + DAY)
    assert (named.user, named.deputy, named.since, named.until) == (BEN, ANNA, now, now + DAY)
    assert deputies.list(ben) == deputies.list(world.scope(ANNA)) == [named]
    assert deputies.list(world.scope(CLARA)) == []
    assert deputies.list(world.scope(ANNA, DEMO, EDITOR)) == [named]
    later = deputies.name(ben, ANNA, since=now + DAY, until=now + 2 * DAY)
    assert deputies.list(ben) == [later]
    assert (later.counts(now), later.counts(now + DAY), later.counts(now + 2 * DAY)) == (
        *(False, True, False),
    )
    world.clock.advance(days=2)
    assert deputies.list(ben) == []
    assert world.acts(DEMO) == ["deputy.name begun", "deputy.name done"] * 2


def test_a_deputy_is_removed(world: World, deputies: DeputyService) -> None:
    ben = world.scope(BEN)
    named = deputies.name(ben, ANNA, until=world.clock.now() + DAY)
    with pytest.raises(NotFound, match="is no deputy of yours"):
        deputies.remove(world.scope(ANNA), BEN)
    assert deputies.list(ben) == [named]
    deputies.remove(ben, ANNA)
    assert deputies.list(ben) == []
    with pytest.raises(NotFound, match="is no deputy of yours"):
        deputies.remove(ben, ANNA)


@pytest.mark.parametrize(("since", "until"), [(0, 0), (0, -1), (-9, -1), (2, 1), (0, 367)])
def test_a_period_that_cannot_be_is_refused(
    world: World, deputies: DeputyService, since: int, until: int
) -> None:
    now = world.clock.now()
    with pytest.raises(BadInput, match="period must end after its beginning"):
        deputies.name(world.scope(BEN), ANNA, since=now + since * DAY, until=now + until * DAY)


def test_only_members_stand_in_and_nobody_for_himself(
    world: World, deputies: DeputyService
) -> None:
    until = world.clock.now() + DAY
    for other in (NORA, UserId("u-nobody")):
        with pytest.raises(BadInput, match="no user"):
            deputies.name(world.scope(BEN), other, until=until)
    with pytest.raises(BadInput, match="for yourself"):
        deputies.name(world.scope(BEN), BEN, until=until)
    with pytest.raises(Forbidden, match="Only members"):
        deputies.name(of_run(DEMO, EDITOR, "u-root"), ANNA, until=until)
    with pytest.raises(Forbidden, match="Only people"):
        deputies.name(of_run(DEMO, EDITOR, "c-machine"), ANNA, until=until)


def test_there_are_so_many_deputies_and_no_more(world: World) -> None:
    store = FakeDeputies()
    service = DeputyService(store, world.directory.members, audit=world.audit, clock=world.clock)
    ben, until = world.scope(BEN), world.clock.now() + DAY
    first = service.name(ben, ANNA, until=until)
    for number in range(MOST - 1):
        store.write(ben, first.model_copy(update={"deputy": UserId(f"u-{number}")}))
    with pytest.raises(BadInput, match=f"You have {MOST} deputies"):
        service.name(ben, CLARA, until=until)
    assert service.name(ben, ANNA, until=until).deputy == ANNA
