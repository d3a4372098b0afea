"""How long a step may work."""

from __future__ import annotations

import threading
import time

import pytest

from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.errors import DeadlineExceeded
from stellwerk.runs.deadline import Deadline
from tests.fakes.clock import FixedClock


def test_a_deadline_counts_down_and_then_raises() -> None:
    clock = FixedClock()
    deadline = Deadline.within(clock, 10)
    clock.advance(seconds=9)
    assert deadline.remaining == 1
    deadline.check()
    clock.advance(seconds=2)
    assert deadline.remaining == 0
    with pytest.raises(DeadlineExceeded, match="within its 10 s"):
        deadline.check()


def test_an_inner_deadline_is_never_later() -> None:
    deadline = Deadline.within(FixedClock(), 10)
    assert deadline.no_later_than(3).seconds == 3
    assert deadline.no_later_than(30).seconds == 10


def test_what_never_asks_is_interrupted() -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded), Deadline.within(SystemClock(), 0.05).enforced():
        time.sleep(5)
    assert time.monotonic() - began < 2


def test_what_ends_in_time_is_not_interrupted_afterwards() -> None:
    with Deadline.within(SystemClock(), 0.05).enforced():
        pass
    time.sleep(0.1)


def test_outside_the_main_thread_a_handler_asks_by_itself() -> None:
    done: list[str] = []

    def work() -> None:
        with Deadline.within(SystemClock(), 0.01).enforced():
            time.sleep(0.05)
            done.append("not interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["not interrupted"]
