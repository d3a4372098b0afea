"""At a rate: once a day every planned time gets its row, and what is owed is made good."""

from __future__ import annotations

from stellwerk.bootstrap.scheduling import ScheduleServices
from stellwerk.handlers.scheduling import LookEvent, schedule_event
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline

RESERVE = 30.0
"""Seconds that a look may take which has begun within the time, and the mark after it."""


@schedule_event(LookEvent)
def handler(event: LookEvent, schedules: ScheduleServices, occasion: Occasion) -> JsonObject:
    """Make the round that is due; return how much there was to do.

    Raises NotLooked at the end where mandates could not be looked at.
    """
    deadline = Deadline.within(schedules.rounds.clock, occasion.seconds - RESERVE)
    return schedules.rounds.go(deadline, request=occasion.request)
