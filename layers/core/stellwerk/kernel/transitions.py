"""Tables of states: rows of (from, event, to), and what is not a row is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)


@dataclass(frozen=True)
class Transition(Generic[S]):
    """One row: in state `source` (None: it does not exist yet) `event` leads to `target`."""

    source: S | None
    event: str
    target: S
    meaning: str


def target(table: Sequence[Transition[S]], source: S, event: str) -> S | None:
    """Return where `event` leads from `source`; None if it is refused."""
    rows = (row.target for row in table if row.source is source and row.event == event)
    return next(rows, None)
