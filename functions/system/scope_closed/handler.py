"""A Parallel or Map has ended with an error: what is still open inside it is closed."""

from __future__ import annotations

from stellwerk.handlers.system import PlaceEvent, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly


@system_event(PlaceEvent)
def handler(event: PlaceEvent, runs: Assembly, request: str) -> JsonObject:
    """Close the scope at `path`; with `node`, the scope is an item of that loop, which failed."""
    scope = event.run.scope(request)
    runs.scopes.closed(scope, event.run.id, event.path, event.failure, loop=event.node)
    return {}
