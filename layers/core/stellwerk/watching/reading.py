"""Reading the event log of a run, for whoever may read the run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import RunId
from stellwerk.runs.service import RunService
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.model import RunEvent
from stellwerk.watching.ports import EventLog
from stellwerk.watching.projecting import Projector

TOGETHER = 500
"""Events that are read at once."""
GRACE = timedelta(seconds=5)
"""How long the log of a run that is over has for its last event; then it is written from the
journal, whatever has become of the stream."""


class Events:
    """Event logs of runs, as far as a scope's roles allow."""

    def __init__(self, log: EventLog, projector: Projector, runs: RunService, clock: Clock) -> None:
        self._log = log
        self._projector = projector
        self._runs = runs
        self._clock = clock

    def told(self, scope: Scope, run: RunId, after: int) -> bool:
        """Return whether nothing comes behind `after`: the run is over, and all was told.

        Raises NotFound for a run that the scope may not read. Sees to the log of one that is over.
        """
        found = self._runs.get(scope, run)
        if found.status.open:
            return False
        if found.ended is not None and self._clock.now() - found.ended > GRACE:
            self._projector.complete(scope, found)
        head = self._log.state(scope, run, ()).head
        return head.closed and head.last <= after

    def read(self, scope: Scope, run: RunId, *, after: int = 0) -> Sequence[RunEvent]:
        """Return the next events behind `after`, if there are any, of a run that may be read."""
        return self._log.read(scope, run, after=after, limit=TOGETHER)
