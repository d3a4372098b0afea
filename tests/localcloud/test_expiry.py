"""Items whose moment is over go while the cloud is up."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from localcloud.cloud import LocalCloud
from localcloud.dynamodb.engine import Engine
from localcloud.expiry import Expiry
from localcloud.functions import Given

TABLE = "stellwerk-runs"


def put(cloud: LocalCloud, name: str, expires: int | None = None) -> None:
    more = {} if expires is None else {"expires": {"N": str(expires)}}
    item = {"pk": {"S": "a"}, "sk": {"S": name}, **more}
    cloud.clients.dynamodb.put_item(TableName=TABLE, Item=item)


def names(cloud: LocalCloud) -> list[str]:
    return [str(item["sk"]["S"]) for item in cloud.clients.dynamodb.scan(TableName=TABLE)["Items"]]


def test_what_is_over_goes_and_the_rest_stays(tmp_path: Path) -> None:
    with LocalCloud(tmp_path, functions=Given({})) as cloud:
        put(cloud, "for ever")
        put(cloud, "later", 2000)
        for number in range(60):
            put(cloud, f"over {number}", 999)
        expiry = Expiry(cloud.dynamodb, [TABLE], clock=lambda: 1000.0)
        assert expiry.look() == 60
        assert sorted(names(cloud)) == ["for ever", "later"]
        assert expiry.look() == 0


def test_it_looks_again_and_again_until_it_is_stopped(caplog: pytest.LogCaptureFixture) -> None:
    looks = threading.Semaphore(0)

    class Faulty(Engine):
        def __init__(self) -> None:
            """Have no tables."""

        def expire(self, name: str, attribute: str, now: float) -> int:
            looks.release()
            raise OSError("disk full")

    expiry = Expiry(Faulty(), [TABLE], pause=0.01)
    expiry.start()
    for _ in range(3):
        assert looks.acquire(timeout=10)
    expiry.stop()
    assert "could not be removed" in caplog.text
