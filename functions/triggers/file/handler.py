"""S3 says that an object was stored: workflows that wait for such a file start, once."""

from __future__ import annotations

from stellwerk.handlers.occurring import StoringEvent, occurrence
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.json import JsonObject
from stellwerk.triggers.matching import Matching


@occurrence(StoringEvent)
def handler(event: StoringEvent, matching: Matching, occasion: Occasion) -> JsonObject:
    """Start what waits for the file; what is no file of an instance starts nothing."""
    placed = event.place(occasion.request)
    return {"started": matching.file(*placed) if placed else 0}
