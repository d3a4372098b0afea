"""Runs on a schedule, and repairs what nobody else will, in all mandates."""

from __future__ import annotations

from stellwerk.handlers.system import Occasion, SweepEvent, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.rounds import Bounds

RESERVE = 20.0
"""Seconds that a look may take which has begun within the time, and the notes after it."""


@system_event(SweepEvent)
def handler(event: SweepEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """Make up to `limit` repairs; return how many there were of which kind.

    Raises NotSwept at the end where mandates could not be swept.
    """
    deadline = Deadline.within(runs.world.clock, occasion.seconds - RESERVE)
    return runs.rounds.go(Bounds(event.limit, deadline), request=occasion.request)
