"""Others who use moto beside a running cloud."""

from __future__ import annotations

import boto3
from moto import mock_aws

from localcloud.cloud import LocalCloud

MACHINE = """{"StartAt": "a", "QueryLanguage": "JSONata", "States": {"a": {"Type": "Succeed"}}}"""


def test_an_execution_in_another_region_is_recorded_and_does_not_run() -> None:
    with LocalCloud(), mock_aws():
        other = boto3.Session("x", "x", region_name="us-west-2").client("stepfunctions")
        made = other.create_state_machine(
            name="m", definition=MACHINE, roleArn="arn:aws:iam::123456789012:role/states"
        )
        started = other.start_execution(stateMachineArn=made["stateMachineArn"], name="e")
        found = other.describe_execution(executionArn=started["executionArn"])
        assert found["status"] == "RUNNING"
