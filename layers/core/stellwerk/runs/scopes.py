"""What the error of a node or a scope leaves behind while its run goes on, or before it ends."""

from __future__ import annotations

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import RunCancelled
from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.runs.causes import failure_in, first_failure
from stellwerk.runs.closing import Closing
from stellwerk.runs.contention import settle
from stellwerk.runs.effects import write_in_flight
from stellwerk.runs.failures import reported
from stellwerk.runs.gates import Gates, Level
from stellwerk.runs.leases import ended, in_flight
from stellwerk.runs.model import Attempt, Failure, Step, StepKey, StepStatus
from stellwerk.runs.outcome import first_port
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import ERROR_PORT, OnError


class Scopes:
    """Closes failed scopes and lets nodes that handle their errors go on."""

    def __init__(self, world: World, closing: Closing, gates: Gates) -> None:
        self._world = world
        self._closing = closing
        self._gates = gates

    def closed(
        self,
        scope: Scope,
        run_id: RunId,
        path: Path,
        failure: Failure,
        *,
        collector: NodeKey | None = None,
        loop: NodeKey | None = None,
    ) -> None:
        """Close what is open in the scope at `path`, which ended with `failure`.

        `collector` is given if the scope is one item of a loop that collects errors: the item is
        marked failed, with the first error that the journal holds of it, else with `failure`.
        `loop` is given if only the passes of that loop at `path` have ended.
        """
        run = self._world.runs.get(scope, run_id)
        entries = self._closing.close(scope, run, path, cause=failure.message, loop=loop)
        if collector is not None:
            error = first_failure(entries, self._world.graph(scope, run)) or failure
            key = StepKey(path=path, node=collector)
            settle(lambda: self._mark_failed(scope, run_id, key, error))

    def node_failed(self, scope: Scope, level: Level, node: NodeKey, failure: Failure) -> str:
        """Let `node`, which has failed for good, fire the port that its `on_error` names.

        Returns the port. The node's value becomes the error: the journal's own, else `failure`. May
        be repeated.
        """
        step = settle(lambda: self._write_handled(scope, level, node, failure))
        self._gates.check(scope, level, node)
        return step.port or ERROR_PORT

    def _mark_failed(self, scope: Scope, run: RunId, key: StepKey, error: Failure) -> None:
        entry = self._world.journal.read(scope, run, [key])[key]
        if entry.status is StepStatus.FAILED:
            return
        now = self._world.clock.now()
        changes = {
            "status": StepStatus.FAILED,
            "attempts": (Attempt(started=now, ended=now, error=error),),
        }
        self._world.journal.write(scope, entry.model_copy(update=changes))

    def _write_handled(self, scope: Scope, level: Level, node: NodeKey, failure: Failure) -> Step:
        step = self._released(scope, level, node, failure)
        if step.done:
            return step
        if step.status is StepStatus.CANCELLED:
            raise RunCancelled(f"The scope of node '{node}' is closed: its error is not handled.")
        in_doubt = write_in_flight(self._world, scope, step)
        uncertain = step.status is StepStatus.UNCERTAIN or in_doubt
        error = failure_in(step) or failure.model_copy(
            update={"uncertain": uncertain, "node": failure.node or node}
        )
        changes = {
            "status": StepStatus.UNCERTAIN if uncertain else StepStatus.FAILED,
            "port": self._port(level, node),
            "value": self._world.values.keep(scope, level.run, reported(error)),
            "attempts": self._attempts(step, error),
            "lease": None,
        }
        return self._world.journal.write(scope, step.model_copy(update=changes))

    def _released(self, scope: Scope, level: Level, node: NodeKey, failure: Failure) -> Step:
        """Return the node's entry, no longer waiting for a person or a child run."""
        key = level.key(node)
        step = self._world.journal.read(scope, level.run, [key]).get(key)
        if step is None:
            return Step(
                run=level.run,
                path=level.path,
                node=node,
                type=level.blueprint.node(node).type,
                status=StepStatus.RUNNING,
            )
        declared = self._world.catalogue.find(step.type)
        if declared is None or declared.kind is not Kind.WAIT or step.done:
            return step
        return self._closing.release(scope, step, cause=failure.message)

    def _port(self, level: Level, node: NodeKey) -> str:
        if level.blueprint.node(node).on_error is OnError.CONTINUE:
            return first_port(level.blueprint.graph, self._world.catalogue, node)
        return ERROR_PORT

    def _attempts(self, step: Step, error: Failure) -> tuple[Attempt, ...]:
        now = self._world.clock.now()
        if not step.attempts:
            return (Attempt(started=now, ended=now, error=error),)
        return ended(step.attempts, now, error) if in_flight(step) else step.attempts
