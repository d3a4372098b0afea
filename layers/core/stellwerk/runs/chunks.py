"""Chunks of a loop: child executions of its own machine, each waited for under a task token.

The entry of a chunk holds the token. It is written before the execution starts, so a child that
ends at once finds it; a chunk that has ended already is answered at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.calls import RunRef
from stellwerk.runs.contention import settle
from stellwerk.runs.failures import last_failure
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import CHUNK_TYPE, chunk_key, chunk_name
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class Chunk:
    """One chunk of the loop at `loop`, in a run."""

    run: RunRef
    loop: StepKey
    number: int

    @property
    def key(self) -> StepKey:
        """Where the chunk is in the journal."""
        return chunk_key(self.loop, self.number)

    @property
    def name(self) -> str:
        """The name of its execution."""
        return chunk_name(self.run.id, self.run.execution, self.loop, self.number)

    def event(self, first: int, end: int) -> JsonObject:
        """Return the input of its execution, which makes the passes from `first` up to `end`."""
        return {
            "run": self.run.model_dump(mode="json"),
            "path": self.loop.path,
            "node": self.loop.node,
            "chunk": self.number,
            "from": first,
            "to": end,
        }


class Chunks:
    """Starts chunks; how they end is the concern of `chunkends`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def start(
        self,
        scope: Scope,
        blueprint: Blueprint,
        chunk: Chunk,
        token: str,
        passes: tuple[int, int],
    ) -> None:
        """Start the execution of `chunk` under `token`, for `passes` from a first up to an end."""
        waiting = settle(lambda: self._await(scope, chunk, token))
        if waiting.done:
            self._world.executions.succeed(scope, token, {})
            return
        if waiting.status is StepStatus.FAILED:
            self._world.executions.fail(scope, token, last_failure(waiting))
            return
        machine = blueprint.version.machines.get(chunk.loop.node)
        if not machine:
            raise Conflict(
                f"Version {chunk.run.version} has no machine for loop {chunk.loop.node}.",
                remedy="Publish the version again.",
            )
        child = self._world.executions.start(scope, machine, chunk.name, chunk.event(*passes))
        settle(lambda: self._note(scope, chunk, child))

    def _await(self, scope: Scope, chunk: Chunk, token: str) -> Step:
        step = self._entry(scope, chunk)
        failed = step.status is StepStatus.FAILED and step.execution == chunk.run.execution
        if step.done or failed:
            return step
        changes = {
            "status": StepStatus.WAITING,
            "token": token,
            "child": None,
            "attempts": (),
            "execution": chunk.run.execution,
        }
        return self._world.journal.write(scope, step.model_copy(update=changes))

    def _note(self, scope: Scope, chunk: Chunk, child: str) -> None:
        step = self._entry(scope, chunk)
        if step.status is StepStatus.WAITING:
            self._world.journal.write(scope, step.model_copy(update={"child": child}))

    def _entry(self, scope: Scope, chunk: Chunk) -> Step:
        run, key = chunk.run.id, chunk.key
        return self._world.journal.read(scope, run, [key]).get(key) or Step(
            run=run,
            path=key.path,
            node=key.node,
            type=CHUNK_TYPE,
            status=StepStatus.WAITING,
        )
