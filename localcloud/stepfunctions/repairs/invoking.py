"""Tasks: Lambdas called in this process, and tokens waited for."""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

from botocore.exceptions import ClientError
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.credentials import (
    StateCredentials,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.lambda_eval_utils import (
    LambdaFunctionErrorException,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.resource import (
    ResourceCondition,
    ResourceRuntimePart,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service import (  # noqa: E501
    StateTaskService,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_callback import (  # noqa: E501
    StateTaskServiceCallback,
)
from moto.stepfunctions.parser.asl.component.state.state import CommonStateField
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackOutcomeFailure,
    CallbackOutcomeFailureError,
    CallbackTimeoutError,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.states import TaskData

from localcloud.functions import FunctionNotFound
from localcloud.lambdas import PayloadTooLarge
from localcloud.patching import Mended
from localcloud.stepfunctions.environment import RunEnvironment, of
from localcloud.stepfunctions.failures import HEARTBEAT, failure
from localcloud.stepfunctions.tokens import Failure, Pending, Success

MENDED = Mended()

_wait_for_others = StateTaskServiceCallback._eval_integration_pattern
_run_task = StateTaskService._eval_execution


@MENDED.of(lambda_eval_utils, "execute_lambda_function_integration")
def invoke(
    env: Environment, parameters: dict[str, Any], region: str, state_credentials: StateCredentials
) -> None:
    """AWS calls the function and fails the Task with the class name of what it raised.

    A Task that is over its time, or stopped, leaves the function running. moto starts docker.
    """
    payload = _call(of(env), parameters["FunctionName"], parameters.get("Payload") or b"{}")
    env.stack.append({"ExecutedVersion": "$LATEST", "Payload": payload, "StatusCode": 200})


def _call(frame: RunEnvironment, name: str, payload: bytes) -> object:
    try:
        call = frame.runtime.lambdas.start(name, payload)
    except FunctionNotFound as error:
        _refuse("ResourceNotFoundException", f"Function not found: {name}", 404, error)
    except PayloadTooLarge as error:
        _refuse("RequestTooLargeException", str(error), 413, error)
    left, own = frame.remaining(), call.function.timeout
    in_time = frame.wait(call.done, _least(left, own))
    if not in_time and left is not None and left <= own:
        raise CallbackTimeoutError
    result = call.outcome()
    if result.failed:
        raise LambdaFunctionErrorException("Unhandled", result.payload)
    return json.loads(result.payload)


def _refuse(code: str, message: str, status: int, error: Exception) -> NoReturn:
    response: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status, "RequestId": "local"},
    }
    raise ClientError(response, "Invoke") from error


@MENDED.of(StateTaskServiceCallback, "_eval_body")
def pass_task(self: StateTaskServiceCallback, env: Environment) -> None:
    """AWS shows a token only to the Task that waits for it; moto makes one for every Task."""
    CommonStateField._eval_body(self, env)


@MENDED.of(StateTaskServiceCallback, "_eval_execution")
def run_attempt(self: StateTaskServiceCallback, env: Environment) -> None:
    """AWS makes a new token for each attempt of a Task that waits for one."""
    context = cast("dict[str, Any]", env.states.context_object.context_object_data)
    if self.resource.condition != ResourceCondition.WaitForTaskToken:
        _run_task(self, env)
        return
    context["Task"] = TaskData(Token=of(env).take_token())
    try:
        _run_task(self, env)
    finally:
        context.pop("Task", None)


@MENDED.of(StateTaskServiceCallback, "_eval_integration_pattern")
def wait_for_answer(
    self: StateTaskServiceCallback,
    env: Environment,
    resource_runtime_part: ResourceRuntimePart,
    normalised_parameters: dict[str, Any],
    state_credentials: StateCredentials,
) -> None:
    """AWS keeps a Task waiting until its token is answered, its time is over or it is stopped."""
    if self.resource.condition != ResourceCondition.WaitForTaskToken:
        _wait_for_others(self, env, resource_runtime_part, normalised_parameters, state_credentials)
        return
    frame = of(env)
    env.stack.pop()
    pending = frame.pending
    if pending is None:
        raise RuntimeError("a Task waits for a token that it was not given")
    answer = _answer(frame, pending, _heartbeat(self, env))
    if isinstance(answer, Failure):
        raise CallbackOutcomeFailureError(
            CallbackOutcomeFailure(pending.token, answer.error, answer.cause)
        )
    env.stack.append(json.loads(answer.output))


def _heartbeat(state: StateTaskServiceCallback, env: Environment) -> float | None:
    if state.heartbeat is None:
        return None
    state.heartbeat.eval(env=env)
    return float(env.stack.pop())


def _answer(frame: RunEnvironment, pending: Pending, beat: float | None) -> Success | Failure:
    """Wait; an answer that was accepted counts even if time ran out at the same moment."""
    while not frame.wait(pending.answered, _least(frame.remaining(), beat)):
        if beat is not None and pending.beaten.is_set():
            pending.beaten.clear()
            continue
        frame.runtime.tokens.withdraw(pending)
        if pending.outcome is None:
            raise _too_late(frame, beat)
        break
    if pending.outcome is None:
        raise CallbackTimeoutError
    return pending.outcome


def _least(left: float | None, beat: float | None) -> float | None:
    known = [seconds for seconds in (left, beat) if seconds is not None]
    return min(known) if known else None


def _too_late(frame: RunEnvironment, beat: float | None) -> Exception:
    left = frame.remaining()
    if beat is None or (left is not None and left <= 0):
        return CallbackTimeoutError()
    return failure(frame, HEARTBEAT, "The Task sent no heartbeat in time.")
