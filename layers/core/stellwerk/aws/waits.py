"""Waits without a person: the step and the run's count of waits, in one transaction."""

from __future__ import annotations

from stellwerk.aws import keys, standing
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.items import Items
from stellwerk.aws.journal import step_conflict, step_put
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.runs.model import Step
from stellwerk.tenancy.scope import Scope


class DynamoWaits:
    """Waits on the table `runs`. Requests: open 2, close 2 (3 if the run has other waits)."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def open(self, scope: Scope, step: Step) -> Step:
        """Write the waiting step at its revision and pause its run; Conflict if that is over."""
        workflow = self._workflow(scope, step.run)
        waiting = step_put(self._bodies, scope, step)
        try:
            self._items.transact([waiting, standing.wait_opened(scope, step.run, workflow)])
        except Refused as refused:
            of_step, of_run = refused.reasons
            if of_step.failed:
                raise step_conflict(step) from refused
            raise standing.not_open(step.run, of_run) from refused
        return step.model_copy(update={"revision": step.revision + 1})

    def close(self, scope: Scope, step: Step) -> Step:
        """Write the step, no longer waiting, at its revision and take its wait from the run."""
        workflow = self._workflow(scope, step.run)
        written = step_put(self._bodies, scope, step)
        try:
            standing.close_wait(self._items, scope, step.run, workflow, [written])
        except Refused as refused:
            raise step_conflict(step) from refused
        return step.model_copy(update={"revision": step.revision + 1})

    def _workflow(self, scope: Scope, run: RunId) -> WorkflowId:
        item = self._items.get(keys.run(scope, run))
        if item is None:
            raise standing.run_missing(run)
        return WorkflowId(str(item["workflow"]))
