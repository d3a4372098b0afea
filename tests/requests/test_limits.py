from __future__ import annotations

import pytest

from stellwerk.kernel.ids import UserId
from stellwerk.requests.limits import RateLimit, TooManyRequests
from tests.fakes.clock import FixedClock
from tests.fakes.requests import FakeCounters

ANNA = UserId("u-anna")


def test_a_principal_waits_for_the_next_minute_once_its_requests_are_used_up() -> None:
    clock = FixedClock()
    limit = RateLimit(FakeCounters(), clock, limit=2)
    clock.advance(seconds=12.5)
    limit.take(ANNA)
    limit.take(ANNA)
    limit.take(UserId("u-ben"))
    with pytest.raises(TooManyRequests, match="more than 2 requests") as raised:
        limit.take(ANNA)
    assert raised.value.retry_after == 47
    clock.advance(seconds=48)
    limit.take(ANNA)


def test_a_limit_of_zero_is_none() -> None:
    limit = RateLimit(FakeCounters(), FixedClock(), limit=0)
    for _ in range(10):
        limit.take(ANNA)
