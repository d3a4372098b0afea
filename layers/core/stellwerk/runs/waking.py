"""Waking steps that wait, above all the step of another run that waits for a child run.

Whoever sees the end of the child first answers the token; a second answer does no harm, because the
token only wakes, and the outcome is read from the child's record.
"""

from __future__ import annotations

from stellwerk.kernel.ids import RunId
from stellwerk.runs.contention import settle
from stellwerk.runs.model import ParentStep, Run, Step, StepKey, StepStatus
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


def over(run: Run) -> bool:
    """Whether the run's outcome is recorded, though its closing may still be under way."""
    return run.ended is not None or not run.status.open


def wake(world: World, scope: Scope, child: Run) -> None:
    """Answer the step that waits for `child`, if the child is over and a step waits for it."""
    place = child.parent
    if place is None or not over(child):
        return
    step = settle(lambda: _awake(world, scope, child.id, place))
    if step is not None and step.token:
        world.executions.succeed(scope, step.token, {})


def resumed(world: World, scope: Scope, run: RunId, key: StepKey) -> Step:
    """Return the step at `key` as it is when it waits no more: running, its wait not counted."""
    step = world.journal.read(scope, run, [key])[key]
    if step.status is not StepStatus.WAITING:
        return step
    running = step.model_copy(update={"status": StepStatus.RUNNING})
    write = world.waits.close if step.child or step.awaits else world.journal.write
    return write(scope, running)


def _awake(world: World, scope: Scope, child: RunId, place: ParentStep) -> Step | None:
    """Return the step that waited for `child`, no longer counted as a wait; None if none does."""
    key = StepKey(path=place.path, node=place.node)
    step = world.journal.read(scope, place.run, [key]).get(key)
    if step is None or step.child != child or step.done:
        return None
    if step.status not in {StepStatus.WAITING, StepStatus.RUNNING}:
        return None
    return resumed(world, scope, place.run, key)
