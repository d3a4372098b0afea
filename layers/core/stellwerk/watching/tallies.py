"""What came of runs, counted by workflow and day: cheap to add to, cheap to read.

Durations are counted in classes that grow by an eighth, so a percentile is right to six per cent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.runs.model import Run, RunStatus, Step, StepStatus
from stellwerk.tenancy.scope import Scope

GROWTH = 1.125
"""By how much a class of durations is longer than the one before; the first ends at 1 ms."""
_STEPS_AT_WORK = {
    StepStatus.SUCCEEDED,
    StepStatus.FAILED,
    StepStatus.UNCERTAIN,
    StepStatus.CANCELLED,
}


@dataclass(frozen=True)
class Outcome:
    """How a run has ended."""

    run: RunId
    workflow: WorkflowId
    day: str
    """On which it ended, in UTC: `2026-12-01`."""
    status: RunStatus
    test: bool
    milliseconds: int
    steps: int
    """Steps that were at work."""
    attempts: int
    """Tries of these in all: what was computed for."""


@dataclass(frozen=True)
class Tally:
    """Sums over outcomes. Test runs are counted apart, and in none of the other numbers."""

    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    tests: int = 0
    steps: int = 0
    attempts: int = 0
    milliseconds: int = 0
    classes: Mapping[int, int] = field(default_factory=dict)
    """Runs by the class of their duration."""

    @property
    def runs(self) -> int:
        """How many live runs have ended."""
        return self.completed + self.failed + self.cancelled

    @property
    def failure_rate(self) -> float | None:
        """The share of failures in what was not cancelled; None where there is nothing."""
        over = self.completed + self.failed
        return self.failed / over if over else None

    def percentile(self, share: float) -> int | None:
        """Return the milliseconds within which that share of the runs has ended."""
        wanted = math.ceil(share * sum(self.classes.values()))
        for number in sorted(self.classes):
            wanted -= self.classes[number]
            if wanted <= 0:
                return milliseconds_of(number)
        return None


class Tallies(Protocol):
    """Counts of outcomes, and when runs are to go."""

    def counted(self, scope: Scope, run: RunId) -> bool:
        """Return whether the run's outcome was counted."""

    def count(self, scope: Scope, outcome: Outcome, until: datetime) -> bool:
        """Count an outcome, once, and note until when the run is kept; False: it was counted."""

    def days(
        self, scope: Scope, workflow: WorkflowId | None, since: str, until: str
    ) -> Mapping[str, Tally]:
        """Return what came of runs of a workflow, or of all, by day, from a day up to another."""

    def kept_until(self, scope: Scope, now: datetime) -> Iterable[RunId]:
        """Yield up to a hundred runs that are kept no longer than that."""

    def keep(self, scope: Scope, run: RunId, until: datetime) -> None:
        """Keep a run until another moment."""


def outcome_of(run: Run, status: RunStatus, steps: Iterable[Step]) -> Outcome:
    """Return how a run has ended, whose end is recorded."""
    ended = run.ended or run.started
    tried = [len(step.attempts) for step in steps if _at_work(step)]
    return Outcome(
        run=run.id,
        workflow=run.workflow,
        day=ended.date().isoformat(),
        status=status,
        test=run.mode == "test",
        milliseconds=max(0, (ended - run.started) // timedelta(milliseconds=1)),
        steps=len(tried),
        attempts=sum(tried),
    )


def added(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    total: dict[str, int] = {}
    classes: dict[int, int] = {}
    for tally in tallies:
        for name, value in vars(tally).items():
            if name != "classes":
                total[name] = total.get(name, 0) + value
        for number, count in tally.classes.items():
            classes[number] = classes.get(number, 0) + count
    return Tally(**total, classes=classes)


def class_of(milliseconds: int) -> int:
    """Return the number of the class of a duration."""
    return math.ceil(math.log(milliseconds, GROWTH)) if milliseconds > 1 else 0


def milliseconds_of(number: int) -> int:
    """Return the middle of a class of durations."""
    return round(GROWTH ** (number - 0.5)) if number else 1


def _at_work(step: Step) -> bool:
    return step.recorded_from is None and bool(step.attempts) and step.status in _STEPS_AT_WORK
