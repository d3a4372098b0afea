"""What a state machine hands to a step: which run, which step, and which phase of it."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId, TaskId, WorkflowId
from stellwerk.runs.model import StepKey
from stellwerk.tenancy.scope import Scope, of_run


class RunRef(BaseModel):
    """What every state knows of its run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: RunId
    mandate: str
    instance: str
    user: str
    workflow: WorkflowId
    version: int
    execution: int = 1
    trigger: NodeKey
    started: str
    origin: RunId
    mode: str = "live"
    trial: str = ""

    def scope(self, request: str) -> Scope:
        """Return the scope in which the run's steps act."""
        return of_run(self.mandate, self.instance, self.user, request=request)


class Call(BaseModel):
    """One invocation of a node's Lambda."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: RunRef
    path: Path = ROOT
    node: NodeKey
    phase: Literal["", "open", "wait", "close", "chunk", "check", "resume"] = ""
    token: str = ""
    chunk: int = 0
    chunk_size: int = 0
    index: int = 0

    @property
    def key(self) -> StepKey:
        """Which step of its run is called."""
        return StepKey(path=self.path, node=self.node)

    @property
    def address(self) -> str:
        """The step as people find it in Stellwerk: the run's id and the step's key."""
        return f"{self.run.id}/{self.key.text}"


def idempotency_key(origin: RunId, key: StepKey, generation: int) -> str:
    """Return by what a service knows the effect again: equal for attempts and replays."""
    text = "\n".join((origin, key.path, key.node, str(generation)))
    return hashlib.sha256(text.encode()).hexdigest()


def task_id(run: RunId, key: StepKey, generation: int) -> TaskId:
    """Return the id of the task that a step opens: the same for every try."""
    text = "\n".join((run, key.path, key.node, str(generation)))
    return TaskId(f"{run[:10]}{hashlib.sha256(text.encode()).hexdigest()[:16]}")
