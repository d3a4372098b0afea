"""Where the sweeper has stopped: one for the platform, which no mandate reads or changes."""

from __future__ import annotations

import pytest

from stellwerk.aws.sweep_marks import DynamoMarks
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.runs.platform import Mark, Marks
from stellwerk.tenancy.scope import SYSTEM, Scope, of_platform, of_run
from tests.contracts.records import START
from tests.contracts.stores import Moto
from tests.fakes.platform import FakeMarks

PLATFORM = of_platform()
MARK = Mark(mandate=MandateId("m-one"), instance=InstanceId("i-one"), since=START)
STRANGERS = (of_platform(MandateId("m-one")), of_run("m-two", "i-one", "u-anna"))


@pytest.fixture(params=["fake", "moto"])
def marks(request: pytest.FixtureRequest) -> Marks:
    if request.param == "fake":
        return FakeMarks()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoMarks(moto.platform())


def test_before_the_first_round_there_is_none(marks: Marks) -> None:
    assert marks.read(PLATFORM) is None


def test_the_last_one_counts(marks: Marks) -> None:
    marks.write(PLATFORM, MARK)
    assert marks.read(PLATFORM) == MARK
    later = MARK.model_copy(update={"since": None})
    marks.write(PLATFORM, later)
    assert marks.read(PLATFORM) == later
    marks.write(PLATFORM, None)
    assert marks.read(PLATFORM) is None


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: scope.mandate)
def test_a_stranger_neither_finds_nor_changes_it(marks: Marks, stranger: Scope) -> None:
    assert stranger.mandate != SYSTEM
    marks.write(PLATFORM, MARK)
    assert marks.read(stranger) is None
    assert marks.read(PLATFORM) == MARK
