"""Values too large for a row: objects in the deployment's bucket, below mandate and instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stellwerk.aws import keys
from stellwerk.aws.errors import translated
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Values:
    """Values in S3, encrypted by the bucket's default. Requests: 1 each.

    `client` is called when a value is first kept or read: most processes never do.
    """

    def __init__(self, client: Callable[[], S3Client], bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, scope: Scope, key: str, data: bytes) -> None:
        """Keep `data` under `key`."""
        with translated():
            self._client().put_object(Bucket=self._bucket, Key=keys.value(scope, key), Body=data)

    def get(self, scope: Scope, key: str) -> bytes:
        """Return what was kept under `key`; raises NotFound."""
        with translated():
            answer = self._client().get_object(Bucket=self._bucket, Key=keys.value(scope, key))
            return answer["Body"].read()
