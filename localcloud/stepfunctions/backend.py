"""Step Functions of one account and region: machines, executions and tokens."""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

from moto.stepfunctions.exceptions import ExecutionDoesNotExist
from moto.stepfunctions.models import StateMachine
from moto.stepfunctions.parser.api import (
    ExecutionStatus,
    StateMachineType,
)
from moto.stepfunctions.parser.asl.parse.asl_parser import (
    AmazonStateLanguageParser,
    ASLParserException,
)
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from localcloud.stepfunctions.definition import check_definition
from localcloud.stepfunctions.environment import Runtime
from localcloud.stepfunctions.errors import (
    ExecutionAlreadyExists,
    InvalidDefinition,
    StateMachineAlreadyExists,
)
from localcloud.stepfunctions.execution import LocalExecution
from localcloud.stepfunctions.refusals import check_input, check_name, check_output, check_size
from localcloud.stepfunctions.tokens import Failure, Success

HISTORIES = 200
"""How many executions that have ended keep their histories; AWS keeps all, for 90 days."""

Listener = Callable[[LocalExecution], None]


class LocalStepFunctions(StepFunctionsParserBackend):
    """moto's backend with what AWS refuses, tokens that are found, and ends that are told."""

    runtime: Runtime
    on_end: Listener
    on_create: Callable[[StateMachine], None]
    on_delete: Callable[[str], None]

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._lock = threading.RLock()
        self._executions: dict[str, LocalExecution] = {}
        self._machines: dict[str, StateMachine] = {}
        self._past: deque[LocalExecution] = deque()
        self.on_create = self.on_delete = _ignore

    def create(
        self, name: str, definition: str, role: str, tags: list[dict[str, str]] | None = None
    ) -> StateMachine:
        """Create a machine; the same name with the same definition is the same machine.

        Raises StateMachineAlreadyExists for another definition, InvalidDefinition, and moto's
        errors for a name or role that is malformed.
        """
        check_name(name)
        self._validate_definition(definition)
        with self._lock:
            machine: StateMachine = super().create_state_machine(
                name=name, definition=definition, roleArn=role, tags=tags
            )
            if machine.definition != definition:
                raise StateMachineAlreadyExists(
                    f"State Machine Already Exists: '{machine.arn}' has another definition"
                )
            known = machine.arn in self._machines
            self._machines[machine.arn] = machine
        if not known:
            self.on_create(machine)
        return machine

    @staticmethod
    def _validate_definition(definition: str) -> None:
        """Refuse what AWS refuses, saying where and not repeating all of it."""
        check_size(definition)
        check_definition(definition)
        try:
            AmazonStateLanguageParser.parse(definition)
        except ASLParserException as error:
            raise InvalidDefinition(f"Invalid State Machine Definition: {error}") from error
        except (ValueError, RuntimeError, TypeError, AttributeError) as error:
            raise InvalidDefinition(
                f"Invalid State Machine Definition: {type(error).__name__}: {error}"
            ) from error

    def describe_state_machine(self, arn: str) -> StateMachine:
        """Return a machine, found by its ARN at once."""
        machine = self._machines.get(arn)
        return machine if machine is not None else super().describe_state_machine(arn)

    def delete_state_machine(self, arn: str) -> None:
        """Delete a machine; AWS ends its executions at their next transition."""
        super().delete_state_machine(arn)
        with self._lock:
            machine = self._machines.pop(arn, None)
        if machine is None:
            return
        for execution in self.running():
            if execution.state_machine_arn == arn:
                execution.stop(datetime.now(UTC), None, None)
        self.on_delete(arn)

    def start(
        self, machine_arn: str, name: str | None = None, text: str | None = None
    ) -> LocalExecution:
        """Start an execution, or return the open one of the same name and input.

        Raises ExecutionAlreadyExists for another input, and for the name of one that has ended.
        """
        name = name or str(uuid.uuid4())
        check_name(name)
        self._validate_name(name)
        text = "{}" if text is None else text
        check_input(text)
        with self._lock:
            machine = self.describe_state_machine(machine_arn)
            arn = f"{machine_arn.replace(':stateMachine:', ':execution:', 1)}:{name}"
            known = self._executions.get(arn)
            if known is not None:
                return _same(known, text)
            execution = self._made(machine, name, arn, text)
            self._executions[arn] = execution
            cast("list[Any]", machine.executions).append(execution)
        if self._serves:
            execution.start()
        return execution

    @property
    def _serves(self) -> bool:
        """Whether a cloud runs here; elsewhere executions are only recorded, as moto does."""
        return hasattr(self, "runtime")

    def _made(self, machine: StateMachine, name: str, arn: str, text: str) -> LocalExecution:
        execution = LocalExecution(
            name=name,
            sm_type=StateMachineType.STANDARD,
            role_arn=machine.roleArn,
            exec_arn=arn,
            account_id=self.account_id,
            region_name=self.region_name,
            state_machine=cast("Any", machine),
            start_date=datetime.now(UTC),
            cloud_watch_logging_session=None,
            activity_store={},
            input_data=text,
        )
        if self._serves:
            execution.runtime = self.runtime
        execution.on_end = self._ended
        execution.exec_status = ExecutionStatus.RUNNING
        return execution

    def _ended(self, execution: LocalExecution) -> None:
        self._past.append(execution)
        if len(self._past) > HISTORIES:
            self._past.popleft().forget()
        self.on_end(execution)

    def execution(self, arn: str) -> LocalExecution:
        """Return an execution, even of a machine that was deleted. Raises ExecutionDoesNotExist."""
        found = self._executions.get(arn)
        if found is not None:
            return found
        raise ExecutionDoesNotExist(f"Execution Does Not Exist: '{arn}'")

    def stop(self, arn: str, *, error: str | None, cause: str | None) -> LocalExecution:
        """Stop an execution; one that has ended stays as it ended."""
        execution = self.execution(arn)
        execution.stop(datetime.now(UTC), error, cause)
        return execution

    def running(self) -> list[LocalExecution]:
        """The executions that have not ended."""
        known = list(self._executions.values())
        return [one for one in known if one.exec_status == ExecutionStatus.RUNNING]

    def history(self, arn: str, *, reverse: bool, start: int, size: int) -> dict[str, Any]:
        """Return a page of an execution's events."""
        events = self.execution(arn).events()
        if reverse:
            events = events[::-1]
        page: dict[str, Any] = {"events": events[start : start + size]}
        if start + size < len(events):
            page["nextToken"] = str(start + size)
        return page

    def succeed(self, token: str, output: str) -> None:
        """End the Task of a token with a result. Raises TaskTimedOut, InvalidToken."""
        check_output(output)
        self.runtime.tokens.answer(token, Success(output))

    def fail(self, token: str, *, error: str | None, cause: str | None) -> None:
        """End the Task of a token with an error. Raises TaskTimedOut, InvalidToken."""
        self.runtime.tokens.answer(token, Failure(error, cause))


def _same(known: LocalExecution, text: str) -> LocalExecution:
    if known.exec_status == ExecutionStatus.RUNNING and known.execution_input == text:
        return known
    raise ExecutionAlreadyExists(f"Execution Already Exists: '{known.execution_arn}'")


def _ignore(what: object) -> None:
    """Where nobody asks to be told."""
