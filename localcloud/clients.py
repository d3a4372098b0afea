"""The doors to a local cloud, as the product asks for them."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from localcloud.lambdas import REGION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_stepfunctions import SFNClient

_CONFIG = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})


class BotoClients:
    """boto3's clients, with credentials that mean nothing; each is made when first used.

    Without `endpoint` they reach the cloud of this process, else the one that serves there.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint
        self._session = _session()

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """DynamoDB."""
        return self._session.client("dynamodb", endpoint_url=self._endpoint, config=_CONFIG)

    @cached_property
    def s3(self) -> S3Client:
        """S3."""
        return self._session.client("s3", endpoint_url=self._endpoint, config=_CONFIG)

    @cached_property
    def secretsmanager(self) -> SecretsManagerClient:
        """Secrets Manager."""
        return self._session.client("secretsmanager", endpoint_url=self._endpoint, config=_CONFIG)

    @cached_property
    def stepfunctions(self) -> SFNClient:
        """Step Functions."""
        return self._session.client("stepfunctions", endpoint_url=self._endpoint, config=_CONFIG)

    @cached_property
    def events(self) -> EventBridgeClient:
        """EventBridge."""
        return self._session.client("events", endpoint_url=self._endpoint, config=_CONFIG)

    @cached_property
    def scheduler(self) -> EventBridgeSchedulerClient:
        """EventBridge Scheduler."""
        return self._session.client("scheduler", endpoint_url=self._endpoint, config=_CONFIG)


@cache
def _session() -> boto3.Session:
    """One session for all: it keeps what it has read of the services' models."""
    return boto3.Session("local", "local", region_name=REGION)
