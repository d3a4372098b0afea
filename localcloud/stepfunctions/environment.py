"""Where a machine, a branch or an item stands: moto's environment, able to wait and to be woken.

moto keeps a thread for each wait and forgets it when an execution ends. Here whoever waits does so
through the environment of its branch, in the thread that it already has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from moto.stepfunctions.parser.api import (
    Arn,
    ExecutionFailedEventDetails,
    StateMachineType,
    Timestamp,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.evaluation_details import AWSExecutionDetails
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventHistoryContext
from moto.stepfunctions.parser.asl.eval.event.logging import CloudWatchLoggingSession
from moto.stepfunctions.parser.asl.eval.program_state import (
    ProgramEnded,
    ProgramRunning,
    ProgramState,
)
from moto.stepfunctions.parser.asl.eval.states import ContextObjectData
from moto.stepfunctions.parser.asl.eval.variable_store import VariableStore
from moto.stepfunctions.parser.backend.activity import Activity
from moto.stepfunctions.parser.mocking.mock_config import MockTestCase

from localcloud.lambdas import Lambdas
from localcloud.stepfunctions.history import LimitedHistory
from localcloud.stepfunctions.tokens import Pending, Tokens
from localcloud.stepfunctions.variables import LimitedVariables
from localcloud.workers import Workers


class Interrupted(Exception):
    """The execution or branch was ended from outside while it waited."""


@dataclass(frozen=True)
class Runtime:
    """What executions need from the cloud that runs them."""

    lambdas: Lambdas
    workers: Workers
    tokens: Tokens
    retry_pace: float = 1.0
    """Factor on the intervals of Retry, so that tests need not wait."""


class RunEnvironment(Environment):
    """One frame of an execution: the machine itself, a branch, or an item of a Map."""

    runtime: Runtime
    deadline: float | None = None
    """When the Task at work must have ended, on the monotonic clock."""
    pending: Pending | None = None
    """The token of the Task at work, if it waits for one."""

    def __init__(
        self,
        aws_execution_details: AWSExecutionDetails,
        execution_type: StateMachineType,
        context: ContextObjectData,
        event_history_context: EventHistoryContext,
        cloud_watch_logging_session: CloudWatchLoggingSession | None,
        activity_store: dict[Arn, Activity],
        variable_store: VariableStore | None = None,
        mock_test_case: MockTestCase | None = None,
    ) -> None:
        variables = (
            variable_store if isinstance(variable_store, LimitedVariables) else LimitedVariables()
        )
        super().__init__(
            aws_execution_details=aws_execution_details,
            execution_type=execution_type,
            context=context,
            event_history_context=event_history_context,
            cloud_watch_logging_session=cloud_watch_logging_session,
            activity_store=activity_store,
            variable_store=variables,
            mock_test_case=mock_test_case,
        )
        self.variables = variables
        self.assigned: dict[str, object] = {}
        self.event_manager = LimitedHistory(cloud_watch_logging_session)
        self._waits: set[threading.Event] = set()

    def open_frame(
        self, event_history_context: EventHistoryContext | None = None
    ) -> RunEnvironment:
        """Open a frame with the same variables."""
        with self._state_mutex:
            frame = self._framed(self.variables)
            self._frames.append(frame)
            return frame

    def inner(self) -> RunEnvironment:
        """Open the frame of a branch or an item: it reads the variables here and keeps its own."""
        with self._state_mutex:
            frame = self._framed(LimitedVariables.as_inner_scope_of(self.variables))
            self._frames.append(frame)
            return frame

    def _framed(self, variables: LimitedVariables) -> RunEnvironment:
        frame = RunEnvironment(
            aws_execution_details=self.aws_execution_details,
            execution_type=self.execution_type,
            context=self._context_copy(),
            event_history_context=EventHistoryContext(self.event_history_context.source_event_id),
            cloud_watch_logging_session=self.cloud_watch_logging_session,
            activity_store=self.activity_store,
            variable_store=variables,
            mock_test_case=self.mock_test_case,
        )
        frame._is_frame = True
        frame.runtime = self.runtime
        frame.event_manager = self.event_manager
        frame.callback_pool_manager = self.callback_pool_manager
        frame.map_run_record_pool_manager = self.map_run_record_pool_manager
        frame._program_state = self._state_copy()
        return frame

    def _context_copy(self) -> ContextObjectData:
        """The context object as a branch sees it: the Map's item is there, the Task is not."""
        data: dict[str, Any] = {**self.states.context_object.context_object_data}
        data.pop("Task", None)
        if "State" in data:
            data["State"] = {**data["State"]}
        return cast("ContextObjectData", data)

    def _state_copy(self) -> ProgramState | None:
        state = self._program_state
        if not isinstance(state, ProgramRunning):
            return state
        copied = _running()
        copied.next_state_name = state.next_state_name
        return copied

    def begin(self, state: str) -> bool:
        """Go to the first state; False if this frame was ended before it began."""
        with self._state_mutex:
            if self._program_state is None:
                self._program_state = _running()
            if not self.is_running():
                return False
            self.next_state_name = state
            return True

    def program_state(self) -> ProgramState:
        """Where this frame stands; moto copies it each time it is asked."""
        if self._program_state is None:
            raise RuntimeError("the frame has not begun")
        return self._program_state

    def is_ended(self) -> bool:
        """Whether this frame has ended as a success."""
        return isinstance(self._program_state, ProgramEnded)

    def commit(self) -> None:
        """Let the state's Assign take effect. Raises VariablesTooLarge."""
        for name, value in self.assigned.items():
            self.variables.set(name, value)
        self.assigned.clear()

    def take_token(self) -> str:
        """Return a new token for the Task at work."""
        self.pending = self.runtime.tokens.issue()
        return self.pending.token

    def drop_token(self) -> None:
        """Close the token of the Task at work: its attempt is over."""
        if self.pending is not None:
            self.runtime.tokens.withdraw(self.pending)
            self.pending = None

    def wait(self, event: threading.Event, seconds: float | None) -> bool:
        """Return True once `event` is set, False when `seconds` are over.

        Raises Interrupted if this frame is ended meanwhile.
        """
        with self._waiting(event):
            if seconds is None or seconds > threading.TIMEOUT_MAX:
                seconds = threading.TIMEOUT_MAX
            happened = event.wait(max(0.0, seconds))
        if not self.is_running():
            raise Interrupted
        return happened

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass. Raises Interrupted."""
        if seconds > 0:
            self.wait(threading.Event(), seconds)

    def remaining(self) -> float | None:
        """Seconds until the Task at work must have ended; None if it may run for ever."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    @contextmanager
    def _waiting(self, event: threading.Event) -> Iterator[None]:
        with self._state_mutex:
            if not self.is_running():
                raise Interrupted
            self._waits.add(event)
        try:
            yield
        finally:
            self._waits.discard(event)

    def _wake(self) -> None:
        for event in list(self._waits):
            event.set()

    def set_ended(self) -> None:
        """End as a success, unless it has ended before."""
        super().set_ended()
        self._wake()

    def set_error(self, error: ExecutionFailedEventDetails) -> None:
        """End as a failure; AWS keeps the first end: a stopped execution does not fail later."""
        with self._state_mutex:
            if self.is_running():
                super().set_error(error)
        self._wake()

    def set_timed_out(self) -> None:
        """End because the machine's own time is over, unless it has ended before."""
        with self._state_mutex:
            if self.is_running():
                super().set_timed_out()
        self._wake()

    def set_stop(self, stop_date: Timestamp, cause: str | None, error: str | None) -> None:
        """End from outside, with everything that waits in here."""
        super().set_stop(stop_date, cause, error)
        self._wake()


def _running() -> ProgramRunning:
    return ProgramRunning()  # type: ignore[no-untyped-call]  # moto has no types here


def of(env: Environment) -> RunEnvironment:
    """Return `env` as what every environment of the local cloud is."""
    if isinstance(env, RunEnvironment):
        return env
    raise TypeError("an execution runs outside the local cloud: its backend was not replaced")
