"""Jobs that replay many runs, on the table `runs`.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| job | replays#J | job |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stellwerk.aws import keys, listing, tables
from stellwerk.aws.bodies import Bodies, changes, written_before
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Put, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.pages import Page
from stellwerk.runs.jobs import Job, JobStatus
from stellwerk.tenancy.scope import Scope


class DynamoJobs:
    """Replay jobs. Requests: create, get, write 1; list 2; open 2 per 100."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def create(self, scope: Scope, job: Job) -> Job:
        """Write a new job."""
        listed = keys.listed_at(job.created, job.id)
        item = {
            **self._bodies.item(scope, job, _place(job)),
            "in_instance": _shelf(scope, "jobs"),
            "listed_at": listed,
            "in_sweep": _shelf(scope, "open-jobs"),
            "sweep_at": listed,
        }
        try:
            self._items.put(Put(_key(scope, job.id), item, when=(absent(),)))
        except Refused as refused:
            raise Conflict(f"replay job {job.id} exists already") from refused
        return job.model_copy(update={"revision": 1})

    def get(self, scope: Scope, job: str) -> Job:
        """Return the job; raises NotFound."""
        item = self._items.get(_key(scope, job))
        if item is None:
            raise _missing(job)
        return self._bodies.record(scope, item, Job)

    def write(self, scope: Scope, job: Job) -> Job:
        """Replace the job at its revision; one that is over is no longer open."""
        item = self._bodies.item(scope, job, _place(job))
        update = changes(_key(scope, job.id), item, when=(equals("revision", job.revision),))
        if job.status is not JobStatus.RUNNING:
            update = replace(update, remove=(*update.remove, "in_sweep", "sweep_at"))
        try:
            self._items.update(update)
        except Refused as refused:
            if refused.reasons[0].item is None:
                raise _missing(job.id) from refused
            if not written_before(item, refused.reasons[0]):
                raise Conflict(f"replay job {job.id} has changed meanwhile") from refused
        return job.model_copy(update={"revision": job.revision + 1})

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return a page of jobs, the newest first."""
        wanted = Range(_shelf(scope, "jobs"), index=tables.BY_INSTANCE, newest_first=True)
        page = listing.page(self._items, wanted, cursor=cursor, limit=limit)
        return Page([self._bodies.record(scope, item, Job) for item in page.items], page.cursor)

    def open(self, scope: Scope) -> Iterator[Job]:
        """Yield the jobs that are not over, the oldest first."""
        wanted = Range(_shelf(scope, "open-jobs"), index=tables.SWEEP)
        for item in listing.everything(self._items, wanted):
            job = self._bodies.record(scope, item, Job)
            if job.status is JobStatus.RUNNING:
                yield job


def _key(scope: Scope, job: str) -> Key:
    return Key(_shelf(scope, f"replays#{job}"), "job")


def _shelf(scope: Scope, name: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{name}"


def _place(job: Job) -> str:
    return f"replays/{job.id}"


def _missing(job: str) -> NotFound:
    return NotFound(f"there is no replay job {job}", remedy="Look at the list of replays.")
