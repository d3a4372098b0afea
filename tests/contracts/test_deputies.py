"""Who stands in for whom: of one mandate, found by either of the two."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.deputies import DynamoDeputies
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import MandateId, UserId
from stellwerk.tenancy.deputies import Deputies, Deputy
from stellwerk.tenancy.scope import Scope, of_platform, of_run
from tests.contracts.records import START
from tests.contracts.stores import Moto
from tests.fakes.memory import Memory
from tests.fakes.people import FakeDeputies
from tests.fakes.versions import FakeValues

SCOPE = of_run("m-one", "i-one", "u-anna")
STRANGERS = (
    of_run("m-two", "i-one", "u-anna"),
    of_run("m-on", "i-one", "u-anna"),
    of_run("m-one-two", "i-one", "u-anna"),
    of_platform(),
)
ANNA, BEN, EVA = UserId("u-anna"), UserId("u-ben"), UserId("u-eva")


@pytest.fixture(params=["fake", "moto"])
def deputies(request: pytest.FixtureRequest) -> Deputies:
    if request.param == "fake":
        return FakeDeputies()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoDeputies(moto.platform(), Bodies(FakeValues(Memory())))


def named(user: UserId, deputy: UserId, *, days: int = 1) -> Deputy:
    until = START + timedelta(days=days)
    return Deputy(mandate=SCOPE.mandate, user=user, deputy=deputy, since=START, until=until)


def test_a_deputy_is_found_by_both(deputies: Deputies) -> None:
    first = deputies.write(SCOPE, named(ANNA, BEN))
    second = deputies.write(SCOPE, named(ANNA, EVA))
    third = deputies.write(SCOPE, named(BEN, EVA))
    deputies.write(SCOPE, named(UserId("u-anna2"), UserId("u-eva2")))
    assert deputies.of(SCOPE, ANNA) == [first, second]
    assert deputies.by(SCOPE, EVA) == [second, third]
    assert deputies.by(SCOPE, ANNA) == []
    assert deputies.of(SCOPE.at(of_platform().instance), ANNA) == [first, second]


def test_what_is_said_last_of_two_holds(deputies: Deputies) -> None:
    deputies.write(SCOPE, named(ANNA, BEN))
    longer = deputies.write(SCOPE, named(ANNA, BEN, days=9))
    assert deputies.of(SCOPE, ANNA) == deputies.by(SCOPE, BEN) == [longer]
    deputies.remove(SCOPE, ANNA, BEN)
    deputies.remove(SCOPE, ANNA, BEN)
    assert deputies.of(SCOPE, ANNA) == deputies.by(SCOPE, BEN) == []


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_deputies(deputies: Deputies, stranger: Scope) -> None:
    kept = deputies.write(SCOPE, named(ANNA, BEN))
    assert deputies.of(stranger, ANNA) == deputies.by(stranger, BEN) == []
    with pytest.raises(NotFound):
        deputies.write(stranger, named(ANNA, EVA))
    deputies.remove(stranger, ANNA, BEN)
    assert deputies.of(SCOPE, ANNA) == [kept]
    assert kept.mandate == MandateId("m-one")
