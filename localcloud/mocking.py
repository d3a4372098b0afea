"""moto switched on for one cloud: boto3's calls answered here, by backends that begin empty.

moto's own `mock_aws` also watches over all HTTP of the process and forgets everybody's data at its
end. A cloud takes only what is its own: its account in its region, and the buckets it creates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.config import default_user_config
from moto.core.models import botocore_stubber
from moto.s3.models import FakeKey, s3_backends

from localcloud.lambdas import ACCOUNT, REGION


@contextmanager
def mocked(bucket: str) -> Iterator[None]:
    """Answer boto3's calls while the block runs; afterwards nothing of this cloud is left."""
    before, config = botocore_stubber.enabled, default_user_config.get("stepfunctions", {})
    _forget(bucket)
    botocore_stubber.enabled = True
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    try:
        yield
    finally:
        default_user_config["stepfunctions"] = config
        botocore_stubber.enabled = before
        _forget(bucket)


def _forget(bucket: str) -> None:
    in_use: list[BackendDict[BaseBackend]] = vars(BackendDict)["_instances"]
    for backends in list(in_use):
        if ACCOUNT in backends:
            backends[ACCOUNT].pop(REGION, None)
    mine = s3_backends[ACCOUNT]["aws"].buckets.pop(bucket, None)
    s3_backends.bucket_accounts.pop(bucket, None)
    for versions in mine.keys.lists() if mine is not None else ():
        for key in versions:
            if isinstance(key, FakeKey):
                key.dispose()
