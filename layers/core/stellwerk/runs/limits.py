"""How many runs may be open at once: pools of slots, and which of them a run needs.

| pool | slots | beyond them |
|---|---|---|
| of a trigger that says what happens when its runs overlap | 1 | as the trigger says |
| of a workflow with a concurrency policy | its limit | as the policy says |
| of a mandate | its share | the run waits for its turn |

A run takes a slot of each in the write that records it, and gives them back in the write that ends
it. Only runs count that something from outside has started live: a child run belongs to its parent,
which would otherwise wait for itself, and a test run to whoever is testing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import InstanceId, RunId
from stellwerk.runs.model import Run
from stellwerk.workflows.model import Concurrency, Overflow

PARTS = 8
"""Counters over which a large share is spread, so that many starts do not meet at one item."""
_LARGE = 100 * PARTS
_MANDATE = "mandate#"


@dataclass(frozen=True)
class Limit:
    """A pool by name, how many slots it has, and what happens when all are taken."""

    pool: str
    most: int
    policy: Overflow


@dataclass(frozen=True)
class Queued:
    """A run that waits for its turn, and in which instance."""

    instance: InstanceId
    run: RunId


class Full(Conflict):
    """No slot of the limit's pool is free: nothing was written."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(f"{limit.most} runs hold all slots of {limit.pool}")
        self.limit = limit


class ConcurrencyReached(Conflict):
    """As many runs are open as are allowed, and a further one is not wanted: it did not start."""


def limits_of(run: Run, concurrency: Concurrency, share: int | None) -> tuple[Limit, ...]:
    """Return the limits under which `run` starts, in the order in which they are looked at.

    `share` is how many runs of its mandate may be open; None: as many as there are.
    """
    if run.mode != "live" or run.parent is not None:
        return ()
    return (*_own(run, concurrency), *_of_mandate(run.id, share))


def of_mandate(pool: str) -> bool:
    """Whether the runs of all the mandate's instances share the pool."""
    return pool.startswith(_MANDATE)


def _own(run: Run, concurrency: Concurrency) -> Iterator[Limit]:
    if run.overlap is not None and run.overlap is not Overflow.ALLOW:
        yield Limit(f"trigger#{run.workflow}#{run.trigger.node}", 1, run.overlap)
    if concurrency.policy is not Overflow.ALLOW:
        yield Limit(f"workflow#{run.workflow}", concurrency.limit, concurrency.policy)


def _of_mandate(run: RunId, share: int | None) -> Iterator[Limit]:
    if share is None:
        return
    parts = PARTS if share >= _LARGE else 1
    part = hashlib.sha256(run.encode()).digest()[0] % parts
    yield Limit(f"{_MANDATE}{part}", -(-share // parts), Overflow.QUEUE)
