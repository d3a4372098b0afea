"""Child runs of `flow.subworkflow` steps: opened under a task token, read when the wait is over.

A step finds its child again by a delivery id made of its own place: a retry starts no second one.
"""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.kernel.errors import PermanentError
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.causes import CANCELLED
from stellwerk.runs.contention import settle
from stellwerk.runs.finishing import Endings
from stellwerk.runs.model import Failure, ParentStep, Run, Step, StepStatus
from stellwerk.runs.names import child_delivery
from stellwerk.runs.pinning import MAX_DEPTH
from stellwerk.runs.starting import Order, Starting
from stellwerk.runs.waking import over, resumed, wake
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


class SubworkflowFailed(PermanentError):
    """The run of a sub-workflow failed or was cancelled; the message carries its error."""


@dataclass(frozen=True)
class ChildCall:
    """What a `flow.subworkflow` step asks for: a workflow by slug or id, and the payload for it."""

    workflow: str
    payload: JsonValue


class Children:
    """Opens child runs for waiting steps, and reads how they ended."""

    def __init__(self, world: World, starting: Starting, endings: Endings) -> None:
        self._world = world
        self._starting = starting
        self._endings = endings

    def open(self, scope: Scope, step: Step, call: ChildCall, token: str) -> Step:
        """Start the child run of `step` and let the step wait for it under `token`.

        A retry finds the same child and replaces the token. A child that is already over is
        answered at once.
        """
        parent = self._world.runs.get(scope, step.run)
        child = self._child(scope, parent, step, call)
        waiting = settle(lambda: self._wait(scope, step, child.id, token))
        try:
            self._starting.launch(scope, child)
        except PermanentError:  # there is nothing to wait for
            settle(lambda: resumed(self._world, scope, step.run, step.key))
            raise
        wake(self._world, scope, self._world.runs.get(scope, child.id))
        return waiting

    def close(self, scope: Scope, step: Step) -> Step:
        """Return `step` no longer waiting; a child still at work has had its time: it ends."""
        child = self._world.runs.get(scope, RunId(step.child or ""))
        if not over(child):
            self._endings.cancel(scope, child.id, cause=f"step {step.key.text} waited long enough")
        return settle(lambda: resumed(self._world, scope, step.run, step.key))

    def outcome(self, scope: Scope, step: Step) -> JsonValue:
        """Return the output of the step's child run; raise SubworkflowFailed where it has none."""
        child = self._world.runs.get(scope, RunId(step.child or ""))
        if child.error is not None:
            raise _failed(child, child.error)
        return self._world.values.load(scope, child.output) if child.output else None

    def _child(self, scope: Scope, parent: Run, step: Step, call: ChildCall) -> Run:
        depth = parent.parent.depth + 1 if parent.parent else 1
        if depth > MAX_DEPTH:
            raise SubworkflowFailed(
                f"Node '{step.node}' would nest sub-workflows {depth} deep: more than {MAX_DEPTH}.",
                remedy="Let the workflows call each other less deeply.",
            )
        place = ParentStep(run=parent.id, path=step.path, node=step.node, depth=depth)
        return self._starting.record(
            scope,
            Order(
                workflow=call.workflow,
                payload=call.payload,
                delivery=child_delivery(parent.id, step.key, step.generation),
                parent=place,
                pinned_versions=parent.pinned_versions,
                mode=parent.mode,
            ),
        )

    def _wait(self, scope: Scope, step: Step, child: RunId, token: str) -> Step:
        stored = self._world.journal.read(scope, step.run, [step.key]).get(step.key)
        now = stored or step
        if now.done:
            return now
        changes = {"status": StepStatus.WAITING, "token": token, "child": child}
        waiting = now.model_copy(update=changes)
        if now.status is StepStatus.WAITING:
            return self._world.journal.write(scope, waiting)
        return self._world.waits.open(scope, waiting)


def _failed(child: Run, error: Failure) -> SubworkflowFailed:
    verb = "was cancelled" if error.type == CANCELLED else f"failed with {error.type}"
    return SubworkflowFailed(
        f"Run {child.id} of the sub-workflow '{child.title}' {verb}: {error.message}",
        remedy=error.remedy or f"Look at run {child.id}.",
    )
