"""The names by which one thing is found again: executions, deliveries, and keys of the journal."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from stellwerk.kernel.clock import instant
from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.calls import RunRef
from stellwerk.runs.model import Run, StepKey

GATE_TYPE = "gate"
CHUNK_TYPE = "chunk"
SCOPE_TYPE = "scope"
_EXECUTION = re.compile(r"^(?P<run>.+?)-g(?P<generation>\d+)(?P<chunk>-[0-9a-f]{8}-\d+)?$")


@dataclass(frozen=True)
class ExecutionName:
    """What an execution's name says: its run, its generation, whether it runs a loop's chunk."""

    run: RunId
    generation: int
    chunk: bool


def execution_name(run: RunId, generation: int) -> str:
    """Return the name of a run's execution."""
    return f"{run}-g{generation}"


def chunk_name(run: RunId, generation: int, loop: StepKey, chunk: int) -> str:
    """Return the name of the execution that runs one chunk of a loop."""
    place = hashlib.sha256(f"{loop.path}{loop.node}".encode()).hexdigest()[:8]
    return f"{execution_name(run, generation)}-{place}-{chunk}"


def read_execution_name(name: str) -> ExecutionName | None:
    """Return what `name` says, or None if it is not an execution of ours."""
    found = _EXECUTION.match(name)
    if found is None:
        return None
    return ExecutionName(
        run=RunId(found["run"]),
        generation=int(found["generation"]),
        chunk=found["chunk"] is not None,
    )


def origin_of(run: Run) -> RunId:
    """Return the run that was started first where `run` replays another, else the run itself."""
    return run.origin or run.id


def run_ref(run: Run) -> JsonObject:
    """Return what an execution carries of its run: `$run` in every payload."""
    reference = RunRef(
        id=run.id,
        mandate=run.mandate,
        instance=run.instance,
        user=run.user,
        workflow=run.workflow,
        version=run.version,
        execution=run.generation,
        trigger=run.trigger.node,
        started=instant(run.started),
        origin=origin_of(run),
        mode=run.mode,
        trial=run.trial,
    )
    return reference.model_dump(mode="json")


def child_delivery(parent: RunId, step: StepKey, generation: int) -> str:
    """Return the delivery id under which `step` starts its child run."""
    return f"child:{parent}:{step.text}:{generation}"


def gate_key(step: StepKey) -> StepKey:
    """Return where the gate before `step` is registered."""
    return StepKey(path=step.path, node=NodeKey(f"{step.node}@gate"))


def chunk_key(loop: StepKey, chunk: int) -> StepKey:
    """Return where the token of a loop's chunk is registered."""
    return StepKey(path=loop.path, node=NodeKey(f"{loop.node}@chunk{chunk}"))


def of_loop(place: StepKey, loop: StepKey) -> bool:
    """Return whether `place` lies in a pass of `loop`, or is the entry of one of its chunks."""
    if place.path == loop.path:
        return place.node.startswith(f"{loop.node}@chunk")
    return place.path.startswith(f"{loop.text}[")


def within(path: Path, scope: Path) -> bool:
    """Return whether `path` is the scope at `scope` or lies inside it."""
    return not scope or path == scope or path.startswith(f"{scope}.")
