from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from stellwerk.aws.executions import MAX_CAUSE, StepFunctionsExecutions
from stellwerk.aws.machines import StepFunctionsMachines
from stellwerk.kernel.errors import BadInput, NotFound, RateLimited
from stellwerk.kernel.ids import NodeKey
from stellwerk.runs.model import Failure
from tests.contracts.records import SCOPE, STRANGERS
from tests.fakes.clock import START

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

ROLE = "arn:aws:iam::123456789012:role/stellwerk-states"
DEFINITION = '{"StartAt":"a","States":{"a":{"Type":"Succeed"}}}'
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:m-one-x-v1-00000000"
EXECUTION = "arn:aws:states:us-east-1:123456789012:execution:m-one-x-v1-00000000:r-1-g1"


@pytest.fixture
def client() -> Iterator[SFNClient]:
    with mock_aws():
        yield boto3.Session("test", "test", region_name="us-east-1").client("stepfunctions")


@pytest.fixture
def machine(client: SFNClient) -> str:
    machines = StepFunctionsMachines(lambda: client, ROLE)
    return machines.create(SCOPE, "m-one-x-v1-00000000", DEFINITION)


@pytest.fixture
def executions(client: SFNClient) -> StepFunctionsExecutions:
    return StepFunctionsExecutions(lambda: client)


@pytest.fixture
def stubbed() -> Iterator[tuple[StepFunctionsExecutions, Stubber]]:
    client = boto3.Session("test", "test", region_name="us-east-1").client("stepfunctions")
    with Stubber(client) as stubber:
        yield StepFunctionsExecutions(lambda: client), stubber


def test_an_equal_machine_is_the_same(client: SFNClient, machine: str) -> None:
    again = StepFunctionsMachines(lambda: client, ROLE)
    assert again.create(SCOPE, "m-one-x-v1-00000000", DEFINITION) == machine == MACHINE
    described = client.describe_state_machine(stateMachineArn=machine)
    assert (described["definition"], described["roleArn"], described["type"]) == (
        DEFINITION,
        ROLE,
        "STANDARD",
    )


@pytest.mark.parametrize("name", ["", "m-one-" + "x" * 75])
def test_a_name_that_is_too_long_is_refused(client: SFNClient, name: str) -> None:
    with pytest.raises(BadInput, match="80"):
        StepFunctionsMachines(lambda: client, ROLE).create(SCOPE, name, DEFINITION)
    with pytest.raises(BadInput, match="80"):
        StepFunctionsExecutions(lambda: client).start(SCOPE, MACHINE, name, {})


def test_an_execution_gets_its_input(
    executions: StepFunctionsExecutions, client: SFNClient, machine: str
) -> None:
    arn = executions.start(SCOPE, machine, "r-1-g1", {"run": "ü"})
    assert arn == EXECUTION
    found = client.describe_execution(executionArn=arn)
    assert json.loads(found["input"]) == {"run": "ü"}
    assert executions.status(SCOPE, arn) == ("RUNNING", "", "")


def test_a_started_execution_is_not_started_again(
    executions: StepFunctionsExecutions, machine: str
) -> None:
    first = executions.start(SCOPE, machine, "r-1-g1", {"n": 1})
    assert executions.start(SCOPE, machine, "r-1-g1", {"n": 1}) == first
    executions.stop(SCOPE, first, cause="enough")
    assert executions.start(SCOPE, machine, "r-1-g1", {"n": 1}) == first


def test_a_name_taken_by_an_execution_that_is_over_counts_as_started(
    stubbed: tuple[StepFunctionsExecutions, Stubber],
) -> None:
    executions, stubber = stubbed
    stubber.add_client_error("start_execution", "ExecutionAlreadyExists")
    assert executions.start(SCOPE, MACHINE, "r-1-g1", {}) == EXECUTION


def test_stopping_tells_why_and_may_be_repeated(
    stubbed: tuple[StepFunctionsExecutions, Stubber],
) -> None:
    executions, stubber = stubbed
    for _ in range(2):  # Step Functions stops what is stopped once more, and says the same
        asked = {"executionArn": EXECUTION, "cause": "enough"}
        stubber.add_response("stop_execution", {"stopDate": START}, asked)
        executions.stop(SCOPE, EXECUTION, cause="enough")
    stubber.add_client_error("stop_execution", "ExecutionDoesNotExist")
    executions.stop(SCOPE, EXECUTION, cause="it is gone")
    stubber.assert_no_pending_responses()


