"""Executions of state machines, and the tokens that their waiting tasks gave away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stellwerk.aws.errors import code_of, translated
from stellwerk.aws.names import check_name, check_owner, execution_arn, machine_of
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.runs.model import Failure
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

GONE = "GONE"
MAX_ERROR = 256
MAX_CAUSE = 32_768
MAX_TEXT = 2_500
"""Characters of message and remedy: even if JSON writes each as six, both fit into a cause."""
_TOKEN_IS_DEAD = {"InvalidToken", "TaskDoesNotExist", "TaskTimedOut"}


class StepFunctionsExecutions:
    """Executions in Step Functions. Requests: 1 each.

    A machine's name begins with its mandate: one of another mandate is not found. Task tokens are
    secrets that name their task by themselves.
    """

    def __init__(self, client: Callable[[], SFNClient]) -> None:
        self._client = client

    def start(self, scope: Scope, machine: str, name: str, data: JsonObject) -> str:
        """Start an execution and return its ARN; the same name again is the one that exists."""
        check_name(name)
        check_owner(scope, machine_of(machine))
        with translated():
            try:
                answer = self._client().start_execution(
                    stateMachineArn=machine, name=name, input=dumps(data)
                )
            except ClientError as error:
                if code_of(error) == "ExecutionAlreadyExists":
                    return execution_arn(machine, name)
                raise
        return answer["executionArn"]

    def stop(self, scope: Scope, execution: str, *, cause: str) -> None:
        """Stop an execution; one that is over or gone stays as it is."""
        check_owner(scope, machine_of(execution))
        try:
            with translated():
                self._client().stop_execution(executionArn=execution, cause=cause[:MAX_CAUSE])
        except NotFound:
            return

    def status(self, scope: Scope, execution: str) -> tuple[str, str, str]:
        """Return status, error and cause; `GONE` for what nobody knows any more."""
        try:
            check_owner(scope, machine_of(execution))
            with translated():
                found = self._client().describe_execution(executionArn=execution)
        except NotFound:
            return GONE, "", ""
        return found["status"], found.get("error", ""), found.get("cause", "")

    def succeed(self, scope: Scope, token: str, data: JsonValue) -> bool:
        """Answer a task token; False if nothing waits for it any more."""
        return _answered(
            lambda: self._client().send_task_success(taskToken=token, output=dumps(data))
        )

    def fail(self, scope: Scope, token: str, failure: Failure) -> bool:
        """Answer a task token with an error; the cause is the failure as JSON, long texts cut."""
        texts = {"message": failure.message[:MAX_TEXT], "remedy": failure.remedy[:MAX_TEXT]}
        cause = failure.model_copy(update=texts).model_dump_json(exclude={"traceback"})
        error = failure.type[:MAX_ERROR]
        return _answered(
            lambda: self._client().send_task_failure(taskToken=token, error=error, cause=cause)
        )


def _answered(call: Callable[[], object]) -> bool:
    with translated():
        try:
            call()
        except ClientError as error:
            if code_of(error) in _TOKEN_IS_DEAD:
                return False
            raise
    return True
