"""The doors to AWS, and through them to tables and bucket."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, cast

import botocore.session
from botocore.config import Config

from stellwerk.aws.items import Items
from stellwerk.aws.sessions import Credentials, Service, Sts, TenantRole, TenantSessions
from stellwerk.aws.values import S3Values
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.scope import SYSTEM

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_stepfunctions import SFNClient

PATIENCE = Config(
    retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=20
)
"""How long a call to AWS may take: a Lambda must know its fate before its own time is over."""


class Clients(Protocol):
    """The doors to AWS."""

    @property
    def dynamodb(self) -> DynamoDBClient:
        """DynamoDB."""

    @property
    def s3(self) -> S3Client:
        """S3."""

    @property
    def stepfunctions(self) -> SFNClient:
        """Step Functions."""

    @property
    def events(self) -> EventBridgeClient:
        """EventBridge."""

    @property
    def scheduler(self) -> EventBridgeSchedulerClient:
        """EventBridge Scheduler."""

    @property
    def secretsmanager(self) -> SecretsManagerClient:
        """Secrets Manager."""


class SettingsClients:
    """Clients as settings say, each made when first used: making one takes 10 to 60 ms."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session = botocore.session.Session()
        self._lock = threading.Lock()

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """DynamoDB."""
        return cast("DynamoDBClient", self._client("dynamodb"))

    @cached_property
    def s3(self) -> S3Client:
        """S3."""
        return cast("S3Client", self._client("s3"))

    @cached_property
    def stepfunctions(self) -> SFNClient:
        """Step Functions."""
        return cast("SFNClient", self._client("stepfunctions"))

    @cached_property
    def events(self) -> EventBridgeClient:
        """EventBridge."""
        return cast("EventBridgeClient", self._client("events"))

    @cached_property
    def scheduler(self) -> EventBridgeSchedulerClient:
        """EventBridge Scheduler."""
        return cast("EventBridgeSchedulerClient", self._client("scheduler"))

    @cached_property
    def secretsmanager(self) -> SecretsManagerClient:
        """Secrets Manager."""
        return cast("SecretsManagerClient", self._client("secretsmanager"))

    @cached_property
    def sts(self) -> Sts:
        """STS, which gives out the sessions of mandates."""
        return cast("Sts", self._client("sts"))

    def with_credentials(self, service: Service, credentials: Credentials) -> BaseClient:
        """Return a client that acts as a mandate's session."""
        return self._client(service, credentials)

    def _client(
        self,
        service: Literal[
            "dynamodb", "events", "s3", "scheduler", "secretsmanager", "stepfunctions", "sts"
        ],
        credentials: Credentials | None = None,
    ) -> BaseClient:
        with self._lock:  # a session makes one client at a time
            return self._session.create_client(
                service,
                region_name=self._settings.region,
                endpoint_url=self._settings.endpoint_url,
                config=PATIENCE,
                aws_access_key_id=credentials["AccessKeyId"] if credentials else None,
                aws_secret_access_key=credentials["SecretAccessKey"] if credentials else None,
                aws_session_token=credentials["SessionToken"] if credentials else None,
            )


@dataclass(frozen=True)
class Stores:
    """The ways to tables and bucket: as the process is, or per mandate as `tenant-data`."""

    doors: Clients
    sessions: TenantSessions | None
    bucket: str

    def items(self, table: str) -> Items:
        """Return the way to a table."""
        sessions = self.sessions
        if sessions is None:
            return Items(self.doors.dynamodb, table)
        return Items(
            self.doors.dynamodb, table, tenants=lambda mandate: sessions.of(mandate).dynamodb
        )

    @property
    def values(self) -> S3Values:
        """The way to values."""
        return S3Values(self.s3, self.bucket)

    def s3(self, mandate: MandateId) -> S3Client:
        """Return the client that reaches the objects of a mandate, or of none."""
        if self.sessions is None or mandate == SYSTEM:
            return self.doors.s3
        return self.sessions.of(mandate).s3

    def secretsmanager(self, mandate: MandateId) -> SecretsManagerClient:
        """Return the client that reaches the secrets of a mandate."""
        if self.sessions is None:
            return self.doors.secretsmanager
        return self.sessions.of(mandate).secretsmanager


def connect(settings: Settings, clients: Clients | None, clock: Clock) -> tuple[Clients, Stores]:
    """Return the doors and what is reached through them; given clients are taken as they are."""
    if clients is not None:
        return clients, Stores(clients, None, settings.bucket)
    own = SettingsClients(settings)
    if not settings.tenant_role:
        return own, Stores(own, None, settings.bucket)
    role = TenantRole(settings.tenant_role, settings.group)
    sessions = TenantSessions(role, lambda: own.sts, own.with_credentials, clock)
    return own, Stores(own, sessions, settings.bucket)
