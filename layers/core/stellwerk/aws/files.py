"""Files on the table `platform`, their contents in the bucket below mandate and instance.

A file never changes, so each list has its record whole: a page is one request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stellwerk.aws import keys, listing
from stellwerk.aws.errors import Refused, translated
from stellwerk.aws.expressions import Delete, Item, Put, absent, present
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.files.model import File, FileId
from stellwerk.kernel.errors import Conflict, Forbidden, NotFound
from stellwerk.kernel.ids import MandateId, UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class DynamoFiles:
    """Files. Requests: add and remove 2, else 1 each."""

    def __init__(self, items: Items, client: Callable[[MandateId], S3Client], bucket: str) -> None:
        self._items = items
        self._client = client
        self._bucket = bucket

    def add(self, scope: Scope, file: File, content: bytes) -> File:
        """Keep a new file, its content first; raises Conflict where there is one of that id."""
        with translated():
            self._client(scope.mandate).put_object(
                Bucket=self._bucket, Key=_object(scope, file), Body=content, ContentType=file.type
            )
        kept = file.model_copy(update={"revision": 1})
        item: Item = {"body": kept.model_dump_json()}
        own, *listed = _places(scope, file)
        puts = [Put(own, item, when=(absent(),)), *(Put(place, item) for place in listed)]
        try:
            self._items.transact(puts)
        except Refused as refused:
            raise Conflict(f"there is a file {file.id} already") from refused
        return kept

    def get(self, scope: Scope, file: FileId) -> File:
        """Return what is known of a file; raises NotFound."""
        item = self._items.get(keys.file(scope, file))
        if item is None:
            raise _missing(file)
        return _record(item)

    def content(self, scope: Scope, file: File) -> bytes:
        """Return a file's content; raises NotFound, as what is missing is forbidden by S3."""
        try:
            with translated():
                answer = self._client(scope.mandate).get_object(
                    Bucket=self._bucket, Key=_object(scope, file)
                )
                return answer["Body"].read()
        except Forbidden as error:
            raise _missing(file.id) from error

    def list(
        self, scope: Scope, *, created_by: UserId | None, cursor: str | None, limit: int
    ) -> Page[File]:
        """Return a page of files, the newest first."""
        wanted = Range(keys.files(scope, created_by), newest_first=True)
        found = listing.entries(self._items, wanted, cursor=cursor, limit=limit)
        return Page([_record(item) for item in found.items], found.cursor)

    def remove(self, scope: Scope, file: File) -> None:
        """Remove a file, then its content; nothing if it is gone already."""
        own, *listed = _places(scope, file)
        try:
            self._items.transact([Delete(own, when=(present(),)), *map(Delete, listed)])
        except Refused:
            return
        with translated():
            self._client(scope.mandate).delete_object(Bucket=self._bucket, Key=_object(scope, file))


def _places(scope: Scope, file: File) -> tuple[Key, ...]:
    """Return the keys of a file and of its entries in both lists."""
    at = keys.listed_at(file.created, file.id)
    everybodys, own = keys.files(scope, None), keys.files(scope, file.created_by)
    return keys.file(scope, file.id), Key(everybodys, at), Key(own, at)


def _missing(file: FileId) -> NotFound:
    return NotFound(f"there is no file {file}", remedy="Look at the list of files.")


def _object(scope: Scope, file: File) -> str:
    return keys.value(scope, f"files/{file.id}")


def _record(item: Item) -> File:
    return File.model_validate_json(str(item["body"]))
