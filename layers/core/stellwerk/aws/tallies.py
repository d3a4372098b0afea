"""Counts of outcomes by day, in several items each, so that many runs can end at once.

The mark that a run was counted is written with the counts: it is counted once, whoever comes again.
The mark also lists the run by when it is to go.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from stellwerk.aws import keys, tables, watching_keys
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put, Update, absent, present
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.clock import instant
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.tallies import Outcome, Tally, added, class_of

SHARDS = 4
"""Items of a workflow's day; of an instance's there are twice as many."""
_CLASS = "d"
_NAMES = ("completed", "failed", "cancelled", "tests", "steps", "attempts", "milliseconds")
_TOGETHER = 100
ALL = WorkflowId("")
"""Stands for all workflows of an instance."""


class DynamoTallies:
    """Counts on the table `runs`. Requests: counted, count, keep, days 1; kept_until 1."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def counted(self, scope: Scope, run: RunId) -> bool:
        """Return whether the run's outcome was counted."""
        return self._items.get(watching_keys.run_over(scope, run)) is not None

    def count(self, scope: Scope, outcome: Outcome, until: datetime) -> bool:
        """Count an outcome, unless it was."""
        mark = Put(
            watching_keys.run_over(scope, outcome.run), _kept(scope, outcome, until), (absent(),)
        )
        number = hashlib.sha256(outcome.run.encode()).digest()[0]
        counts = _counts(outcome)
        days = (
            watching_keys.day_of_workflow(scope, outcome.workflow, outcome.day, number % SHARDS),
            watching_keys.day_of_workflow(scope, ALL, outcome.day, number % (2 * SHARDS)),
        )
        try:
            self._items.transact([mark, *(Update(day, count=counts) for day in days)])
        except Refused:
            return False
        return True

    def days(
        self, scope: Scope, workflow: WorkflowId | None, since: str, until: str
    ) -> Mapping[str, Tally]:
        """Return what came of runs by day."""
        first = watching_keys.day_of_workflow(scope, workflow or ALL, since)
        found: dict[str, list[Tally]] = defaultdict(list)
        for item in self._items.query(Range(first.pk, since=f"{since}#", until=f"{until}#~")):
            found[str(item["sk"]).partition("#")[0]].append(_tally(item))
        return {day: added(tallies) for day, tallies in found.items()}

    def kept_until(self, scope: Scope, now: datetime) -> Iterable[RunId]:
        """Yield runs that are kept no longer, the longest overdue first."""
        wanted = Range(
            watching_keys.runs_kept(scope), index=tables.SWEEP, until=f"{instant(now)}#~"
        )
        for item in self._items.query(wanted, limit=_TOGETHER):
            yield RunId(str(item["sweep_at"]).rpartition("#")[2])

    def keep(self, scope: Scope, run: RunId, until: datetime) -> None:
        """Keep a run until another moment; nothing where it has gone."""
        listed = {"sweep_at": keys.listed_at(until, run)}
        try:
            self._items.update(
                Update(watching_keys.run_over(scope, run), set=listed, when=(present(),))
            )
        except Refused:
            return


def _kept(scope: Scope, outcome: Outcome, until: datetime) -> Item:
    return {
        "in_sweep": watching_keys.runs_kept(scope),
        "sweep_at": keys.listed_at(until, outcome.run),
    }


def _counts(outcome: Outcome) -> Mapping[str, int]:
    if outcome.test:
        return {"tests": 1}
    return {
        str(outcome.status): 1,
        "steps": outcome.steps,
        "attempts": outcome.attempts,
        "milliseconds": outcome.milliseconds,
        f"{_CLASS}{class_of(outcome.milliseconds)}": 1,
    }


def _tally(item: Item) -> Tally:
    numbers = {name: int(item.get(name, 0)) for name in _NAMES}
    classes = {
        int(name[1:]): int(count)
        for name, count in item.items()
        if name[:1] == _CLASS and name[1:].isdigit()
    }
    return Tally(**numbers, classes=classes)
