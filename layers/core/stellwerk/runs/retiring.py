"""Removing the machines of versions that are no longer published, once no run needs them.

Deleting a machine ends its executions, so one goes only where no open run is on its version, and
none may still call it as a sub-workflow. First the version is marked: whoever publishes it from
then on makes machines under other names, which this removal does not reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version
from stellwerk.workflows.ports import Machines

REST = timedelta(hours=1)
"""How long a version was not published before its machines may go: starts under way are over."""


@dataclass(frozen=True)
class Retiring:
    """Finds and removes machines. Each removal may be repeated."""

    world: World
    machines: Machines

    def due(self, scope: Scope) -> Iterator[Version]:
        """Yield the versions whose machines no run needs any more."""
        before = self.world.clock.now() - REST
        resting = [
            version
            for version in self.world.versions.retiring(scope)
            if version.retiring is not None and version.retiring <= before
        ]
        needed = self._needed(scope) if resting else set()
        yield from (each for each in resting if _which(each) not in needed)

    def remove(self, scope: Scope, version: Version) -> None:
        """Remove the machines of a version; Conflict where it changes at the same moment."""
        marked = version.model_copy(update={"rebuilt": version.rebuilt + 1})
        marked = self.world.versions.save(scope, marked)
        for machine in version.machines.values():
            self.machines.delete(scope, machine)
        gone = marked.model_copy(update={"machines": {}, "retiring": None})
        self.world.versions.save(scope, gone)

    def _needed(self, scope: Scope) -> set[tuple[str, int, str]]:
        """Return the versions on which open runs are, or which these may call."""
        needed: set[tuple[str, int, str]] = set()
        for run in self.world.runs.open_runs(scope):
            needed.add((run.workflow, run.version, run.trial))
            needed |= {(workflow, number, "") for workflow, number in run.pinned_versions.items()}
        return needed


def _which(version: Version) -> tuple[str, int, str]:
    return version.workflow, version.number, version.trial
