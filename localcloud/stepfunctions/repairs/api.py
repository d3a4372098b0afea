"""Answers of the Step Functions API."""

from __future__ import annotations

import json

from moto.core.responses import ActionResult, EmptyResult
from moto.stepfunctions.responses import StepFunctionResponse

from localcloud.patching import Mended
from localcloud.stepfunctions.backend import LocalStepFunctions

MENDED = Mended()


def _backend(response: StepFunctionResponse) -> LocalStepFunctions:
    backend = response.stepfunction_backend
    if isinstance(backend, LocalStepFunctions):
        return backend
    raise TypeError("the local cloud's Step Functions were not installed")


@MENDED.of(StepFunctionResponse, "create_state_machine")
def create_state_machine(self: StepFunctionResponse) -> ActionResult:
    """AWS refuses a second machine of the same name; moto answers with the first."""
    machine = _backend(self).create(
        self._get_param("name"),
        self._get_param("definition"),
        self._get_param("roleArn"),
        self._get_param("tags"),
    )
    return ActionResult({"creationDate": machine.creation_date, "stateMachineArn": machine.arn})


@MENDED.of(StepFunctionResponse, "start_execution")
def start_execution(self: StepFunctionResponse) -> ActionResult:
    """AWS invents a name if none is given; moto calls every such execution `None`."""
    execution = _backend(self).start(
        self._get_param("stateMachineArn"),
        self._get_param("name"),
        self._get_param("input", if_none="{}"),
    )
    return ActionResult(execution.started())


@MENDED.of(StepFunctionResponse, "describe_execution")
def describe_execution(self: StepFunctionResponse) -> ActionResult:
    """AWS answers with every end's date, error and cause, and the output as JSON text.

    moto leaves out a time-out's date, and the quotes of a text.
    """
    return ActionResult(_backend(self).execution(self._get_param("executionArn")).described())


@MENDED.of(StepFunctionResponse, "stop_execution")
def stop_execution(self: StepFunctionResponse) -> ActionResult:
    """AWS keeps the error and cause of a stop."""
    execution = _backend(self).stop(
        self._get_param("executionArn"),
        error=self._get_param("error"),
        cause=self._get_param("cause"),
    )
    return ActionResult({"stopDate": execution.stop_date})


@MENDED.of(StepFunctionResponse, "send_task_success")
def send_task_success(self: StepFunctionResponse) -> ActionResult:
    """AWS takes JSON only, and tells a spent token from one that never was."""
    _backend(self).succeed(self._get_param("taskToken"), self._get_param("output"))
    return EmptyResult()


@MENDED.of(StepFunctionResponse, "send_task_heartbeat")
def send_task_heartbeat(self: StepFunctionResponse) -> ActionResult:
    """AWS counts the time anew."""
    _backend(self).runtime.tokens.beat(self._get_param("taskToken"))
    return EmptyResult()


@MENDED.of(StepFunctionResponse, "send_task_failure")
def send_task_failure(self: StepFunctionResponse) -> ActionResult:
    """AWS keeps the cause; moto forgets it."""
    _backend(self).fail(
        self._get_param("taskToken"),
        error=self._get_param("error"),
        cause=self._get_param("cause"),
    )
    return EmptyResult()


@MENDED.of(StepFunctionResponse, "get_execution_history")
def get_execution_history(self: StepFunctionResponse) -> ActionResult:
    """AWS answers page by page, backwards if asked; moto ignores both."""
    page = _backend(self).history(
        self._get_param("executionArn"),
        reverse=str(self._get_param("reverseOrder")).lower() == "true",
        start=int(self._get_param("nextToken") or 0),
        size=int(self._get_param("maxResults") or 100),
    )
    return ActionResult(json.loads(json.dumps(page)))
