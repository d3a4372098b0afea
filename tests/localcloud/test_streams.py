"""The stream of a table: what fits goes to its readers in order, again where they fail."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from localcloud import streams
from localcloud.cloud import LocalCloud
from localcloud.functions import Given
from localcloud.streams import fits
from localcloud.template import FILE, Template

TABLE = "stellwerk-runs"
STEPS = {"dynamodb": {"Keys": {"sk": {"S": ["run", {"prefix": "step#"}]}}}}


class Reader:
    """Takes batches down, and fails as often as it is told to."""

    def __init__(self, *, failures: int = 0, refused: int = 0) -> None:
        self.names: list[str] = []
        self.batches: list[list[dict[str, Any]]] = []
        self._failures = failures
        self._refused = refused
        self._came = threading.Condition()

    def __call__(self, event: Any, context: Any) -> Any:
        records = event["Records"]
        if self._failures:
            self._failures -= 1
            raise ConnectionError("not now")
        with self._came:
            self.batches.append(records)
            if self._refused:
                self._refused -= 1
                self.names += [name(each) for each in records[:1]]
                return {"batchItemFailures": [{"itemIdentifier": sequence(records[1])}]}
            self.names += [name(each) for each in records]
            self._came.notify_all()
        return None

    def wait(self, number: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: len(self.names) >= number, timeout=10)


def name(record: dict[str, Any]) -> str:
    return f"{record['eventName']} {record['dynamodb']['Keys']['sk']['S']}"


def sequence(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def put(cloud: LocalCloud, *places: str, table: str = TABLE) -> None:
    for place in places:
        item = {"pk": {"S": "a"}, "sk": {"S": place}, "n": {"N": "1"}}
        cloud.clients.dynamodb.put_item(TableName=table, Item=item)


def cloud_with(reader: Reader) -> LocalCloud:
    return LocalCloud(functions=Given({"reader": reader}, streams={"reader": [STEPS]}))


def test_a_reader_gets_what_it_wants_in_order() -> None:
    reader = Reader()
    with cloud_with(reader) as cloud:
        put(cloud, "run", "step##a", "task#1", "step##b", "step##a")
        put(cloud, "step##c", table="stellwerk-platform")
        key = {"pk": {"S": "a"}, "sk": {"S": "step##b"}}
        cloud.clients.dynamodb.delete_item(TableName=TABLE, Key=key)
        reader.wait(4)
    assert reader.names == [
        "INSERT run",
        "INSERT step##a",
        "INSERT step##b",
        "MODIFY step##a",
    ]
    numbers = [int(sequence(record)) for batch in reader.batches for record in batch]
    assert numbers == sorted(set(numbers))


def test_many_writes_make_few_calls() -> None:
    reader = Reader()
    with cloud_with(reader) as cloud:
        put(cloud, *(f"step##{number:03}" for number in range(250)))
        reader.wait(250)
    assert max(len(batch) for batch in reader.batches) <= streams.BATCH
    assert len(reader.batches) < 50


def test_a_batch_that_fails_comes_again() -> None:
    reader = Reader(failures=2)
    with cloud_with(reader) as cloud:
        put(cloud, "step##a", "step##b")
        reader.wait(2)
    assert reader.names == ["INSERT step##a", "INSERT step##b"]


def test_what_is_named_as_failed_comes_again_with_what_follows() -> None:
    reader = Reader(refused=1)
    with cloud_with(reader) as cloud:
        parts: Any = [
            {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "a"}, "sk": {"S": f"step##{key}"}}}}
            for key in "abc"
        ]
        cloud.clients.dynamodb.transact_write_items(TransactItems=parts)
        reader.wait(3)
    assert reader.names == [f"INSERT step##{key}" for key in "abc"]
    assert [len(batch) for batch in reader.batches] == [3, 2]


def test_what_is_never_taken_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reader(failures=10_000)
    with cloud_with(reader) as cloud:
        put(cloud, "step##a")
    assert "did not take 1 changes" in caplog.text
    assert not reader.names


def test_what_was_written_before_a_stop_is_still_read() -> None:
    before, reader = set(threading.enumerate()), Reader()
    with cloud_with(reader) as cloud:
        put(cloud, "step##a")
    assert reader.names == ["INSERT step##a"]
    assert set(threading.enumerate()) <= before


def test_a_pattern_fits_by_every_place() -> None:
    record = {"eventName": "INSERT", "dynamodb": {"Keys": {"sk": {"S": "step##a"}}}}
    assert fits({}, record)
    assert fits({"eventName": ["INSERT", "MODIFY"]}, record)
    assert not fits({"eventName": ["REMOVE"]}, record)
    assert fits(STEPS, record)
    assert not fits({"dynamodb": {"NewImage": {"n": {"N": ["1"]}}}}, record)
    assert not fits({"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "a"}]}}}}, record)


def test_the_template_says_who_reads_the_stream() -> None:
    readers = Template(FILE).streams
    assert readers["stellwerk-system-run_events"] == (
        {
            "eventName": ["INSERT", "MODIFY"],
            "dynamodb": {"Keys": {"sk": {"S": ["run", {"prefix": "step#"}]}}},
        },
    )
