"""How runs are doing, and what people are told."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import ConfigDict, Field

from api.models.base import Shown
from stellwerk.kernel.json import JsonObject
from stellwerk.watching import bundles, monitoring, tallies
from stellwerk.watching.telling import shown as address_shown

_COUNTS: JsonObject = {
    "completed": 40,
    "failed": 2,
    "cancelled": 1,
    "tests": 3,
    "failure_rate": 0.0476,
    "p50_ms": 812,
    "p95_ms": 5230,
    "steps": 420,
    "attempts": 431,
    "cost_chf": 0.0,
}


class Counts(Shown):
    """What came of live runs that ended then; test runs are in `tests` alone."""

    model_config = ConfigDict(json_schema_extra={"example": _COUNTS})

    completed: int
    failed: int
    cancelled: int
    tests: int = Field(description="Test runs that ended, which are in no other number")
    failure_rate: float | None = Field(description="Of those that were not cancelled")
    p50_ms: int | None = Field(description="Half of the runs were over within that many ms")
    p95_ms: int | None
    steps: int = Field(description="Steps that were at work")
    attempts: int = Field(description="Their tries: what was computed for")
    cost_chf: float = Field(description="What steps said that they cost; none says so yet")

    @classmethod
    def of(cls, tally: tallies.Tally) -> Counts:
        """Show a tally."""
        return cls(
            completed=tally.completed,
            failed=tally.failed,
            cancelled=tally.cancelled,
            tests=tally.tests,
            failure_rate=tally.failure_rate,
            p50_ms=tally.percentile(0.5),
            p95_ms=tally.percentile(0.95),
            steps=tally.steps,
            attempts=tally.attempts,
            cost_chf=0.0,
        )


class DayCounts(Counts):
    """What came of runs that ended on a day, in UTC."""

    model_config = ConfigDict(json_schema_extra={"example": {"day": "2026-12-01", **_COUNTS}})

    day: date

    @classmethod
    def on(cls, day: str, tally: tallies.Tally) -> DayCounts:
        """Show the tally of a day."""
        return cls(day=date.fromisoformat(day), **Counts.of(tally).model_dump())


class Open(Shown):
    """How many runs are not over now, by where they stand."""

    running: int
    paused: int
    queued: int


class Stats(Shown):
    """How runs are doing; days on which none ended are left out."""

    since: date
    until: date
    open: Open
    total: Counts
    days: list[DayCounts]

    @classmethod
    def of(cls, report: monitoring.Report) -> Stats:
        """Show a report."""
        now = {status.value: count for status, count in report.open.items()}
        return cls(
            since=date.fromisoformat(report.period.since),
            until=date.fromisoformat(report.period.until),
            open=Open(**{name: now.get(name, 0) for name in Open.model_fields}),
            total=Counts.of(report.total),
            days=[DayCounts.on(day, report.days[day]) for day in sorted(report.days)],
        )


class WorkflowStats(Shown):
    """How the runs of a workflow are doing."""

    workflow: str
    title: str
    total: Counts

    @classmethod
    def of(cls, found: monitoring.OfWorkflow) -> WorkflowStats:
        """Show what came of a workflow's runs."""
        workflow = found.workflow
        return cls(workflow=workflow.id, title=workflow.title, total=Counts.of(found.total))


class WorkflowStatsPage(Shown):
    """A page of workflows, by short name."""

    items: list[WorkflowStats]
    cursor: str | None


class InstanceStats(Shown):
    """How the runs of an instance are doing."""

    instance: str
    label: str
    total: Counts

    @classmethod
    def of(cls, found: monitoring.OfInstance) -> InstanceStats:
        """Show what came of an instance's runs."""
        instance = found.instance
        return cls(instance=instance.id, label=instance.label, total=Counts.of(found.total))


class MandateStats(Shown):
    """How the runs of a mandate are doing, instance by instance."""

    since: date
    until: date
    total: Counts
    instances: list[InstanceStats]

    @classmethod
    def of(cls, period: monitoring.Period, found: list[monitoring.OfInstance]) -> MandateStats:
        """Show what came of a mandate's runs."""
        return cls(
            since=date.fromisoformat(period.since),
            until=date.fromisoformat(period.until),
            total=Counts.of(tallies.added(each.total for each in found)),
            instances=[InstanceStats.of(each) for each in found],
        )


class Waiting(Shown):
    """A message that is gathered, or could not be sent yet."""

    kind: str = Field(examples=["run.failed"])
    subject: str
    to: list[str]
    news: int = Field(description="Notices that no message has told of")
    tries: int = Field(description="How often it was tried in vain")
    error: str
    next: datetime | None = Field(description="When it is looked at again")

    @classmethod
    def of(cls, bundle: bundles.Bundle) -> Waiting:
        """Show a bundle."""
        return cls(
            kind=bundle.kind,
            subject=bundle.subject,
            to=[address_shown(one) for one in bundle.to],
            news=bundle.news,
            tries=bundle.tries,
            error=bundle.error,
            next=bundle.due,
        )


class Message(Shown):
    """What became of a message."""

    at: datetime
    kind: str = Field(examples=["run.failed"])
    subject: str
    count: int = Field(description="Of how many notices it tells")
    reached: list[str]
    error: str
    given_up: bool

    @classmethod
    def of(cls, sent: bundles.Sent) -> Message:
        """Show what became of a message."""
        return cls(
            at=sent.at,
            kind=sent.kind,
            subject=sent.subject,
            count=sent.count,
            reached=list(sent.reached),
            error=sent.error,
            given_up=sent.given_up,
        )


class Messages(Shown):
    """What people are told: what waits, and messages of the last 30 days, the newest first."""

    waiting: list[Waiting]
    sent: list[Message]
