"""A Parallel or Map has ended with an error: what is still open inside it is closed."""

from __future__ import annotations

from stellwerk.handlers.system import Occasion, PlaceEvent, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly


@system_event(PlaceEvent)
def handler(event: PlaceEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """Close the scope at `path`, or only the passes of `loop` there.

    With `node` the scope is an item of that loop, which collects errors.
    """
    runs.scopes.closed(
        event.run.scope(occasion.request),
        event.run.id,
        event.path,
        event.failure,
        collector=event.node,
        loop=event.loop,
    )
    return {}
