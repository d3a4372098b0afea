"""EventBridge hands over an event of our bus: what waits for it starts, once."""

from __future__ import annotations

from stellwerk.handlers.occurring import TellingEvent, occurrence
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.json import JsonObject
from stellwerk.triggers.matching import Matching


@occurrence(TellingEvent)
def handler(event: TellingEvent, matching: Matching, occasion: Occasion) -> JsonObject:
    """Start what waits for the event; one that comes again starts nothing."""
    return {"started": matching.event(event.detail, request=occasion.request)}
