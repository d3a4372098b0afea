"""Slots and queues of pools, as writes of the transactions that record, admit and end runs.

The number of slots taken changes only together with the run that takes or gives back one: it is
exact at any moment, and no crash leaves a slot behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from stellwerk.aws import pool_keys
from stellwerk.aws.errors import Reason, Refused
from stellwerk.aws.expressions import Delete, Put, Update, Write, absent, below
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, RunId
from stellwerk.runs.limits import Full, Limit, Queued, of_mandate
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope

LOOKED_AT = 100
"""Runs that wait, of which one look at the queue sees the oldest."""


def taken(scope: Scope, run: Run, limits: Sequence[Limit]) -> list[Write]:
    """Return the writes that take a slot of each limit's pool: their counts first, in order."""
    counts: list[Write] = [
        Update(
            pool_keys.count(scope, limit.pool),
            add={"taken": 1},
            when=(below("taken", limit.most),),
        )
        for limit in limits
    ]
    holders = (limit.pool for limit in limits if not of_mandate(limit.pool))
    return counts + [
        Put(pool_keys.held(scope, pool, run), {"run": run.id}, when=()) for pool in holders
    ]


def given_back(scope: Scope, run: Run) -> Iterator[Write]:
    """Yield the writes that give back what `run` holds, and take it from its queue."""
    if run.queue:
        yield Delete(pool_keys.queued(scope, run.queue, run))
        return
    for pool in run.slots:
        yield Update(pool_keys.count(scope, pool), add={"taken": -1})
        if not of_mandate(pool):
            yield Delete(pool_keys.held(scope, pool, run))


def queued(scope: Scope, run: Run, pool: str) -> Put:
    """Return the write that lets `run` stand in the pool's queue, at the place of its start."""
    entry = {"run": str(run.id), "instance": str(scope.instance)}
    return Put(pool_keys.queued(scope, pool, run), entry)


def refused(items: Items, scope: Scope, limits: Sequence[Limit], reasons: Sequence[Reason]) -> bool:
    """Look why slots were refused: raise Full if none is free; say whether to try again.

    `reasons` are those of the counts of `limits`. A pool of which nobody has ever taken a slot has
    no count: it is made.
    """
    again = False
    for limit, reason in zip(limits, reasons, strict=False):
        if not reason.failed:
            continue
        if reason.item is not None:
            raise Full(limit)
        with suppress(Refused):
            items.put(Put(pool_keys.count(scope, limit.pool), {"taken": 0}, when=(absent(),)))
        again = True
    return again


def waiting(items: Items, scope: Scope, pool: str) -> list[Queued]:
    """Return the runs that wait for the pool, the oldest first: one request."""
    wanted = Range(pool_keys.partition(scope, pool), prefix=pool_keys.QUEUED)
    return [
        Queued(InstanceId(str(entry["instance"])), RunId(str(entry["run"])))
        for entry in items.query(wanted, limit=LOOKED_AT)
    ]


def holder(items: Items, scope: Scope, pool: str) -> RunId | None:
    """Return the oldest run that holds a slot of the pool: one request."""
    wanted = Range(pool_keys.partition(scope, pool), prefix=pool_keys.HELD)
    entry = next(items.query(wanted, limit=1), None)
    return None if entry is None else RunId(str(entry["run"]))


def unsettled(pool: str) -> ServiceUnavailable:
    """Return the error of a pool whose count does not come to be."""
    return ServiceUnavailable(f"the slots of {pool} cannot be counted")
