"""Whatever the sweeper asks for on its rounds, the template allows to system Lambdas."""

from __future__ import annotations

from stellwerk.aws import directory as dynamo
from stellwerk.aws import tables
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.tenancy.places import KnownPlaces
from stellwerk.tenancy.scope import of_platform
from tests.contracts import test_sweep_marks
from tests.contracts.directories import instance, mandate
from tests.contracts.stores import Moto
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeValues
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto

GROUP = "system"
TABLE = "platform-places"
globals().update(adopted(test_sweep_marks))


def test_it_finds_all_instances_of_all_mandates(moto: GuardedMoto) -> None:
    free, bodies = Moto().dynamodb, Bodies(FakeValues(Memory()))
    free.create_table(**tables.creation(tables.PLATFORM, TABLE))
    written = dynamo.directory(Items(free, TABLE), bodies).mandates
    names = [MandateId(f"m-{number}") for number in range(3)]
    for name in names:
        written.write_mandate(of_platform(name), mandate(name))
        written.write_instance(of_platform(name), instance(InstanceId("i-one"), name))
    places = KnownPlaces(dynamo.directory(Items(moto.dynamodb, TABLE), bodies).mandates)
    assert places.mandates(of_platform(), after=names[0], limit=9) == names[1:]
    assert [list(places.instances(of_platform(name))) for name in names] == [["i-one"]] * 3


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    assert moto.asked >= {f"dynamodb:{action}" for action in ("GetItem", "PutItem", "Query")}
