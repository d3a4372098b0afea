"""Several writers at one record."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.runs.contention import TRIES, settle


class _Contested:
    """A write that others are faster at, a number of times."""

    def __init__(self, losses: int) -> None:
        self.losses = losses
        self.tries = 0

    def __call__(self) -> str:
        self.tries += 1
        if self.tries <= self.losses:
            raise Conflict("someone was faster")
        return "written"


def test_a_write_is_repeated_until_nobody_is_faster() -> None:
    assert settle(_Contested(TRIES - 1)) == "written"


def test_a_write_that_never_succeeds_says_so() -> None:
    contested = _Contested(TRIES)
    with pytest.raises(Conflict):
        settle(contested)
    assert contested.tries == TRIES
