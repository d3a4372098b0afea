"""The cloud as a whole: starting, stopping, being found, being killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from localcloud.clients import BotoClients
from localcloud.cloud import LocalCloud
from localcloud.discovery import FILE, DataInUse, find_running
from localcloud.functions import Given
from localcloud.server import PortInUse
from localcloud.storage import Storage, WrongLayout
from tests.localcloud.dynamodb.desk import DESCRIPTION
from tests.localcloud.machines import ROLE, Bench, Desk, machine, passing, token_task

ITEM: dict[str, Any] = {"pk": {"S": "a"}, "sk": {"S": "b"}, "v": {"B": b"\x00"}}
KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
TABLE = "stellwerk-runs"


def plain(data: Path | None = None, **more: Any) -> LocalCloud:
    return LocalCloud(data, functions=Given({}), **more)


def stored(cloud: LocalCloud) -> Any:
    return cloud.clients.dynamodb.get_item(TableName=TABLE, Key=KEY).get("Item")


def test_each_cloud_begins_empty() -> None:
    for _ in range(3):
        with plain() as cloud:
            assert stored(cloud) is None
            cloud.clients.dynamodb.put_item(TableName=TABLE, Item=ITEM)
            cloud.clients.s3.put_object(Bucket=cloud.settings.bucket, Key="k", Body=b"x")
            assert stored(cloud) == ITEM
            listed = cloud.clients.s3.list_objects_v2(Bucket=cloud.settings.bucket)
            assert listed["KeyCount"] == 1


def test_nothing_runs_on_after_a_stop(desk: Desk) -> None:
    before = set(threading.enumerate())
    with LocalCloud(functions=Given({"desk": desk}), port=0) as cloud:
        bench = Bench(cloud, {})
        wait = {"Type": "Wait", "Seconds": 86_400, "End": True}
        bench.start(machine({"ask": token_task("desk")}))
        bench.start(machine({"wait": wait}))
        desk.token()
    assert set(threading.enumerate()) <= before


def test_a_cloud_leaves_other_users_of_moto_alone() -> None:
    with plain() as outer:
        outer.clients.dynamodb.put_item(TableName=TABLE, Item=ITEM)
    elsewhere = BotoClients()
    with plain(), pytest.raises(ClientError):
        elsewhere.dynamodb.describe_table(TableName="t")


def test_what_was_acknowledged_is_there_after_a_stop(tmp_path: Path) -> None:
    with plain(tmp_path) as cloud:
        cloud.clients.dynamodb.put_item(TableName=TABLE, Item=ITEM)
        s3, bucket = cloud.clients.s3, cloud.settings.bucket
        s3.put_object(Bucket=bucket, Key="a/b", Body=b"body", Metadata={"m": "1"})
        s3.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/a/b")
        for key in ("gone", "gone2"):
            s3.put_object(Bucket=bucket, Key=key, Body=b"x")
        s3.delete_object(Bucket=bucket, Key="gone")
        s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "gone2"}]})
        arn = Bench(cloud, {}).create(machine({"a": passing(1)}))
    with plain(tmp_path) as cloud:
        assert stored(cloud) == ITEM
        found = cloud.clients.s3.get_object(Bucket=cloud.settings.bucket, Key="a/b")
        assert (found["Body"].read(), found["Metadata"]) == (b"body", {"m": "1"})
        listed = cloud.clients.s3.list_objects_v2(Bucket=cloud.settings.bucket)
        assert [one["Key"] for one in listed["Contents"]] == ["a/b", "copy"]
        cloud.clients.stepfunctions.start_execution(stateMachineArn=arn)
        cloud.clients.stepfunctions.delete_state_machine(stateMachineArn=arn)
    with plain(tmp_path) as cloud, pytest.raises(ClientError):
        cloud.clients.stepfunctions.start_execution(stateMachineArn=arn)


def test_items_whose_time_is_over_are_left_behind(tmp_path: Path) -> None:
    with plain(tmp_path) as cloud:
        old = {**ITEM, "expires": {"N": str(int(time.time()) - 1)}}
        cloud.clients.dynamodb.put_item(TableName=TABLE, Item=old)
    with plain(tmp_path) as cloud:
        assert stored(cloud) is None


KILLED = """
import os, signal, sys
from pathlib import Path
from localcloud.cloud import LocalCloud
from localcloud.functions import Given

cloud = LocalCloud(Path(sys.argv[1]), port=0, functions=Given({}))
cloud.start()
table = "stellwerk-runs"
for number in range(200):
    item = {"pk": {"S": "a"}, "sk": {"S": f"{number:03}"}}
    cloud.clients.dynamodb.put_item(TableName=table, Item=item)
parts = [{"Delete": {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"S": "000"}}}}]
cloud.clients.dynamodb.transact_write_items(TransactItems=parts)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_cloud_loses_nothing_it_acknowledged_and_is_not_found(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env=environment, check=False, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / FILE).exists()
    assert find_running(tmp_path) is None
    with plain(tmp_path, port=0) as cloud:
        answer = cloud.clients.dynamodb.query(
            TableName=TABLE,
            KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": {"S": "a"}},
        )
        assert [one["sk"]["S"] for one in answer["Items"]] == [f"{n:03}" for n in range(1, 200)]
        found = find_running(tmp_path)
        assert found is not None
        assert found.endpoint == cloud.endpoint


