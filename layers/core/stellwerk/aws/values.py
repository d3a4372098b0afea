"""Values too large for a row: objects in the deployment's bucket, below mandate and instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stellwerk.aws import keys
from stellwerk.aws.errors import translated
from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Values:
    """Values in S3, encrypted by the bucket's default. Requests: 1 each.

    `client` is called with the mandate when a value is kept or read: most processes never do.
    """

    def __init__(self, client: Callable[[MandateId], S3Client], bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, scope: Scope, key: str, data: bytes) -> None:
        """Keep `data` under `key`."""
        with translated():
            client = self._client(scope.mandate)
            client.put_object(Bucket=self._bucket, Key=keys.value(scope, key), Body=data)

    def get(self, scope: Scope, key: str) -> bytes:
        """Return what was kept under `key`; raises NotFound.

        S3 calls forbidden what is missing where a role may not list the bucket, as ours may not:
        that would tell one mandate the names of another's objects.
        """
        try:
            with translated():
                client = self._client(scope.mandate)
                answer = client.get_object(Bucket=self._bucket, Key=keys.value(scope, key))
                return answer["Body"].read()
        except Forbidden as error:
            raise NotFound(f"there is no value '{key}', or not for this mandate") from error
