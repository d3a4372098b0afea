"""How runs are doing: what is open now, and what came of those that are over, by day.

Read from counts that are kept by day, so a month of a busy instance costs as little as of a quiet
one. A run is counted on the day on which it ends, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Forbidden
from stellwerk.kernel.ids import WorkflowId
from stellwerk.runs.model import RunStatus
from stellwerk.runs.ports import Runs
from stellwerk.runs.rights import RUNS, check_workflow
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.model import FeatureInstance
from stellwerk.tenancy.scope import Scope, require
from stellwerk.watching.bundles import Bundle, Outbox, Sent
from stellwerk.watching.tallies import Tallies, Tally, added
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions, Wanted

USUAL = timedelta(days=29)
"""How far back is looked if nothing else is asked for: thirty days with today."""
MOST_DAYS = 366
TOGETHER = 25
"""Workflows of a page: each is a request."""
EVIDENCE = "audit"
"""Whoever reads the audit of a mandate may see how all of its instances are doing."""


class Instances(Protocol):
    """Knows the instances of mandates; `tenancy.ports.Mandates` does."""

    def instances(self, scope: Scope) -> Sequence[FeatureInstance]:
        """Return all instances of the scope's mandate."""


@dataclass(frozen=True)
class Period:
    """Days, both included: `2026-12-01`."""

    since: str
    until: str


@dataclass(frozen=True)
class Report:
    """What came of runs within a period."""

    period: Period
    days: Mapping[str, Tally]
    open: Mapping[RunStatus, int]
    """How many are open now, by status."""

    @property
    def total(self) -> Tally:
        """The sum over all days."""
        return added(self.days.values())


@dataclass(frozen=True)
class OfWorkflow:
    """What came of one workflow's runs."""

    workflow: Workflow
    total: Tally


@dataclass(frozen=True)
class OfInstance:
    """What came of one instance's runs."""

    instance: FeatureInstance
    total: Tally


@dataclass(frozen=True)
class Messages:
    """What people are told: bundles on their way, and what became of messages."""

    waiting: Sequence[Bundle]
    sent: Sequence[Sent]


@dataclass(frozen=True)
class Monitoring:
    """Reports, for whoever may see all runs of the place."""

    tallies: Tallies
    outbox: Outbox
    runs: Runs
    versions: Versions
    instances: Instances
    clock: Clock

    def period(self, since: date | None, until: date | None) -> Period:
        """Return the wanted days; raises BadInput for none, or for more than a year."""
        last = until or self.clock.now().date()
        first = since or last - USUAL
        if not 0 <= (last - first).days < MOST_DAYS:
            raise BadInput(
                f"There must be 1 to {MOST_DAYS} days from since to until.",
                remedy="Ask for a shorter time, and for its parts one by one.",
            )
        return Period(first.isoformat(), last.isoformat())

    def of_instance(self, scope: Scope, period: Period) -> Report:
        """Return what came of all runs of the instance. Requests: 2 for each status."""
        _check(scope)
        return self._report(scope, None, period)

    def of_workflow(self, scope: Scope, workflow: WorkflowId, period: Period) -> Report:
        """Return what came of a workflow's runs; raises NotFound where it may not be read."""
        _check(scope)
        check_workflow(scope, self.versions.workflow(scope, workflow))
        return self._report(scope, workflow, period)

    def by_workflow(
        self, scope: Scope, period: Period, *, cursor: str | None, limit: int
    ) -> tuple[Sequence[OfWorkflow], str | None]:
        """Return a page of workflows with what came of their runs, and where it goes on."""
        _check(scope)
        page = self.versions.workflows(scope, Wanted(), cursor=cursor, limit=min(limit, TOGETHER))
        found = [
            OfWorkflow(workflow, self._total(scope, workflow.id, period)) for workflow in page.items
        ]
        return found, page.cursor

    def by_instance(self, scope: Scope, period: Period) -> Sequence[OfInstance]:
        """Return what came of the runs of each instance of the mandate. Requests: 1 each, and 1."""
        if require(scope, EVIDENCE, Verb.READ) is Level.MY:
            raise _not_all("of the mandate")
        return [
            OfInstance(instance, self._total(scope.at(instance.id), None, period))
            for instance in self.instances.instances(scope)
        ]

    def messages(self, scope: Scope, *, limit: int) -> Messages:
        """Return what people of the instance are told."""
        _check(scope)
        return Messages(self.outbox.open(scope), self.outbox.sent(scope, limit=limit))

    def _report(self, scope: Scope, workflow: WorkflowId | None, period: Period) -> Report:
        days = self.tallies.days(scope, workflow, period.since, period.until)
        counts = self.runs.count(scope, workflow=workflow)
        return Report(period, days, {status: counts[status] for status in counts if status.open})

    def _total(self, scope: Scope, workflow: WorkflowId | None, period: Period) -> Tally:
        days: Iterable[Tally] = self.tallies.days(
            scope, workflow, period.since, period.until
        ).values()
        return added(days)


def _check(scope: Scope) -> None:
    if require(scope, RUNS, Verb.READ) is Level.MY:
        raise _not_all("of the instance")


def _not_all(where: str) -> Forbidden:
    return Forbidden(
        f"You may not see all runs {where}.",
        remedy="Ask an administrator of the mandate for a role that allows it.",
    )
