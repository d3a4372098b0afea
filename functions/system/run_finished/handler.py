"""Step Functions says that an execution ended: its run ends, or a loop's chunk is answered for."""

from __future__ import annotations

from stellwerk.handlers.system import ExecutionEvent, Occasion, system_event
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.causes import from_execution
from stellwerk.runs.finishing import SUCCEEDED


@system_event(ExecutionEvent)
def handler(event: ExecutionEvent, runs: Assembly, occasion: Occasion) -> JsonObject:
    """End the run of the execution; one that is not its run's present one changes nothing."""
    name, data, ended = event.name, event.data, event.ended
    if name is None or data is None or not event.over:
        return {}
    scope = data.run.scope(occasion.request)
    try:
        run = runs.world.runs.get(scope, name.run)
    except NotFound:
        return {}
    if run.generation != name.generation:
        return {}
    if name.chunk:
        succeeded = ended.status == SUCCEEDED
        failure = None if succeeded else from_execution(ended.error or ended.status, ended.cause)
        runs.chunks.finish(scope, run.id, data.loop, data.chunk, failure)
    else:
        runs.endings.execution_ended(scope, run, ended)
    return {}
