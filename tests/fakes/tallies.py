"""Counts of outcomes in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.tallies import Outcome, Tally, added, class_of


class FakeTallies:
    """Keeps outcomes in dicts."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str, RunId], Outcome] = {}
        self._until: dict[tuple[str, str, RunId], datetime] = {}

    def counted(self, scope: Scope, run: RunId) -> bool:
        return (scope.mandate, scope.instance, run) in self._outcomes

    def count(self, scope: Scope, outcome: Outcome, until: datetime) -> bool:
        if self.counted(scope, outcome.run):
            return False
        self._outcomes[scope.mandate, scope.instance, outcome.run] = outcome
        self._until[scope.mandate, scope.instance, outcome.run] = until
        return True

    def days(
        self, scope: Scope, workflow: WorkflowId | None, since: str, until: str
    ) -> Mapping[str, Tally]:
        found: dict[str, list[Tally]] = {}
        for (mandate, instance, _), outcome in self._outcomes.items():
            here = (mandate, instance) == (scope.mandate, scope.instance)
            if here and workflow in {None, outcome.workflow} and since <= outcome.day <= until:
                found.setdefault(outcome.day, []).append(_tally(outcome))
        return {day: added(tallies) for day, tallies in found.items()}

    def kept_until(self, scope: Scope, now: datetime) -> Iterable[RunId]:
        place = (scope.mandate, scope.instance)
        found = [(until, key[2]) for key, until in self._until.items() if key[:2] == place]
        return [run for until, run in sorted(found) if until <= now]

    def keep(self, scope: Scope, run: RunId, until: datetime) -> None:
        if self.counted(scope, run):
            self._until[scope.mandate, scope.instance, run] = until


def _tally(outcome: Outcome) -> Tally:
    if outcome.test:
        return Tally(tests=1)
    counts = {str(outcome.status): 1}
    return Tally(
        **counts,
        steps=outcome.steps,
        attempts=outcome.attempts,
        milliseconds=outcome.milliseconds,
        classes={class_of(outcome.milliseconds): 1},
    )
