"""The last state of a child machine: the loop that waits for this chunk goes on."""

from __future__ import annotations

from stellwerk.handlers.system import ChunkEvent, Occasion, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly


@system_event(ChunkEvent)
def handler(event: ChunkEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """Record that the chunk is done and answer the loop's token."""
    scope = event.run.scope(occasion.request)
    runs.chunks.finish(scope, event.run.id, event.loop, event.chunk, None)
    return {}
