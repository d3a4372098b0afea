"""Small machines, in the shapes that the compiler emits, and a bench to run them on."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from localcloud.cloud import LocalCloud
from localcloud.functions import Handler

ROLE = "arn:aws:iam::123456789012:role/states"
Definition = dict[str, Any]


def machine(states: Mapping[str, Definition], start: str | None = None, **more: Any) -> Definition:
    return {
        "QueryLanguage": "JSONata",
        "StartAt": start or next(iter(states)),
        "States": dict(states),
        **more,
    }


def branch(states: Mapping[str, Definition], start: str | None = None) -> Definition:
    return {"StartAt": start or next(iter(states)), "States": dict(states)}


def task(function: str, payload: Any = None, **more: Any) -> Definition:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": function, "Payload": {} if payload is None else payload},
        **_end(more),
    }


def token_task(function: str, **more: Any) -> Definition:
    payload = {"token": "{% $states.context.Task.Token %}"}
    return task(function, payload) | {
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        **_end(more),
    }


def passing(output: Any = None, **more: Any) -> Definition:
    return {"Type": "Pass", **({} if output is None else {"Output": output}), **_end(more)}


def _end(more: dict[str, Any]) -> dict[str, Any]:
    return more if "Next" in more else {"End": True, **more}


@dataclass
class Ended:
    status: str
    output: Any
    error: str | None
    cause: str | None


@dataclass
class Bench:
    """A running cloud, the functions that its machines call, and shortcuts."""

    cloud: LocalCloud
    handlers: dict[str, Handler]
    calls: list[tuple[str, Any]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def sfn(self) -> Any:
        return self.cloud.clients.stepfunctions

    def create(self, definition: Definition) -> str:
        name = f"m{next(self._numbers)}"
        return str(
            self.sfn.create_state_machine(
                name=name, definition=json.dumps(definition), roleArn=ROLE
            )["stateMachineArn"]
        )

    def start(self, definition: Definition, value: Any = None) -> str:
        arn = self.create(definition)
        text = json.dumps({} if value is None else value)
        return str(
            self.sfn.start_execution(
                stateMachineArn=arn, name=f"e{next(self._numbers)}", input=text
            )["executionArn"]
        )

    def run(self, definition: Definition, value: Any = None) -> Ended:
        return self.end(self.start(definition, value))

    def end(self, execution: str, seconds: float = 10) -> Ended:
        until = time.monotonic() + seconds
        while (answer := self.sfn.describe_execution(executionArn=execution))[
            "status"
        ] == "RUNNING":
            assert time.monotonic() < until, "the execution does not end"
            time.sleep(0.002)
        output = json.loads(answer["output"]) if "output" in answer else None
        return Ended(answer["status"], output, answer.get("error"), answer.get("cause"))

    def events(self, execution: str) -> list[str]:
        return [event["type"] for event in self.history(execution)]

    def history(self, execution: str) -> list[dict[str, Any]]:
        pages = self.sfn.get_paginator("get_execution_history").paginate(executionArn=execution)
        return [event for page in pages for event in page["events"]]


class Desk:
    """A function that keeps the tokens it is given until somebody answers them."""

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._changed = threading.Condition()

    def __call__(self, event: Any, context: Any) -> None:
        with self._changed:
            self._tokens.append(event["token"])
            self._changed.notify_all()

    def token(self, number: int = 0) -> str:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._tokens) > number, timeout=5)
            return self._tokens[number]
