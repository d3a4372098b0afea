"""Replays of many runs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, Moment, PageOf, Shown
from api.models.runs import StepName
from api.models.versions import Number
from stellwerk.kernel.json import Flag, JsonObject, JsonValue
from stellwerk.runs import jobs as stored

JobStatus = Literal["running", "completed", "stopped", "cancelled"]
MemberStatus = Literal["pending", "started", "succeeded", "failed", "skipped"]
_JOB: JsonObject = {
    "id": "01kb2c3d4e5f6g7h8j9k0m1n2r",
    "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
    "version": 4,
    "user": "u-demo",
    "created": "2026-12-01T08:15:00Z",
    "ended": None,
    "status": "running",
    "reason": "",
    "pending": 39,
    "started": 10,
    "succeeded": 1,
    "failed": 0,
    "skipped": 0,
    "total": 50,
}


class ReplayJob(Shown):
    """A replay of many failed runs: first one, then ten, then all."""

    model_config = ConfigDict(json_schema_extra={"example": _JOB})

    id: str
    workflow: str
    version: int = Field(description="On which they are replayed")
    user: str
    created: datetime
    ended: datetime | None
    status: JobStatus = Field(description="stopped: a replay has failed, nothing more is started")
    reason: str = Field(description="Why it has stopped")
    pending: int
    started: int
    succeeded: int
    failed: int
    skipped: int = Field(description="Could not be replayed as the job asks")
    total: int

    @classmethod
    def of(cls, job: stored.Job) -> ReplayJob:
        """Show a job."""
        counts = {status.value: count for status, count in job.counts.items()}
        return cls(
            id=job.id,
            workflow=job.workflow,
            version=job.version,
            user=job.user,
            created=job.created,
            ended=job.ended,
            status=job.status.value,
            reason=job.reason,
            total=len(job.members),
            **counts,
        )


class ReplayedRun(Shown):
    """A failed run, and the run that replays it."""

    source: str
    status: MemberStatus
    run: str | None
    note: str = Field(description="Why it was skipped, or how its replay failed")


class ReplayJobWithRuns(ReplayJob):
    """A replay of many runs, with what has become of each."""

    model_config = ConfigDict(json_schema_extra={"example": {**_JOB, "runs": []}})

    runs: list[ReplayedRun]

    @classmethod
    def with_runs(cls, job: stored.Job) -> ReplayJobWithRuns:
        """Show a job with its runs."""
        runs = [
            ReplayedRun(source=one.source, status=one.status.value, run=one.run, note=one.note)
            for one in job.members
        ]
        return cls(**ReplayJob.of(job).model_dump(), runs=runs)


class ReplayJobPage(PageOf[ReplayJob]):
    """A page of replays, the newest first."""


class NewReplayJob(Body):
    """Which failed runs are to be replayed, and how. All that is given holds together."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"error": "ServiceUnavailable", "version": 3}}
    )

    version: Number | None = Field(default=None, description="They ran on this version")
    since: Moment | None = Field(default=None, description="Started then or later")
    until: Moment | None = Field(default=None, description="Started before")
    error: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]{0,119}$")] | None = Field(
        default=None, description="Type of the error with which they failed"
    )
    target: Number | None = Field(default=None, description="Replay on it; else the published one")
    assume_done: dict[StepName, JsonValue] = Field(
        default={},
        max_length=200,
        description="Uncertain steps, or nodes, that have happened: their values",
    )
    repeat: list[StepName] = Field(
        default=[], max_length=200, description="Uncertain steps, or nodes, to be done again"
    )
    confirm_writes: Flag = Field(
        default=False, description="Whether steps that write may do so again; else runs are skipped"
    )
