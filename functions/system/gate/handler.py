"""The gate before a node: with a token it waits, without one it says what was decided."""

from __future__ import annotations

from stellwerk.handlers.system import NodeEvent, Occasion, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly


@system_event(NodeEvent)
def handler(event: NodeEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """Register the gate under its token, or return port `live` or `dead`."""
    scope = event.run.scope(occasion.request)
    level = runs.level(scope, event.run, event.path)
    if event.token:
        runs.gates.register(scope, level, event.node, event.token)
        return {}
    return {"port": runs.gates.verdict(scope, level, event.node).value}
