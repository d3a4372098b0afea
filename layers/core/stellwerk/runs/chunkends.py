"""The end of a loop's chunk: its entry says how it ended, the loop's token is answered.

Both the child machine's last state and the event of its execution tell of the end; the first one
counts.
"""

from __future__ import annotations

from stellwerk.kernel.ids import RunId
from stellwerk.runs.contention import settle
from stellwerk.runs.model import Attempt, Failure, Step, StepKey, StepStatus
from stellwerk.runs.names import CHUNK_TYPE, chunk_key
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import OUT_PORT

_OPEN = {StepStatus.RUNNING, StepStatus.WAITING}


class ChunkEnds:
    """Records how chunks ended and answers the loops that wait for them."""

    def __init__(self, world: World) -> None:
        self._world = world

    def finish(
        self, scope: Scope, run: RunId, loop: StepKey, chunk: int, failure: Failure | None
    ) -> None:
        """Record the chunk's success, or its `failure`, and answer the token; may be repeated."""
        key = chunk_key(loop, chunk)
        step = settle(lambda: self._end(scope, run, key, failure))
        error = step.attempts[-1].error if step.attempts else None
        if step.token and step.done:
            self._world.executions.succeed(scope, step.token, {})
        elif step.token and error is not None:
            self._world.executions.fail(scope, step.token, error)

    def _end(self, scope: Scope, run: RunId, key: StepKey, failure: Failure | None) -> Step:
        found = self._world.journal.read(scope, run, [key]).get(key)
        step = found or Step(
            run=run, path=key.path, node=key.node, type=CHUNK_TYPE, status=StepStatus.WAITING
        )
        if step.done or step.status not in _OPEN:
            return step
        now = self._world.clock.now()
        ended = {
            "status": StepStatus.FAILED if failure else StepStatus.SUCCEEDED,
            "port": None if failure else OUT_PORT,
            "attempts": (Attempt(started=now, ended=now, error=failure),),
        }
        return self._world.journal.write(scope, step.model_copy(update=ended))
