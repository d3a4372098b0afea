"""Runs on a schedule, and repairs what nobody else will."""

from __future__ import annotations

from stellwerk.handlers.system import SweepEvent, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.tenancy.scope import seeded


@system_event(SweepEvent)
def handler(event: SweepEvent, runs: Assembly, request: str) -> JsonObject:
    """Make up to `limit` repairs; return how many there were of which kind."""
    return runs.sweeper.sweep(seeded(request=request), limit=event.limit).counts()
