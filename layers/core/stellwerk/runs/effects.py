"""Whether a step has an effect on the world that must not happen twice.

A Lambda that is at work when its run ends goes on for a while, and may even begin a step: what it
leaves behind is read as what it has come to.
"""

from __future__ import annotations

from stellwerk.catalogue.model import Kind
from stellwerk.runs.leases import in_flight
from stellwerk.runs.model import Step, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


def writes(world: World, scope: Scope, step: Step) -> bool:
    """Whether the step, with the parameters it was given, may not simply run again."""
    if step.dry:
        return False
    declared = world.catalogue.find(step.type)
    if declared is None or declared.kind is not Kind.STEP:
        return False
    given = world.values.load(scope, step.input) if step.input is not None else None
    return not declared.repeatable_with(given if isinstance(given, dict) else {})


def write_in_flight(world: World, scope: Scope, step: Step) -> bool:
    """Whether an attempt of such a step has begun and not ended."""
    return in_flight(step) and writes(world, scope, step)


def closed_status(world: World, scope: Scope, step: Step) -> StepStatus:
    """Return how an open entry ends with its scope.

    Uncertain where a write was in flight and its process is dead, skipped if it was never begun.
    """
    if _unbegun(step):
        return StepStatus.SKIPPED
    leased = step.lease is not None and step.lease > world.clock.now()
    lost = step.status is StepStatus.RUNNING and not leased
    uncertain = lost and write_in_flight(world, scope, step)
    return StepStatus.UNCERTAIN if uncertain else StepStatus.CANCELLED


def as_closed(world: World, scope: Scope, step: Step) -> Step:
    """Return the entry of a run that is over: one that is still open was begun as the run ended."""
    if step.done or step.status not in {StepStatus.RUNNING, StepStatus.WAITING}:
        return step
    return step.model_copy(update={"status": closed_status(world, scope, step)})


def may_have_happened(world: World, scope: Scope, step: Step) -> bool:
    """Whether the entry of a run that is over tells of a write that nobody has confirmed.

    It is uncertain; or it was cancelled while the write was in flight, which may end after that.
    """
    if step.status is StepStatus.UNCERTAIN or step.done:
        return not step.done
    if step.status is not StepStatus.CANCELLED or not step.attempts:
        return False
    error = step.attempts[-1].error
    return (error is None or error.uncertain) and writes(world, scope, step)


def _unbegun(step: Step) -> bool:
    """Whether the entry only carries what a replay hands on to a step, which was never reached."""
    begun = step.attempts or step.token or step.child or step.size is not None
    return step.status is StepStatus.RUNNING and step.type != SCOPE_TYPE and not begun
