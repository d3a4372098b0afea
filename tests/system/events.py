"""Events as Step Functions, EventBridge and the schedule send them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import Run
from stellwerk.runs.names import run_ref


@dataclass
class Context:
    """What Lambda tells of an invocation."""

    aws_request_id: str = "request-1"
    seconds: float = 60.0

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


CONTEXT = Context()


def place(run: Run, **more: object) -> JsonObject:
    """Return the payload of a state of `run`."""
    return {"run": run_ref(run), "path": "", **more}  # type: ignore[dict-item]


def ended(run: Run, status: str, *, name: str = "", **more: object) -> JsonObject:
    """Return the event of an execution of `run` that has ended; `more` is about a chunk."""
    detail: JsonObject = {
        "executionArn": run.execution,
        "name": name or f"{run.id}-g{run.generation}",
        "status": status,
        "input": json.dumps({"run": run_ref(run), "trigger": run.trigger.node, **more}),
        "output": None,
        "error": "Forbidden" if status == "FAILED" else None,
        "cause": "not yours" if status == "FAILED" else None,
    }
    return {
        "source": "aws.states",
        "detail-type": "Step Functions Execution Status Change",
        "detail": detail,
    }
