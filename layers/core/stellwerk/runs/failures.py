"""Errors as the journal keeps them, and back: the class name is the retry contract."""

from __future__ import annotations

import traceback

from stellwerk.kernel import errors
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import Failure, Step, StepKey

_TRACE_LIMIT = 4000
_KNOWN = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.StellwerkError)
}


def failure_of(error: Exception, key: StepKey) -> Failure:
    """Return `error`, which ended an attempt of the step `key`, as the journal keeps it."""
    known = isinstance(error, errors.StellwerkError)
    return Failure(
        type=type(error).__name__,
        message=str(error) or type(error).__name__,
        remedy=error.remedy if isinstance(error, errors.StellwerkError) else "",
        node=key.node,
        path=key.path,
        uncertain=isinstance(error, errors.EffectUncertain),
        traceback="" if known and error.__cause__ is None else _trace(error),
    )


def error_of(failure: Failure) -> Exception:
    """Return an error with the class name, message and remedy of `failure`."""
    kind: type[errors.StellwerkError] = _KNOWN.get(failure.type) or type(
        failure.type, (errors.PermanentError,), {}
    )
    return kind(failure.message, remedy=failure.remedy)


def reported(failure: Failure) -> JsonObject:
    """Return a failure as expressions see it: on `error` ports, and among a loop's errors."""
    return {
        "error": {
            "type": failure.type,
            "message": failure.message,
            "node": failure.node,
            "uncertain": failure.uncertain,
        }
    }


def last_failure(step: Step) -> Failure:
    """Return what ended the step's last attempt."""
    error = step.attempts[-1].error if step.attempts else None
    return error or Failure(
        type="PermanentError", message="The step failed.", node=step.node, path=step.path
    )


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))[-_TRACE_LIMIT:]
