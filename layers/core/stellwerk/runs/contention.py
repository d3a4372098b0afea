"""Several writers at one record: read, change, write, and begin anew when another was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stellwerk.kernel.errors import Conflict

T = TypeVar("T")
TRIES = 10


def settle(change: Callable[[], T]) -> T:
    """Return what `change` returns: it reads the record anew each time, repeated on Conflict.

    Raises the last Conflict where ten tries were not enough.
    """
    for _ in range(TRIES - 1):
        try:
            return change()
        except Conflict:
            continue
    return change()
