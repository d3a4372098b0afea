"""How long runs are kept after their end, and how they go: with all that belongs to them.

What a run leaves is not marked to expire when it ends: settings may change, or a legal hold come.
When its time is over it is asked for again what the workflow wants, and the run is removed or kept
on. The mark by which it is found goes last, so a removal that was broken off is completed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.ports import Runs
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.tallies import Tallies
from stellwerk.workflows.model import Retention, Workflow
from stellwerk.workflows.ports import Versions

AGAIN = timedelta(days=1)
"""When to look again at a run that is held."""


class Remains(Protocol):
    """What runs leave: items of all kinds, and values."""

    def replayed(self, scope: Scope, run: Run) -> bool:
        """Return whether a later run of its family is there, which may begin with its record."""

    def remove(self, scope: Scope, run: RunId) -> int:
        """Remove all that a run has left; return how many things. May be repeated."""


@dataclass(frozen=True)
class Retiring:
    """Removes runs whose time is over: implements `runs.following.Chore`."""

    tallies: Tallies
    remains: Remains
    runs: Runs
    versions: Versions
    clock: Clock

    def due(self, scope: Scope) -> Iterator[partial[None]]:
        """Yield the removals that are due at a place."""
        for run in self.tallies.kept_until(scope, self.clock.now()):
            yield partial(self.look_at, scope, run)

    def look_at(self, scope: Scope, run: RunId) -> None:
        """Remove a run, or keep it on, as its workflow wants it now."""
        until = self._until(scope, run)
        if until is None or until <= self.clock.now():
            self.remains.remove(scope, run)
        else:
            self.tallies.keep(scope, run, until)

    def _until(self, scope: Scope, run: RunId) -> datetime | None:
        """Return until when a run is to be kept; None: for no longer, for it has gone already."""
        later = self.clock.now() + AGAIN
        try:
            found = self.runs.get(scope, run)
        except NotFound:
            return None
        if found.status.open:
            return later
        workflow = _workflow(self.versions, scope, found)
        if workflow is not None and workflow.retention.hold:
            return later
        if self.remains.replayed(scope, found):
            return later
        return kept_until(found, found.status, workflow)


def kept_until(run: Run, status: RunStatus, workflow: Workflow | None) -> datetime:
    """Return until when a run is kept that ends so, by what its workflow says."""
    wanted = workflow.retention if workflow is not None else Retention()
    days = wanted.failures if status is RunStatus.FAILED else wanted.successes
    return (run.ended or run.started) + timedelta(days=days)


def _workflow(versions: Versions, scope: Scope, run: Run) -> Workflow | None:
    try:
        return versions.workflow(scope, run.workflow)
    except NotFound:
        return None
