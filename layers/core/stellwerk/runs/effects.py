"""Whether a step has an effect on the world that must not happen twice."""

from __future__ import annotations

from stellwerk.catalogue.model import Kind
from stellwerk.runs.leases import in_flight
from stellwerk.runs.model import Step
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


def writes(world: World, scope: Scope, step: Step) -> bool:
    """Whether the step, with the parameters it was given, may not simply run again."""
    declared = world.catalogue.find(step.type)
    if declared is None or declared.kind is not Kind.STEP:
        return False
    given = world.values.load(scope, step.input) if step.input is not None else None
    return not declared.repeatable_with(given if isinstance(given, dict) else {})


def write_in_flight(world: World, scope: Scope, step: Step) -> bool:
    """Whether an attempt of such a step has begun and not ended."""
    return in_flight(step) and writes(world, scope, step)
