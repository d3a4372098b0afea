"""Errors: which of them Retry and Catch may handle."""

from __future__ import annotations

from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import (
    CustomErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.error_equals_decl import (
    ErrorEqualsDecl,
)
from moto.stepfunctions.parser.asl.component.common.error_name.error_name import ErrorName
from moto.stepfunctions.parser.asl.component.common.retry.max_attempts_decl import (
    MaxAttemptsOutcome,
)
from moto.stepfunctions.parser.asl.component.common.retry.retrier_decl import RetrierDecl
from moto.stepfunctions.parser.asl.component.common.retry.retrier_outcome import RetrierOutcome
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.program_state import ProgramRunning

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import of
from localcloud.stepfunctions.failures import TERMINAL, TIMEOUT

MENDED = Mended()

_ANY = "States.ALL"
_TASK = "States.TaskFailed"


@MENDED.of(ErrorEqualsDecl, "_eval_body")
def match(self: ErrorEqualsDecl, env: Environment) -> None:
    """AWS lets nothing match DataLimitExceeded and Runtime; TaskFailed is all but a timeout.

    moto lets States.ALL, and the error's own name, catch what AWS never lets go on.
    """
    error: ErrorName | None = env.stack.pop()
    names = {name.error_name for name in self.error_names}
    env.stack.append(_matches(names, error.error_name if error else None))


def _matches(names: set[str | None], error: str | None) -> bool:
    if error in TERMINAL:
        return False
    if _ANY in names or (_TASK in names and error != TIMEOUT):
        return True
    return error is not None and error in names


@MENDED.of(CustomErrorName, "__init__")
def keep_any_name(self: CustomErrorName, error_name: str | None) -> None:
    """AWS hands on `States.Timeout` of a branch, or in a Fail state's Error, like any other name.

    moto raises ValueError there, which turns the error into States.Runtime.
    """
    ErrorName.__init__(self, error_name)


@MENDED.of(RetrierDecl, "_eval_body")
def retry(self: RetrierDecl, env: Environment) -> None:
    """AWS waits before a retry, and a stopped execution does not wait to the end."""
    self.error_equals.eval(env)
    if not env.stack.pop():
        env.stack.append(RetrierOutcome.Skipped)
        return
    self.max_attempts.eval(env=env)
    if env.stack.pop() == MaxAttemptsOutcome.EXHAUSTED:
        env.stack.append(RetrierOutcome.Failed)
        return
    for part in (
        self.interval_seconds,
        self.backoff_rate,
        self.max_delay_seconds,
        self.jitter_strategy,
    ):
        part.eval(env=env)
    frame = of(env)
    frame.pause(env.stack.pop() * frame.runtime.retry_pace)
    env.stack.append(RetrierOutcome.Executed)


@MENDED.of(EvalComponent, "eval")
def evaluate_component(self: EvalComponent, env: Environment) -> None:
    """AWS writes no program into its logs when a state fails; moto prints all of it, each time."""
    state = env._program_state
    if isinstance(state, ProgramRunning):
        field = self._field_name()
        if field is not None:
            state._next_field_name = field
        self._eval_body(env)
