"""Runs and the records of what started them.

A run's status and its count of open waits are attributes beside the body: the transitions of tasks
change them without touching the rest, and they win over the body on reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from stellwerk.aws import keys, listing, pools, standing, tables
from stellwerk.aws.bodies import Bodies, changes, written_before
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import (
    Item,
    Put,
    Update,
    Write,
    absent,
    among,
    decoded,
    equals,
)
from stellwerk.aws.items import READ_BATCH, Items, Range
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import Conflict, StellwerkError
from stellwerk.kernel.ids import RunId, UserId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.runs.limits import Limit, Queued
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.ports import RunFilter
from stellwerk.tenancy.scope import Scope

DELIVERY_LIFE = timedelta(days=400)
_LAST = "#~"
"""Sorts after all that is listed at a moment: what is in the same millisecond is looked at."""
READS = 5
"""Pages of an index that are read at most to fill one page of runs that fit."""


class DynamoRuns:
    """Runs on the table `runs`.

    Requests: create, get, write 1; end 1, 2 if it holds slots; delivered 2; list 2 for each of its
    reads; count 6; admit, requeue, waiting, holder 1. A pool's first slot costs 2 more.
    """

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def create(self, scope: Scope, run: Run, limits: Sequence[Limit] = ()) -> Run:
        """Write run and delivery record, or return the run that the delivery has started."""
        record = Put(keys.run(scope, run.id), self._created(scope, run), when=(absent(),))
        writes: list[Write] = [_delivery(scope, run), record, *pools.taken(scope, run, limits)]
        if run.queue:
            writes.append(pools.queued(scope, run, run.queue))
        for _ in range(len(limits) + 1):
            try:
                self._items.transact(writes)
            except Refused as refused:
                delivered = refused.reasons[0].item
                if delivered is not None:
                    return self.get(scope, RunId(str(decoded(delivered)["run"])))
                if not pools.refused(self._items, scope, limits, refused.reasons[2:]):
                    raise Conflict(f"run {run.id} exists already") from refused
            else:
                return run.model_copy(update={"revision": run.revision + 1})
        raise pools.unsettled(limits[0].pool)

    def admit(self, scope: Scope, run: Run, limits: Sequence[Limit]) -> Run:
        """Let a queued run begin at its revision, with a slot of each limit's pool."""
        slots = tuple(limit.pool for limit in limits)
        admitted = {"status": RunStatus.RUNNING, "slots": slots, "queue": ""}
        begun = run.model_copy(update={**admitted, "revision": run.revision + 1})
        moved = standing.attributes(scope, run.workflow, RunStatus.RUNNING) | _turn(begun)
        update = self._standing(scope, run, moved)
        writes = [update, *pools.given_back(scope, run), *pools.taken(scope, run, limits)]
        for _ in range(len(limits) + 1):
            try:
                self._items.transact(writes)
            except Refused as refused:
                if refused.reasons[0].failed:
                    raise _changed(run, decoded(refused.reasons[0].item or {})) from refused
                pools.refused(self._items, scope, limits, refused.reasons[2:])
            else:
                return begun
        raise pools.unsettled(limits[0].pool)

    def requeue(self, scope: Scope, run: Run, pool: str) -> Run:
        """Let a queued run wait for another pool, at its revision."""
        moved = run.model_copy(update={"queue": pool, "revision": run.revision + 1})
        update = self._standing(scope, run, _turn(moved))
        entry = pools.queued(scope, run, pool)
        try:
            self._items.transact([update, *pools.given_back(scope, run), entry])
        except Refused as refused:
            raise _changed(run, decoded(refused.reasons[0].item or {})) from refused
        return moved

    def waiting(self, scope: Scope, pool: str) -> Sequence[Queued]:
        """Return those that wait for the pool, the oldest first."""
        return pools.waiting(self._items, scope, pool)

    def holder(self, scope: Scope, pool: str) -> RunId | None:
        """Return the oldest run that holds a slot of the pool."""
        return pools.holder(self._items, scope, pool)

    def delivered(self, scope: Scope, workflow: WorkflowId, delivery: str) -> Run | None:
        """Return the run that the delivery has started, None if it has not started any."""
        item = self._items.get(keys.delivery(scope, workflow, delivery))
        return None if item is None else self.get(scope, RunId(str(item["run"])))

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return the run; raises NotFound."""
        item = self._items.get(keys.run(scope, run))
        if item is None:
            raise standing.run_missing(run)
        return self._record(scope, item)

    def write(self, scope: Scope, run: Run) -> Run:
        """Replace the run at its revision; status and waits stay as stored."""
        key = keys.run(scope, run.id)
        item = self._bodies.item(scope, run, _place(run))
        try:
            stored = self._items.update(
                changes(key, item, when=(equals("revision", run.revision),))
            )
        except Refused as refused:
            stored = decoded(refused.reasons[0].item or {})
            if not written_before(item, refused.reasons[0]):
                raise _changed(run, stored) from refused
        return _as_stored(run, stored)

    def end(self, scope: Scope, run: Run) -> Run:
        """Write a run that is over, if the stored one is open; no wait is left."""
        if run.status.open:
            raise ValueError(f"run {run.id} cannot end as {run.status}")
        update = self._ending(scope, run)
        freed = [*pools.given_back(scope, run)]
        try:
            if freed:
                self._items.transact([update, *freed])
                return self.get(scope, run.id)
            stored = self._items.update(update)
        except Refused as refused:
            stored = decoded(refused.reasons[0].item or {})
            if not written_before(update.set, refused.reasons[0]):
                raise standing.not_open(run.id, refused.reasons[0]) from refused
        return _as_stored(run, stored)

    def list(
        self, scope: Scope, wanted: RunFilter, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Run]:
        """Return a page of runs, newest first; short where few of those that are read fit."""
        found: list[Run] = []
        size = max(1, min(limit, READ_BATCH))
        for _ in range(READS):
            page = listing.page(
                self._items, _listed(scope, wanted), cursor=cursor, limit=size - len(found)
            )
            runs = (self._record(scope, item) for item in page.items)
            found += [run for run in runs if wanted.fits(run)]
            cursor = page.cursor
            if cursor is None or len(found) == size:
                break
        return Page(found, cursor)

    def open_runs(self, scope: Scope, *, since: datetime | None = None) -> Iterator[Run]:
        """Yield every run that is not over, the oldest first: 2 requests per 100."""
        first = instant(since) if since else None
        wanted = Range(keys.runs_open(scope), index=tables.SWEEP, since=first)
        for item in listing.everything(self._items, wanted):
            run = self._record(scope, item)
            if run.status.open:
                yield run

    def count(
        self, scope: Scope, *, workflow: WorkflowId | None = None, user: UserId | None = None
    ) -> dict[RunStatus, int]:
        """Return how many runs stand where.

        One request per status and 1 MB of index keys; of one user's runs 2 requests per 100.
        """
        if user is not None:
            return self._tally(scope, RunFilter(workflow=workflow, user=user))
        wanted = {status: RunFilter(workflow=workflow, status=status) for status in RunStatus}
        return {
            status: self._items.count(_listed(scope, which)) for status, which in wanted.items()
        }

    def _tally(self, scope: Scope, wanted: RunFilter) -> dict[RunStatus, int]:
        counts = dict.fromkeys(RunStatus, 0)
        for item in listing.everything(self._items, _listed(scope, wanted)):
            run = self._record(scope, item)
            counts[run.status] += wanted.fits(run)
        return counts

    def _created(self, scope: Scope, run: Run) -> Item:
        return {
            **self._bodies.item(scope, run, _place(run)),
            **standing.attributes(scope, run.workflow, run.status),
            **_turn(run),
            "waits": run.waits,
            "workflow": run.workflow,
            "in_instance": keys.runs_of_instance(scope),
            "in_workflow": keys.runs_of_workflow(scope, run.workflow),
            "in_user": keys.runs_of_user(scope, run.user),
            "listed_at": keys.listed_at(run.started, run.id),
            "in_sweep": keys.runs_open(scope),
            "sweep_at": keys.listed_at(run.started, run.id),
        }

    def _ending(self, scope: Scope, run: Run) -> Update:
        item = self._bodies.item(scope, run, _place(run))
        del item["revision"]
        ended = run.model_copy(update={"queue": ""})
        over = standing.attributes(scope, run.workflow, run.status) | {"waits": 0} | _turn(ended)
        before = standing.QUEUED if run.queue else standing.STARTED
        update = changes(keys.run(scope, run.id), item | over, when=(among("status", before),))
        swept = ("in_sweep", "sweep_at")
        return replace(update, add={"revision": 1}, remove=(*update.remove, *swept))

    def _standing(self, scope: Scope, run: Run, moved: Item) -> Update:
        """Return the write that moves a queued run, stored as `run`."""
        queued = among("status", standing.QUEUED)
        same = equals("revision", run.revision)
        return Update(keys.run(scope, run.id), set=moved, add={"revision": 1}, when=(same, queued))

    def _record(self, scope: Scope, item: Item) -> Run:
        return _as_stored(self._bodies.record(scope, item, Run), item)


def _as_stored(run: Run, stored: Item) -> Run:
    standing_ = {
        "revision": stored["revision"],
        "waits": stored["waits"],
        "slots": tuple(str(stored.get("slots", "")).split()),
        "queue": str(stored.get("queue", "")),
    }
    return run.model_copy(update={**standing_, "status": RunStatus(str(stored["status"]))})


def _turn(run: Run) -> Item:
    """Return the attributes that say which slots a run holds, and in which queue it stands."""
    return {"slots": " ".join(run.slots), "queue": run.queue}


def _delivery(scope: Scope, run: Run) -> Put:
    item: Item = {
        "run": run.id,
        "delivery": run.trigger.delivery[:1024],
        tables.TTL_ATTRIBUTE: int((run.started + DELIVERY_LIFE).timestamp()),
    }
    return Put(keys.delivery(scope, run.workflow, run.trigger.delivery), item, when=(absent(),))


def _place(run: Run) -> str:
    return f"runs/{run.id}"


def _listed(scope: Scope, wanted: RunFilter) -> Range:
    index, partition = _shelf(scope, wanted)
    return Range(
        partition,
        index=index,
        newest_first=True,
        since=instant(wanted.since) if wanted.since else None,
        until=f"{instant(wanted.until)}{_LAST}" if wanted.until else None,
    )


def _shelf(scope: Scope, wanted: RunFilter) -> tuple[tables.Index, str]:
    """Return the index that holds the wanted runs and the fewest others, and its key."""
    workflow, status = wanted.workflow, wanted.status
    if wanted.user:
        return tables.BY_USER, keys.runs_of_user(scope, wanted.user)
    if workflow and status:
        partition = keys.runs_of_workflow_by_status(scope, workflow, status)
        return tables.BY_WORKFLOW_STATUS, partition
    if workflow:
        return tables.BY_WORKFLOW, keys.runs_of_workflow(scope, workflow)
    if status:
        return tables.BY_STATUS, keys.runs_by_status(scope, status)
    return tables.BY_INSTANCE, keys.runs_of_instance(scope)


def _changed(run: Run, stored: Item) -> StellwerkError:
    if not stored:
        return standing.run_missing(run.id)
    return Conflict(
        f"run {run.id} is stored at revision {stored['revision']}, not {run.revision}",
        remedy="Read the run again and repeat the change.",
    )
