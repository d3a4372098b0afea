"""The world of a fast run: state machines, executions and task tokens over the interpreter."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stellwerk.kernel.clock import instant
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.runs.model import Failure
from stellwerk.tenancy.scope import Scope
from tests.proof.language import Machine, read
from tests.proof.machine import Interpreter, Invoke
from tests.proof.scheduler import Pause, Running, Scheduler, StateFailed, Thread, Tokens

ARN = "arn:aws:states:eu-central-1:000000000000"


class Hang(Exception):
    """Nothing can happen any more, and an execution has not ended."""


@dataclass
class Execution:
    """An execution of a machine."""

    arn: str
    machine: str
    name: str
    given: JsonObject
    thread: Thread
    status: str = "RUNNING"
    error: str = ""
    cause: str = ""


@dataclass
class World:
    """Implements the ports `Machines`, `Executions` and `Clock`; `invoke` calls Lambdas."""

    invoke: Invoke
    random: random.Random
    scheduler: Scheduler = field(init=False)
    machines: dict[str, Machine] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.random)

    def now(self) -> datetime:
        """Return the virtual moment."""
        return self.scheduler.now

    def create(self, scope: Scope, name: str, definition: str) -> str:
        """Create a state machine."""
        arn = f"{ARN}:stateMachine:{name}"
        self.machines[arn] = read(definition)
        return arn

    def delete(self, scope: Scope, machine: str) -> None:
        """Delete a state machine."""
        self.machines.pop(machine, None)

    def start(self, scope: Scope, machine: str, name: str, data: JsonObject) -> str:
        """Start an execution; the same name again is the same execution."""
        arn = f"{machine.replace(':stateMachine:', ':execution:')}:{name}"
        if arn not in self.executions:
            context: JsonObject = {
                "Execution": {
                    "Id": arn,
                    "Name": name,
                    "Input": data,
                    "StartTime": instant(self.now()),
                },
                "StateMachine": {"Id": machine},
            }
            interpreter = Interpreter(
                self.machines[machine], self.scheduler, self.invoke, self.tokens, context
            )
            thread = self.scheduler.spawn(interpreter.run(data))
            self.executions[arn] = Execution(arn, machine, name, data, thread)
        return arn

    def stop(self, scope: Scope, execution: str, *, cause: str) -> None:
        """Stop an execution that runs."""
        found = self.executions.get(execution)
        if found is not None and found.status == "RUNNING":
            self.scheduler.kill([found.thread])
            self._end(found, "ABORTED", "", cause)

    def status(self, scope: Scope, execution: str) -> tuple[str, str, str]:
        """Return status, error and cause."""
        found = self.executions.get(execution)
        return (found.status, found.error, found.cause) if found else ("GONE", "", "")

    def succeed(self, scope: Scope, token: str, data: JsonValue) -> bool:
        """Answer a token."""
        return self.tokens.answer(token, lambda: data)

    def fail(self, scope: Scope, token: str, failure: Failure) -> bool:
        """Answer a token with an error."""

        def answer() -> JsonValue:
            raise StateFailed(failure.type, failure.message)

        return self.tokens.answer(token, answer)

    def settle(self, seconds: float) -> None:
        """Let happen what can happen within so much time without the world outside."""
        last = self.now() + timedelta(seconds=seconds)
        while True:
            if self.scheduler.step():
                self._end_threads()
            elif not self.scheduler.pass_time(last):
                return

    def run(self, outside: Callable[[], bool]) -> None:
        """Let everything happen; `outside` does one thing that the world outside can do, if any.

        Raises:
            Hang: an execution waits for something that never comes.
        """
        while True:
            if self.random.random() < 0.1 and outside():
                continue
            if self.scheduler.step():
                self._end_threads()
            elif not outside() and not self.scheduler.pass_time():
                break
        hanging = [e.name for e in self.executions.values() if e.status == "RUNNING"]
        if hanging:
            raise Hang(f"nothing can happen any more, but {hanging} have not ended")

    def _end_threads(self) -> None:
        for execution in list(self.executions.values()):
            if execution.status == "RUNNING" and execution.thread.over:
                failure = execution.thread.failure
                if failure is None:
                    self._end(execution, "SUCCEEDED", "", "")
                else:
                    self._end(execution, "FAILED", failure.error, failure.cause)

    def _end(self, execution: Execution, status: str, error: str, cause: str) -> None:
        """Note the end and deliver the event that EventBridge would."""
        execution.status, execution.error, execution.cause = status, error, cause
        detail: JsonObject = {
            "executionArn": execution.arn,
            "stateMachineArn": execution.machine,
            "name": execution.name,
            "status": status,
            "input": dumps(execution.given),
            "output": None,
            "error": error or None,
            "cause": cause or None,
        }
        event: JsonObject = {
            "source": "aws.states",
            "detail-type": "Step Functions Execution Status Change",
            "detail": detail,
        }
        self.scheduler.spawn(self._deliver(event))

    def _deliver(self, event: JsonObject) -> Running:
        yield Pause()
        return self.invoke("stellwerk-system-run_finished", event)
