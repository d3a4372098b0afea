"""Events: what happened inside and outside, told on one bus to whatever waits for it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import Scope

OURS = "stellwerk"
"""The source of what happens inside; nobody outside may use it, or one that begins with it."""
RUN_FINISHED, TASK_DECIDED, WORKFLOW_CHANGED = "run.finished", "task.decided", "workflow.changed"


class BusEvent(BaseModel):
    """Something that happened in an instance. One that comes twice has the same id."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    mandate: MandateId
    instance: InstanceId
    source: str
    type: str
    time: datetime
    data: JsonValue = None
    workflow: str = ""
    """Which workflow it is about, if any: that one it does not start."""


class Bus(Protocol):
    """Carries events, at least once each."""

    def publish(self, scope: Scope, event: BusEvent) -> None:
        """Put an event of the scope's instance on the bus; raises ServiceUnavailable, TooLarge."""
