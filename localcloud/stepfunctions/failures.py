"""Failures of a state, named and explained as AWS does."""

from __future__ import annotations

from typing import cast

from moto.stepfunctions.parser.api import (
    EvaluationFailedEventDetails,
    ExecutionFailedEventDetails,
    HistoryEventType,
)
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import (
    CustomErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.error_name import ErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEvent,
    FailureEventException,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails

DATA_LIMIT = "States.DataLimitExceeded"
NO_CHOICE = "States.NoChoiceMatched"
QUERY = "States.QueryEvaluationError"
RUNTIME = "States.Runtime"
TIMEOUT = "States.Timeout"
HEARTBEAT = "States.HeartbeatTimeout"

TERMINAL = frozenset({DATA_LIMIT, RUNTIME})
"""Errors that end the execution whatever Retry and Catch say."""


def failure(
    env: Environment,
    error: str | None,
    cause: str | None,
    kind: HistoryEventType = HistoryEventType.ExecutionFailed,
) -> FailureEventException:
    """Return the exception that fails the state at work with `error` and `cause`."""
    details = ExecutionFailedEventDetails()
    if error is not None:
        details["error"] = error
    if cause is not None:
        details["cause"] = cause
    return FailureEventException(
        FailureEvent(
            env=env,
            error_name=named(error),
            event_type=kind,
            event_details=said(executionFailedEventDetails=details),
        )
    )


def evaluation_failed(env: Environment, field: str, cause: str) -> FailureEventException:
    """Return the exception for an expression that has no usable result."""
    details = EvaluationFailedEventDetails(
        error=QUERY, cause=cause, location=field, state=env.next_state_name or ""
    )
    return FailureEventException(
        FailureEvent(
            env=env,
            error_name=named(QUERY),
            event_type=HistoryEventType.EvaluationFailed,
            event_details=said(evaluationFailedEventDetails=details),
        )
    )


def said(**details: object) -> EventDetails:
    """Return an event's details; of the many that there are each event has one."""
    return cast("EventDetails", details)


def named(error: str | None) -> ErrorName | None:
    """Return an error's name as the interpreter compares it."""
    return None if error is None else CustomErrorName(error)