def test_error_and_cause_are_told(stubbed: tuple[StepFunctionsExecutions, Stubber]) -> None:
    executions, stubber = stubbed
    stubber.add_response(
        "describe_execution",
        {
            "executionArn": EXECUTION,
            "stateMachineArn": MACHINE,
            "status": "FAILED",
            "startDate": 0,
            "error": "NotFound",
            "cause": "gone",
        },
    )
    assert executions.status(SCOPE, EXECUTION) == ("FAILED", "NotFound", "gone")


def test_an_unknown_execution_is_gone(executions: StepFunctionsExecutions, machine: str) -> None:
    assert executions.status(SCOPE, EXECUTION + "9") == ("GONE", "", "")


def test_an_answered_token_is_taken(stubbed: tuple[StepFunctionsExecutions, Stubber]) -> None:
    executions, stubber = stubbed
    stubber.add_response("send_task_success", {}, {"taskToken": "t", "output": '{"a":"ü"}'})
    assert executions.succeed(SCOPE, "t", {"a": "ü"})
    failure = Failure(type="NotFound", message="gone", node=NodeKey("n"), traceback="secret")
    cause = failure.model_dump_json(exclude={"traceback"})
    stubber.add_response(
        "send_task_failure", {}, {"taskToken": "t", "error": "NotFound", "cause": cause}
    )
    assert executions.fail(SCOPE, "t", failure)
    stubber.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["InvalidToken", "TaskTimedOut", "TaskDoesNotExist"])
def test_a_token_that_nobody_waits_for_is_not_taken(
    stubbed: tuple[StepFunctionsExecutions, Stubber], code: str
) -> None:
    executions, stubber = stubbed
    stubber.add_client_error("send_task_success", code)
    stubber.add_client_error("send_task_failure", code)
    assert not executions.succeed(SCOPE, "t", {})
    assert not executions.fail(SCOPE, "t", Failure(type="X", message="y"))


def test_other_errors_of_an_answer_are_errors(
    stubbed: tuple[StepFunctionsExecutions, Stubber],
) -> None:
    executions, stubber = stubbed
    stubber.add_client_error("send_task_success", "ThrottlingException")
    stubber.add_client_error("start_execution", "ThrottlingException")
    with pytest.raises(RateLimited):
        executions.succeed(SCOPE, "t", {})
    with pytest.raises(RateLimited):
        executions.start(SCOPE, MACHINE, "r-1-g1", {})


def test_a_long_failure_fits_into_a_cause_and_stays_json() -> None:
    client = boto3.Session("test", "test", region_name="us-east-1").client("stepfunctions")
    failure = Failure(type="X" * 400, message="\x00" * 100_000, remedy="\x00" * 100_000)
    sent: list[dict[str, str]] = []
    client.meta.events.register(
        "provide-client-params.sfn.SendTaskFailure", lambda params, **_: sent.append(dict(params))
    )
    with Stubber(client) as stubber:
        stubber.add_response("send_task_failure", {})
        assert StepFunctionsExecutions(lambda: client).fail(SCOPE, "t", failure)
    [request] = sent
    assert len(request["error"]) <= 256
    assert len(request["cause"]) <= MAX_CAUSE
    assert Failure.model_validate_json(request["cause"]).message.startswith("\x00")


def test_a_stranger_neither_starts_nor_stops_nor_sees(
    executions: StepFunctionsExecutions, client: SFNClient, machine: str
) -> None:
    stranger = STRANGERS[0]
    arn = executions.start(SCOPE, machine, "r-1-g1", {})
    with pytest.raises(NotFound):
        executions.start(stranger, machine, "r-2-g1", {})
    with pytest.raises(NotFound):
        executions.stop(stranger, arn, cause="mine now")
    assert executions.status(stranger, arn) == ("GONE", "", "")
    assert executions.status(SCOPE, arn)[0] == "RUNNING"
    with pytest.raises(NotFound):
        StepFunctionsMachines(lambda: client, ROLE).create(stranger, "m-one-y", DEFINITION)
