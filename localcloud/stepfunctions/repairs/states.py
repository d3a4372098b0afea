"""What all states share: entering, the attempt, retry and catch, leaving."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.catch.catch_outcome import CatchOutcome
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEvent,
    FailureEventException,
)
from moto.stepfunctions.parser.asl.component.common.retry.retry_outcome import RetryOutcome
from moto.stepfunctions.parser.asl.component.state.exec.execute_state import ExecutionState
from moto.stepfunctions.parser.asl.component.state.exec.state_map.state_map import StateMap
from moto.stepfunctions.parser.asl.component.state.exec.state_parallel.state_parallel import (
    StateParallel,
)
from moto.stepfunctions.parser.asl.component.state.state import CommonStateField
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.eval.states import StateData

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import Interrupted, of
from localcloud.stepfunctions.failures import DATA_LIMIT, failure, said
from localcloud.stepfunctions.history import HistoryFull
from localcloud.stepfunctions.variables import VariablesTooLarge

MENDED = Mended()


@MENDED.of(CommonStateField, "_eval_body")
def pass_state(self: CommonStateField, env: Environment) -> None:
    """AWS assigns after Output was evaluated, and a Catch may lead to its own state again."""
    _enter(self, env)
    self._eval_state_input(env=env)
    try:
        self._eval_state(env)
    except Interrupted:
        return
    if not env.is_running():
        return
    caught = bool(env.stack) and isinstance(env.stack[-1], CatchOutcome)
    self._eval_state_output(env=env)
    _assign(env)
    self._verify_size_quota(env=env, value=env.states._states_data["input"])
    if not caught:
        self._set_next(env)
    _leave(self, env)


def _enter(state: CommonStateField, env: Environment) -> None:
    env.event_manager.add_event(
        context=env.event_history_context,
        event_type=state.state_entered_event_type,
        event_details=said(
            stateEnteredEventDetails=state._get_state_entered_event_details(env=env)
        ),
    )
    env.states.context_object.context_object_data["State"] = StateData(
        EnteredTime=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        Name=state.name,
        RetryCount=0,
    )
    of(env).assigned.clear()


def _assign(env: Environment) -> None:
    try:
        of(env).commit()
    except VariablesTooLarge as error:
        raise failure(env, DATA_LIMIT, str(error)) from error


def _leave(state: CommonStateField, env: Environment) -> None:
    if state.state_exited_event_type is None:
        return
    env.event_manager.add_event(
        context=env.event_history_context,
        event_type=state.state_exited_event_type,
        event_details=said(stateExitedEventDetails=state._get_state_exited_event_details(env=env)),
    )


@MENDED.of(ExecutionState, "_evaluate_with_timeout")
def attempt(self: ExecutionState, env: Environment) -> None:
    """AWS gives each attempt of a Task its own time and its own token.

    moto starts a thread for each attempt, and shows a retry the answer of the attempt before.
    """
    frame = of(env)
    self.timeout.eval(env=env)
    seconds = env.stack.pop()
    frame.deadline = None if self.timeout.is_default_value() else time.monotonic() + seconds
    try:
        self._eval_execution(env)
    finally:
        frame.deadline = None
        frame.drop_token()
    if self._is_language_query_jsonpath():
        _result_by_path(self, env)
        return
    result = env.stack.pop()
    env.states.set_result(result)
    if self.assign_decl:
        self.assign_decl.eval(env=env)
    env.stack.append(result)


def _result_by_path(state: ExecutionState, env: Environment) -> None:
    for part in (state.assign_decl, state.result_selector, state.result_path):
        if part:
            part.eval(env=env)


@MENDED.of(ExecutionState, "_eval_state")
def attempt_task(self: ExecutionState, env: Environment) -> None:
    """AWS retries, then catches, then fails; a stop from outside is neither."""
    _attempt(self, env, None)


@MENDED.of(StateMap, "_eval_state")
def attempt_map(self: StateMap, env: Environment) -> None:
    """AWS retries a Map as a whole."""
    _attempt(self, env, HistoryEventType.MapStateFailed)


@MENDED.of(StateParallel, "_eval_state")
def attempt_parallel(self: StateParallel, env: Environment) -> None:
    """AWS retries a Parallel as a whole, with the same input."""
    if self.parargs is not None:
        self.parargs.eval(env=env)
    _attempt(self, env, HistoryEventType.ParallelStateFailed)


def _attempt(state: ExecutionState, env: Environment, failed: HistoryEventType | None) -> None:
    given = list(env.stack)
    while env.is_running():
        env.stack[:] = given
        try:
            state._evaluate_with_timeout(env)
        except (Interrupted, HistoryFull):
            raise
        except Exception as error:
            if not env.is_running():
                raise Interrupted from error
            of(env).assigned.clear()
            if _handled(state, env, _failed(state, env, error), failed):
                return
        else:
            return


def _failed(state: ExecutionState, env: Environment, error: Exception) -> FailureEvent:
    event = state._from_error(env=env, ex=error)
    output = state._construct_error_output_value(failure_event=event)
    env.states.set_error_output(output)
    env.states.set_result(output)
    return event


def _handled(
    state: ExecutionState, env: Environment, event: FailureEvent, failed: HistoryEventType | None
) -> bool:
    """Record the failure; return False to try again, True once it is caught, else raise."""
    if failed is None or event.event_type == HistoryEventType.EvaluationFailed:
        _record(env, event.event_type, event.event_details)
    if state.retry and state._handle_retry(env, event) == RetryOutcome.CanRetry:
        return False
    if failed is not None:
        _record(env, failed, None)
    if state.catch:
        state._handle_catch(env=env, failure_event=event)
        if env.stack[-1] == CatchOutcome.Caught:
            return True
    raise FailureEventException(failure_event=event)


def _record(env: Environment, kind: HistoryEventType, details: EventDetails | None) -> None:
    env.event_manager.add_event(
        context=env.event_history_context, event_type=kind, event_details=details
    )