def test_open_executions_are_left_to_the_next_start(tmp_path: Path, desk: Desk) -> None:
    told: list[Any] = []
    functions = Given(
        {"desk": desk, "stellwerk-system-run_finished": lambda event, context: told.append(event)}
    )
    with LocalCloud(tmp_path, functions=functions) as cloud:
        Bench(cloud, {}).start(machine({"ask": token_task("desk")}))
        desk.token()
    assert not told
    continued: list[LocalCloud] = []
    with LocalCloud(tmp_path, functions=functions, on_start=continued.append) as cloud:
        assert continued == [cloud]


def test_a_failed_start_leaves_the_folder_free(tmp_path: Path) -> None:
    def fail(cloud: LocalCloud) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), plain(tmp_path, port=0, on_start=fail):
        pass
    assert find_running(tmp_path) is None
    with plain(tmp_path):
        pass


def test_two_clouds_on_one_folder_are_refused_with_a_remedy(tmp_path: Path) -> None:
    with plain(tmp_path, port=0) as cloud, pytest.raises(DataInUse) as caught, plain(tmp_path):
        pass
    assert str(os.getpid()) in str(caught.value)
    assert str(cloud.endpoint) in str(caught.value)
    assert "STELLWERK_DATA" in str(caught.value)


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with plain(port=0) as cloud:
        port = int(str(cloud.endpoint).rpartition(":")[2])
        with pytest.raises(PortInUse), plain(tmp_path, port=port):
            pass


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', "null"])
def test_a_damaged_file_finds_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert find_running(tmp_path) is None


def test_a_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage._db.execute("pragma user_version=99")
    storage.close()
    with pytest.raises(WrongLayout):
        Storage(tmp_path)


def test_other_processes_reach_the_same_data_over_http() -> None:
    with plain(port=0) as cloud:
        other = BotoClients(cloud.endpoint)
        other.dynamodb.put_item(TableName=TABLE, Item=ITEM)
        assert stored(cloud) == ITEM
        with pytest.raises(other.dynamodb.exceptions.ConditionalCheckFailedException) as caught:
            other.dynamodb.put_item(
                TableName=TABLE,
                Item=ITEM,
                ConditionExpression="attribute_not_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        assert caught.value.response["Item"] == ITEM  # type: ignore[typeddict-item]
        other.s3.put_object(Bucket=cloud.settings.bucket, Key="k", Body=b"x")
        found = cloud.clients.s3.get_object(Bucket=cloud.settings.bucket, Key="k")
        assert found["Body"].read() == b"x"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/moto-api/reset", {}),
        ("/", {"Origin": "http://evil.example"}),
        ("/", {"Host": "rebound.example"}),
    ],
)
def test_web_pages_and_moto_s_own_api_are_refused(path: str, headers: dict[str, str]) -> None:
    with plain(port=0) as cloud:
        cloud.clients.dynamodb.put_item(TableName=TABLE, Item=ITEM)
        request = urllib.request.Request(
            f"{cloud.endpoint}{path}", data=b"", headers=headers, method="POST"
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=5)
        caught.value.close()
        assert caught.value.code == 403
        assert stored(cloud) == ITEM


def test_tables_can_be_made_and_dropped_and_what_would_see_moto_s_own_is_refused() -> None:
    with plain() as cloud:
        client = BotoClients().dynamodb
        client.create_table(**DESCRIPTION)
        client.put_item(TableName="t", Item={"pk": {"S": "a"}, "sk": {"N": "1"}})
        assert cloud.dynamodb.tables.get("t").items
        with pytest.raises(ClientError):
            client.execute_statement(Statement="SELECT * FROM t")
        client.delete_table(TableName="t")
        with pytest.raises(ClientError):
            client.scan(TableName="t")


def test_both_kinds_of_client_answer_alike(bench: Bench, desk: Desk) -> None:
    direct, boto = bench.cloud.clients, BotoClients()
    arn = bench.create(machine({"ask": token_task("desk")}))
    started = boto.stepfunctions.start_execution(stateMachineArn=arn, name="x", input="{}")
    again = direct.stepfunctions.start_execution(stateMachineArn=arn, name="x", input="{}")
    assert started["executionArn"] == again["executionArn"]
    boto.stepfunctions.send_task_heartbeat(taskToken=desk.token())
    boto.stepfunctions.send_task_failure(taskToken=desk.token(), error="E", cause="C")
    bench.end(started["executionArn"])
    answers = []
    for client in (direct.stepfunctions, boto.stepfunctions):
        answer: dict[str, Any] = {**client.describe_execution(executionArn=started["executionArn"])}
        answer.pop("ResponseMetadata")
        answers.append({**answer, "startDate": None, "stopDate": None})
        with pytest.raises(client.exceptions.TaskTimedOut):
            client.send_task_success(taskToken=desk.token(), output="{}")
        with pytest.raises(client.exceptions.StateMachineAlreadyExists):
            client.create_state_machine(
                name=arn.rpartition(":")[2],
                definition='{"StartAt":"a","States":{"a":{"Type":"Succeed"}}}',
                roleArn=ROLE,
            )
        assert client.stop_execution(executionArn=started["executionArn"])["stopDate"]
    assert answers[0] == answers[1]


def test_an_answer_is_a_copy_of_what_is_stored() -> None:
    with plain() as cloud:
        mine: dict[str, Any] = {"pk": {"S": "a"}, "sk": {"S": "b"}, "m": {"M": {"x": {"S": "1"}}}}
        cloud.clients.dynamodb.put_item(TableName=TABLE, Item=mine)
        mine["m"]["M"]["x"]["S"] = "changed"
        cloud.clients.dynamodb.get_item(TableName=TABLE, Key=KEY)["Item"]["m"]["M"].clear()  # type: ignore[attr-defined]
        assert stored(cloud)["m"] == {"M": {"x": {"S": "1"}}}
