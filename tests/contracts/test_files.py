from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest
from botocore.exceptions import ClientError

from stellwerk.aws.files import DynamoFiles
from stellwerk.files.model import File, FileId
from stellwerk.files.ports import Files
from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import UserId
from tests.aws.scripted import refusal
from tests.contracts.records import SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.fakes.files import FakeFiles

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef


class Unlisted:
    """S3 as a role meets it that may not list the bucket: what is missing is forbidden."""

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self.put_object, self.delete_object = client.put_object, client.delete_object

    def get_object(self, *, Bucket: str, Key: str) -> GetObjectOutputTypeDef:
        try:
            return self._client.get_object(Bucket=Bucket, Key=Key)
        except ClientError as error:
            raise refusal("AccessDenied", status=403) from error


@pytest.fixture(params=["fake", "moto", "unlisted"])
def files(request: pytest.FixtureRequest) -> Iterator[Files]:
    if request.param == "fake":
        yield FakeFiles()
        return
    moto: Moto = request.getfixturevalue("moto")
    unlisted = cast("S3Client", Unlisted(moto.s3))
    client = unlisted if request.param == "unlisted" else moto.s3
    yield DynamoFiles(moto.platform(), lambda _: client, moto.bucket())


def file(number: int, user: str = "u-anna") -> File:
    return File(
        id=FileId(f"f-{number}"),
        name=f"{number}.txt",
        type="text/plain",
        size=2,
        sha256="ab",
        created_by=UserId(user),
        created=START + timedelta(seconds=number),
    )


def test_a_file_is_what_was_added(files: Files) -> None:
    added = files.add(SCOPE, file(1), b"\x00\xff")
    assert added == file(1).model_copy(update={"revision": 1})
    assert files.get(SCOPE, added.id) == added
    assert files.content(SCOPE, added) == b"\x00\xff"


def test_an_id_is_taken_once(files: Files) -> None:
    files.add(SCOPE, file(1), b"a")
    with pytest.raises(Conflict):
        files.add(SCOPE, file(1), b"b")


def test_files_are_listed_the_newest_first_all_or_those_of_a_user(files: Files) -> None:
    for number in range(5):
        files.add(SCOPE, file(number, "u-anna" if number % 2 else "u-ben"), b"")
    first = files.list(SCOPE, created_by=None, cursor=None, limit=3)
    rest = files.list(SCOPE, created_by=None, cursor=first.cursor, limit=3)
    assert [found.id for found in (*first.items, *rest.items)] == [
        f"f-{n}" for n in range(4, -1, -1)
    ]
    assert rest.cursor is None
    annas = files.list(SCOPE, created_by=UserId("u-anna"), cursor=None, limit=3)
    assert [found.id for found in annas.items] == ["f-3", "f-1"]
    with pytest.raises(BadInput, match="cursor"):
        files.list(SCOPE, created_by=None, cursor="nonsense", limit=3)


def test_what_is_removed_is_in_no_list(files: Files) -> None:
    added = files.add(SCOPE, file(1), b"")
    files.remove(SCOPE, added)
    files.remove(SCOPE, added)
    with pytest.raises(NotFound):
        files.get(SCOPE, added.id)
    for user in (None, UserId("u-anna")):
        assert files.list(SCOPE, created_by=user, cursor=None, limit=3).items == []


def test_a_stranger_finds_and_changes_nothing(files: Files) -> None:
    added = files.add(SCOPE, file(1), b"mine")
    for stranger in STRANGERS:
        with pytest.raises(NotFound):
            files.get(stranger, added.id)
        with pytest.raises(NotFound):
            files.content(stranger, added)
        assert files.list(stranger, created_by=None, cursor=None, limit=3).items == []
        files.remove(stranger, added)
        files.add(stranger, file(1), b"theirs")
    assert files.content(SCOPE, added) == b"mine"
