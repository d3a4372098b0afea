"""The engine and moto's own tables, asked the same, answer the same.

Where moto differs from AWS it is spared: it takes any type for an index's key, leaves an empty item
behind when an update of an item that is not there is refused, and writes 2.5 + 2.5 as 5.0.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from moto import mock_aws

from tests.localcloud.dynamodb.desk import DESCRIPTION, NAME, Tried, engine, key

VALUES = st.sampled_from(
    [{"S": "x"}, {"S": "xy"}, {"S": "G"}, {"N": "1"}, {"N": "2"}, {"BOOL": True}]
)
NAMES = st.sampled_from(["v", "w"])
KEYS = st.builds(key, st.sampled_from(["a", "b"]), st.integers(0, 3))
TERMS = st.sampled_from(
    [
        "attribute_exists(#n)",
        "attribute_not_exists(#n)",
        "#n = :v",
        "#n <> :v",
        "#n < :v",
        "#n >= :v",
        "#n IN (:v)",
        "begins_with(#n, :v)",
        "NOT #n = :v",
        "attribute_exists(#n) AND #n = :v",
        "attribute_not_exists(#n) OR #n > :v",
    ]
)
UPDATES = st.sampled_from(
    ["SET #n = :v", "REMOVE #n", "ADD #n :v", "SET #n = if_not_exists(#n, :v)", "SET #n = #n + :v"]
)


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    operation = draw(st.sampled_from(["put_item", "update_item", "delete_item", "get_item"]))
    where = draw(KEYS)
    if operation == "get_item":
        return operation, {"Key": where}
    request: dict[str, Any] = {"Key": where}
    if operation == "put_item":
        more = draw(st.dictionaries(NAMES, VALUES, max_size=2))
        request = {"Item": {**where, **more}}
    if operation == "update_item":
        request["UpdateExpression"] = draw(UPDATES)
    if draw(st.booleans()):
        request["ConditionExpression"] = draw(TERMS)
    said = " ".join(value for value in request.values() if isinstance(value, str))
    if "#n" in said:
        request["ExpressionAttributeNames"] = {"#n": draw(NAMES)}
    if ":v" in said:
        request["ExpressionAttributeValues"] = {":v": draw(VALUES)}
    return operation, request


@pytest.fixture(scope="module")
def moto() -> Iterator[Any]:
    with mock_aws():
        client = boto3.Session("x", "x", region_name="us-west-2").client("dynamodb")
        client.create_table(**DESCRIPTION)
        yield client


def asked(client: Any, operation: str, request: dict[str, Any]) -> Any:
    try:
        answer = getattr(client, operation)(TableName=NAME, **request)
    except ClientError as error:
        return error.response["Error"]["Code"]
    except TypeError:  # moto cannot compare values of different types, DynamoDB finds them unequal
        reject()
    answer.pop("ResponseMetadata")
    answer.pop("ConsumedCapacity", None)
    return answer


def everything(client: Any) -> list[dict[str, Any]]:
    return sorted(client.scan(TableName=NAME)["Items"], key=str)


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck), deadline=None)
@given(plan=st.lists(requests(), max_size=8))
def test_the_same_requests_have_the_same_effect(
    moto: Any, plan: list[tuple[str, dict[str, Any]]]
) -> None:
    for left in everything(moto):
        moto.delete_item(TableName=NAME, Key={"pk": left["pk"], "sk": left["sk"]})
    mine = Tried(engine())
    for operation, request in plan:
        name = "".join(word.title() for word in operation.split("_"))
        answer = mine(name, **copy.deepcopy(request))
        assert answer == asked(moto, operation, request), request
        if answer == "ValidationException" and not mine("GetItem", Key=request["Key"]):
            moto.delete_item(TableName=NAME, Key=request["Key"])
    assert sorted(mine("Scan")["Items"], key=str) == everything(moto)
