"""S3 on moto, with every object that a call has changed stored before the call returns."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from moto.s3.models import FakeKey, S3Backend, s3_backends
from moto.s3.responses import S3Response

from localcloud.lambdas import ACCOUNT
from localcloud.patching import Repair, applied
from localcloud.storage import Storage, StoredObject

_ON_KEY = S3Response._key_response
_ON_KEYS = S3Response._bucket_response_delete_keys
_CHANGED = "last-changed"
"""Beside the object's headers: when it was written."""


@contextmanager
def kept(storage: Storage) -> Iterator[None]:
    """Keep objects in `storage` while the block runs."""
    with applied(
        [
            Repair(S3Response, "_key_response", _keeping_one(storage)),
            Repair(S3Response, "_bucket_response_delete_keys", _keeping_all(storage)),
        ]
    ):
        yield


@contextmanager
def told(publish: Callable[[Mapping[str, object]], None]) -> Iterator[None]:
    """Hand EventBridge's detail of each object that is created to `publish`, in the block."""
    put = S3Backend.put_object

    def put_object(
        self: S3Backend, bucket_name: str, key_name: str, *given: Any, **named: Any
    ) -> Any:
        made = put(self, bucket_name, key_name, *given, **named)
        if not named.get("disable_notification"):
            publish(_created(bucket_name, made))
        return made

    with applied([Repair(S3Backend, "put_object", put_object)]):
        yield


def _created(bucket: str, key: FakeKey) -> Mapping[str, object]:
    return {
        "version": "0",
        "bucket": {"name": bucket},
        "object": {
            "key": key.name,
            "size": key.size,
            "etag": key.etag.strip('"'),
            # the bucket of the template has versions; this one forgets what was there before
            "version-id": uuid.uuid4().hex,
        },
        "reason": "PutObject",
    }


def load(storage: Storage) -> None:
    """Put the stored objects back into their buckets."""
    backend = _backend()
    for stored in storage.objects():
        key = backend.put_object(stored.bucket, stored.key, stored.body, disable_notification=True)
        about = dict(stored.about)
        key.last_modified = datetime.fromisoformat(about.pop(_CHANGED))
        key.set_metadata(about)


def _backend() -> S3Backend:
    return s3_backends[ACCOUNT]["aws"]


def _keeping_one(storage: Storage) -> Callable[..., Any]:
    def key_response(self: S3Response, request: Any, full_url: str) -> Any:
        answer = _ON_KEY(self, request, full_url)
        if request.method in {"PUT", "POST", "DELETE"}:
            _keep(storage, self.bucket_name, self.parse_key_name())
        return answer

    return key_response


def _keeping_all(storage: Storage) -> Callable[..., Any]:
    def delete_keys(self: S3Response, *arguments: Any) -> Any:
        answer = _ON_KEYS(self, *arguments)
        for key in storage.object_keys(self.bucket_name):
            if _backend().get_object(self.bucket_name, key) is None:
                storage.drop_object(self.bucket_name, key)
        return answer

    return delete_keys


def _keep(storage: Storage, bucket: str, name: str) -> None:
    key = _backend().get_object(bucket, name)
    if isinstance(key, FakeKey):
        about = {**key.metadata, _CHANGED: key.last_modified.isoformat()}
        storage.keep_object(StoredObject(bucket, name, key.value, about))
    else:
        storage.drop_object(bucket, name)
