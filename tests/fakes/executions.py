"""Executions that only happen on paper."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Failure
from stellwerk.tenancy.scope import Scope


@dataclass
class FakeExecutions:
    """Records what was started, stopped and answered; a test may set states and kill tokens."""

    started: dict[str, JsonObject] = field(default_factory=dict)
    """Inputs by ARN."""
    states: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Status, error and cause by ARN."""
    stopped: list[tuple[str, str]] = field(default_factory=list)
    """ARN and cause."""
    succeeded: list[tuple[str, JsonValue]] = field(default_factory=list)
    failed: list[tuple[str, Failure]] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    """Tokens that nothing waits for any more."""
    machines_gone: bool = False
    """Whether somebody has deleted all machines."""

    def start(self, scope: Scope, machine: str, name: str, data: JsonObject) -> str:
        _check_owner(scope, machine)
        if self.machines_gone:
            raise NotFound(f"there is no {machine}")
        arn = f"{machine.replace(':stateMachine:', ':execution:')}:{name}"
        if arn not in self.started:
            self.started[arn] = data
            self.states[arn] = ("RUNNING", "", "")
        return arn

    def stop(self, scope: Scope, execution: str, *, cause: str) -> None:
        _check_owner(scope, execution)
        if self.states.get(execution, ("GONE",))[0] == "RUNNING":
            self.states[execution] = ("ABORTED", "", cause)
            self.stopped.append((execution, cause))

    def status(self, scope: Scope, execution: str) -> tuple[str, str, str]:
        if not _owned(scope, execution):
            return "GONE", "", ""
        return self.states.get(execution, ("GONE", "", ""))

    def succeed(self, scope: Scope, token: str, data: JsonValue) -> bool:
        if token in self.dead:
            return False
        self.succeeded.append((token, data))
        self.dead.add(token)
        return True

    def fail(self, scope: Scope, token: str, failure: Failure) -> bool:
        if token in self.dead:
            return False
        self.failed.append((token, failure))
        self.dead.add(token)
        return True


def _owned(scope: Scope, arn: str) -> bool:
    return arn.split(":")[6].startswith(f"{scope.mandate}-")


def _check_owner(scope: Scope, arn: str) -> None:
    if not _owned(scope, arn):
        raise NotFound(f"there is no {arn}")
