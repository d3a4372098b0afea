"""Replay jobs in memory."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.pages import Page
from stellwerk.runs.jobs import Job, JobStatus
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import Memory, at, paged, replaced


class FakeJobs:
    """Keeps jobs in a dict."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, scope: Scope, job: Job) -> Job:
        with self._memory.lock:
            jobs = self._memory.of(scope).jobs
            jobs[job.id] = replaced(jobs.get(job.id), job)
            return jobs[job.id]

    def get(self, scope: Scope, job: str) -> Job:
        with self._memory.lock:
            found = self._memory.of(scope).jobs.get(job)
        if found is None:
            raise NotFound(f"there is no replay job {job}")
        return found

    def write(self, scope: Scope, job: Job) -> Job:
        with self._memory.lock:
            self._memory.of(scope).jobs[job.id] = replaced(self.get(scope, job.id), job)
            return self._memory.of(scope).jobs[job.id]

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        found = self._memory.of(scope).jobs.values()
        return paged(found, lambda job: at(job.created, job.id), cursor=cursor, limit=limit)

    def open(self, scope: Scope) -> Iterator[Job]:
        for job in [*self._memory.of(scope).jobs.values()]:
            if job.status is JobStatus.RUNNING:
                yield job
