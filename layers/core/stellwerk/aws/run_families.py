"""Runs, with a note at the first of a family of which runs replay it: none goes before these."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.aws import watching_keys
from stellwerk.aws.expressions import Put
from stellwerk.aws.runs import DynamoRuns
from stellwerk.runs.limits import Limit
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope


class DynamoFamilies(DynamoRuns):
    """Runs on the table `runs`. Requests: as without families; create 2 of a replay."""

    def create(self, scope: Scope, run: Run, limits: Sequence[Limit] = ()) -> Run:
        """Write the note, then the run; a note of a run that never came to be says nothing."""
        if run.origin is not None:
            self._items.put(Put(watching_keys.replay_of_run(scope, run.origin, run.id), {}))
        return super().create(scope, run, limits)
