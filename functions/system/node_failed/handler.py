"""A node has failed for good, and its `on_error` says how it goes on."""

from __future__ import annotations

from stellwerk.handlers.system import NodeEvent, Occasion, system_event
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly


@system_event(NodeEvent)
def handler(event: NodeEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """Journal the error as the node's value and return the port that fires."""
    scope = event.run.scope(occasion.request)
    level = runs.level(scope, event.run, event.path)
    return {"port": runs.scopes.node_failed(scope, level, event.node, event.failure)}
