from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.requests.model import Answer, Repeat
from stellwerk.requests.repeats import KeyOfAnother, Once, UnderWay
from stellwerk.tenancy.scope import Scope
from tests.contracts.records import SCOPE
from tests.fakes.clock import FixedClock
from tests.fakes.requests import FakeRepeats

MADE = Answer(status=201, headers={"Location": "/things/1"}, body="{}")
OTHER = Answer(status=201, headers={}, body="other")


class Desk:
    """Counts how often something happens."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.repeats = FakeRepeats()
        self.once = Once(self.repeats, self.clock)
        self.times = 0

    def make(self) -> Answer:
        self.times += 1
        return MADE

    def ask(self, fingerprint: str = "f") -> tuple[Answer, bool]:
        return self.once.answer(SCOPE, "k", fingerprint, self.make)


def test_a_request_that_is_sent_again_gets_the_same_answer_and_happens_once() -> None:
    desk = Desk()
    assert desk.ask() == (MADE, False)
    assert desk.ask() == (MADE, True)
    assert desk.times == 1


def test_another_request_with_the_key_is_refused() -> None:
    desk = Desk()
    desk.ask()
    with pytest.raises(KeyOfAnother, match="another request"):
        desk.ask("g")
    assert desk.times == 1


def test_while_a_request_is_under_way_another_with_its_key_is_refused() -> None:
    desk = Desk()

    def meanwhile() -> Answer:
        with pytest.raises(UnderWay):
            desk.ask()
        return OTHER

    assert desk.once.answer(SCOPE, "k", "f", meanwhile) == (OTHER, False)
    assert desk.times == 0


def test_a_refused_request_frees_its_key() -> None:
    desk = Desk()

    def refuse() -> Answer:
        raise NotFound("nothing")

    with pytest.raises(NotFound):
        desk.once.answer(SCOPE, "k", "f", refuse)
    assert desk.ask("g") == (MADE, False)


def test_the_key_of_a_process_that_died_is_free_after_its_lease() -> None:
    desk = Desk()

    class Died(BaseException):
        pass

    def die() -> Answer:
        raise Died

    with pytest.raises(Died):
        desk.once.answer(SCOPE, "k", "f", die)
    with pytest.raises(UnderWay):
        desk.ask()
    desk.clock.advance(seconds=61)
    assert desk.ask() == (MADE, False)


def test_of_two_that_take_a_key_at_once_one_is_refused() -> None:
    desk = Desk()

    class Late(FakeRepeats):
        def write(self, scope: Scope, repeat: Repeat) -> Repeat:
            raise Conflict("taken")

    with pytest.raises(UnderWay):
        Once(Late(), desk.clock).answer(SCOPE, "k", "f", desk.make)
    assert desk.times == 0


def test_a_key_is_forgotten_after_a_day() -> None:
    desk = Desk()
    desk.ask()
    desk.clock.advance(hours=25)
    assert desk.ask("g") == (MADE, False)
