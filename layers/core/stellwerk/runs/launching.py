"""Launching: the execution of a run that is on record, which may be asked for again and again."""

from __future__ import annotations

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.causes import CANCELLED
from stellwerk.runs.contention import settle
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.names import execution_name, run_ref
from stellwerk.runs.waking import over
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version


class Launching:
    """Starts the executions of runs."""

    def __init__(self, world: World) -> None:
        self._world = world

    def launch(self, scope: Scope, run: Run) -> Run:
        """Start the run's execution unless it is known to be started; note its ARN on the run.

        Nothing happens to a run that waits for its turn.
        """
        if run.execution or over(run) or run.status is RunStatus.QUEUED:
            return run
        version = self._world.versions.get(scope, run.workflow, run.version, run.trial)
        machine = machine_of(version)
        name = execution_name(run.id, run.generation)
        data: JsonObject = {"run": run_ref(run), "trigger": run.trigger.node}
        arn = self._world.executions.start(scope, machine, name, data)
        noted = settle(lambda: self._note(scope, run.id, run.generation, arn))
        if over(noted) and noted.error is not None and noted.error.type == CANCELLED:
            self._world.executions.stop(scope, arn, cause="cancelled before it was started")
        return noted

    def restart(self, scope: Scope, run_id: RunId) -> Run:
        """Start the next generation of an open run's execution: the journal says what is done."""
        before = self._world.runs.get(scope, run_id)
        if not before.execution:  # this generation may have started unnoted: its name finds it
            return self.launch(scope, before)
        self._world.executions.stop(scope, before.execution, cause="continued anew")
        return self.launch(scope, settle(lambda: self._next_generation(scope, before)))

    def _next_generation(self, scope: Scope, before: Run) -> Run:
        run = self._world.runs.get(scope, before.id)
        if over(run) or run.generation != before.generation:
            return run
        changes = {"generation": run.generation + 1, "execution": ""}
        return self._world.runs.write(scope, run.model_copy(update=changes))

    def _note(self, scope: Scope, run_id: RunId, generation: int, arn: str) -> Run:
        run = self._world.runs.get(scope, run_id)
        if run.execution or run.generation != generation:
            return run
        return self._world.runs.write(scope, run.model_copy(update={"execution": arn}))


def machine_of(version: Version) -> str:
    """Return the ARN of the version's state machine; raise Conflict if it has none."""
    machine = version.machines.get("")
    if not machine:
        raise Conflict(
            f"Version {version.number} of workflow {version.workflow} has no state machine.",
            remedy="Publish the version.",
        )
    return machine
