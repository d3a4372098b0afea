"""EventBridge Scheduler says that a schedule is due: its slot gets its run, or a reason."""

from __future__ import annotations

from stellwerk.bootstrap.scheduling import ScheduleServices
from stellwerk.handlers.scheduling import ScheduleEvent, schedule_event
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.json import JsonObject


@schedule_event(ScheduleEvent)
def handler(event: ScheduleEvent, schedules: ScheduleServices, occasion: Occasion) -> JsonObject:
    """Fire the slot; an event that comes again changes nothing."""
    scope = event.scope(occasion.request)
    slot = schedules.firing.scheduled(scope, event.workflow, event.node, event.at)
    return {"status": slot.status.value, "run": slot.run}
