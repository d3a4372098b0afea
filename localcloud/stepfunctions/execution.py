"""One execution of a machine, from its start to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypedDict, cast

from moto.stepfunctions.parser.api import ExecutionStatus, HistoryEventList
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.evaluation_details import (
    ExecutionDetails,
    StateMachineDetails,
)
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventHistoryContext
from moto.stepfunctions.parser.asl.eval.program_state import (
    ProgramEnded,
    ProgramError,
    ProgramStopped,
)
from moto.stepfunctions.parser.asl.eval.states import (
    ContextObjectData,
    ExecutionData,
    StateMachineData,
)
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.backend.execution import (
    BaseExecutionWorkerCommunication,
    Execution,
)
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

from localcloud.stepfunctions.environment import RunEnvironment, Runtime


class Started(TypedDict):
    """Answer of StartExecution."""

    executionArn: str
    startDate: datetime


class LocalExecution(Execution):
    """An execution that runs in one thread and tells when it has ended."""

    runtime: Runtime
    env: RunEnvironment | None = None
    """None once its history was forgotten."""
    on_end: Callable[[LocalExecution], None]

    def started(self) -> Started:
        """The answer of StartExecution."""
        return Started(executionArn=self.execution_arn, startDate=self.start_date)

    def described(self) -> dict[str, Any]:
        """The answer of DescribeExecution."""
        answer: dict[str, Any] = {
            "executionArn": self.execution_arn,
            "stateMachineArn": self.state_machine_arn,
            "name": self.name,
            "status": self.status,
            "startDate": self.start_date,
            "input": self.execution_input,
            "inputDetails": {"included": True},
        }
        if self.stop_date is not None:
            answer["stopDate"] = self.stop_date
        if self.exec_status == ExecutionStatus.SUCCEEDED:
            answer |= {"output": self.output_text(), "outputDetails": {"included": True}}
        named = {"error": self.error, "cause": self.cause}
        return answer | {key: text for key, text in named.items() if text is not None}

    def status_change(self) -> dict[str, Any]:
        """The detail of the event that tells of the execution's end."""
        ended = self.stop_date
        return {
            "executionArn": self.execution_arn,
            "stateMachineArn": self.state_machine_arn,
            "name": self.name,
            "status": self.status,
            "startDate": int(self.start_date.timestamp() * 1000),
            "stopDate": None if ended is None else int(ended.timestamp() * 1000),
            "input": self.execution_input,
            "inputDetails": {"included": True},
            "output": self.output_text() if self.exec_status == ExecutionStatus.SUCCEEDED else None,
            "outputDetails": {"included": True},
            "error": self.error,
            "cause": self.cause,
            "stateMachineVersionArn": None,
            "stateMachineAliasArn": None,
            "redriveCount": 0,
        }

    def output_text(self) -> str:
        """The output as JSON text."""
        return json.dumps(self.output, ensure_ascii=False, separators=(",", ":"))

    def events(self) -> HistoryEventList:
        """The history, oldest first; empty once it was forgotten."""
        return [] if self.env is None else self.env.event_manager.get_event_history()

    def forget(self) -> None:
        """Let go of all but what DescribeExecution tells."""
        self.env = self.exec_worker = None

    def get_start_execution_details(self) -> ExecutionDetails:
        """AWS writes StartTime into the context object as text; moto as an object."""
        return ExecutionDetails(
            arn=self.exec_arn,
            name=self.name,
            role_arn=self.role_arn,
            inpt=self.input_data,
            start_time=_moment(self.start_date),
        )

    def _get_start_execution_worker_comm(self) -> BaseExecutionWorkerCommunication:
        return _Communication(self)

    def _get_start_execution_worker(self) -> ExecutionWorker:
        worker = _Worker(self, super()._get_start_execution_worker())
        self.env = worker.frame
        return worker

    def stop(self, stop_date: datetime, error: str | None, cause: str | None) -> None:
        """End the execution from outside, unless it has ended."""
        if self.exec_status != ExecutionStatus.RUNNING:
            return
        super().stop(stop_date=stop_date, error=error, cause=cause)


class _Worker(ExecutionWorker):
    """Parses before its thread starts, so that a token never meets an execution half made."""

    def __init__(self, execution: LocalExecution, made: ExecutionWorker) -> None:
        super().__init__(
            evaluation_details=made._evaluation_details,
            exec_comm=made._execution_communication,
            cloud_watch_logging_session=made._cloud_watch_logging_session,
            activity_store=made._activity_store,
        )
        self._runtime = execution.runtime
        self._program = parsed(self._evaluation_details.state_machine_details.definition)
        self.frame = self._environment()
        self.frame.begin(self._program.start_at.start_at_name)
        self.env = self.frame

    def start(self) -> None:
        """Run in a thread of the cloud."""
        self._runtime.workers.run(self._execution_logic)

    def _get_evaluation_entrypoint(self) -> EvalComponent:
        return self._program

    def _get_evaluation_environment(self) -> Environment:
        return self.frame

    def _environment(self) -> RunEnvironment:
        details = self._evaluation_details
        execution, machine = details.execution_details, details.state_machine_details
        env = RunEnvironment(
            aws_execution_details=details.aws_execution_details,
            execution_type=machine.typ,
            context=_context(execution, machine),
            event_history_context=EventHistoryContext.of_program_start(),
            cloud_watch_logging_session=self._cloud_watch_logging_session,
            activity_store=self._activity_store,
        )
        env.runtime = self._runtime
        return env


class _Communication(BaseExecutionWorkerCommunication):
    """Writes down how an execution ended, then tells."""

    execution: LocalExecution

    def _reflect_execution_status(self) -> None:
        execution = self.execution
        env = execution.env
        if env is None:
            raise RuntimeError("an execution was forgotten before it had ended")
        state = env.program_state()
        execution.stop_date = datetime.now(UTC)
        if isinstance(state, ProgramEnded):
            execution.output = env.states.get_input()
            execution.exec_status = ExecutionStatus.SUCCEEDED
        elif isinstance(state, ProgramStopped):
            execution.error, execution.cause = state.error, state.cause
            execution.exec_status = ExecutionStatus.ABORTED
        elif isinstance(state, ProgramError):
            details = state.error or {}
            execution.error, execution.cause = details.get("error"), details.get("cause")
            execution.exec_status = ExecutionStatus.FAILED
        else:
            execution.exec_status = ExecutionStatus.TIMED_OUT

    def terminated(self) -> None:
        """Note the end and tell whoever waits for it."""
        super().terminated()
        self.execution.on_end(self.execution)


def parsed(definition: str) -> Program:
    """Return the program of a definition."""
    program, _ = AmazonStateLanguageParser.parse(definition)
    if isinstance(program, Program):
        return program
    raise TypeError("a definition is no program")


def _context(execution: ExecutionDetails, machine: StateMachineDetails) -> ContextObjectData:
    data = {
        "Execution": ExecutionData(
            Id=execution.arn,
            Input=execution.inpt,
            Name=execution.name,
            RoleArn=execution.role_arn,
            StartTime=execution.start_time,
        ),
        "StateMachine": StateMachineData(Id=machine.arn, Name=machine.name),
    }
    return cast("ContextObjectData", data)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
