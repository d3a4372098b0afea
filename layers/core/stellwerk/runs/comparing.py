"""Two runs beside each other, step by step: what stood where, how long it took, what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from stellwerk.kernel.records import Stored
from stellwerk.runs.model import Step
from stellwerk.runs.names import CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE

_MECHANISM = {CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE}


@dataclass(frozen=True)
class Side:
    """A step in one of the runs."""

    status: str
    port: str | None
    milliseconds: int | None
    """From its first try to the end of its last; None while there is no end."""


@dataclass(frozen=True)
class Compared:
    """A step in both runs; a side is None where that run has not come to it."""

    step: str
    one: Side | None
    other: Side | None
    equal: bool | None
    """Whether it gave the same value; None where it gave one in at most one of the runs."""


def compare(one: Iterable[Step], other: Iterable[Step]) -> Sequence[Compared]:
    """Return all steps of both, in the order of the first, then what only the second has."""
    left, right = _by_name(one), _by_name(other)
    names = dict.fromkeys((*left, *right))
    return [_compared(name, left.get(name), right.get(name)) for name in names]


def _by_name(steps: Iterable[Step]) -> dict[str, Step]:
    return {step.key.text: step for step in steps if step.type not in _MECHANISM}


def _compared(name: str, one: Step | None, other: Step | None) -> Compared:
    values = [step.value if step is not None else None for step in (one, other)]
    return Compared(name, _side(one), _side(other), _equal(*values))


def _side(step: Step | None) -> Side | None:
    if step is None:
        return None
    return Side(step.status.value, step.port, _milliseconds(step))


def _milliseconds(step: Step) -> int | None:
    ended = step.attempts[-1].ended if step.attempts else None
    if ended is None:
        return None
    return (ended - step.attempts[0].started) // timedelta(milliseconds=1)


def _equal(one: Stored | None, other: Stored | None) -> bool | None:
    """Compare what is kept in rows as JSON; what is kept outside of them by size and digest."""
    if one is None or other is None:
        return None
    if one.ref is not None and other.ref is not None:
        return (one.ref.size, one.ref.sha256) == (other.ref.size, other.ref.sha256)
    if one.text is None or other.text is None:
        return False
    return one.text == other.text or bool(json.loads(one.text) == json.loads(other.text))
