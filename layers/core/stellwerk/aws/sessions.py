"""Sessions of the role `tenant-data`: one per mandate, whose name each carries as a tag.

The role's policy lets a session reach keys, prefixes and secrets that begin with its tag. So what a
process does for one mandate cannot touch another's, whatever the code above asks for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict, cast

from stellwerk.aws.errors import translated
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import MandateId

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient

DURATION = timedelta(hours=1)
"""What AWS allows to a role that was assumed by another role."""
MARGIN = timedelta(minutes=5)
"""A session is given up so long before it ends: longer than any single request."""
MOST = 200
"""Sessions that a process keeps; of more, those that were not used for the longest time go."""
MANDATE_TAG, GROUP_TAG = "mandate", "group"
LONGEST_NAME = 64
Service: TypeAlias = Literal["dynamodb", "s3", "secretsmanager"]


class Credentials(TypedDict):
    """What STS gives out, in its own words."""

    AccessKeyId: str
    SecretAccessKey: str
    SessionToken: str
    Expiration: datetime


class Assumed(TypedDict):
    """STS's answer, as far as it is used."""

    Credentials: Credentials


class Tag(TypedDict):
    """A session tag."""

    Key: str
    Value: str


class Sts(Protocol):
    """The part of STS's client that is used."""

    def assume_role(
        self, *, RoleArn: str, RoleSessionName: str, DurationSeconds: int, Tags: list[Tag]
    ) -> Assumed:
        """Return credentials of the role."""


Connect: TypeAlias = "Callable[[Service, Credentials], BaseClient]"
"""Makes a client that acts with the given credentials."""


class TenantClients:
    """The doors to one mandate's data, each made when first used."""

    def __init__(self, connect: Connect, credentials: Credentials) -> None:
        self._connect = connect
        self._credentials = credentials

    @property
    def expires(self) -> datetime:
        """The moment at which AWS no longer takes them."""
        return self._credentials["Expiration"]

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """DynamoDB."""
        return cast("DynamoDBClient", self._connect("dynamodb", self._credentials))

    @cached_property
    def s3(self) -> S3Client:
        """S3."""
        return cast("S3Client", self._connect("s3", self._credentials))

    @cached_property
    def secretsmanager(self) -> SecretsManagerClient:
        """Secrets Manager."""
        return cast("SecretsManagerClient", self._connect("secretsmanager", self._credentials))


@dataclass(frozen=True)
class TenantRole:
    """The role, and for which group of Lambdas (`nodes`, `api`) this process assumes it."""

    arn: str
    group: str


class TenantSessions:
    """Hands out the clients of mandates. Requests: 1 per mandate and 55 minutes."""

    def __init__(
        self,
        role: TenantRole,
        sts: Callable[[], Sts],
        connect: Connect,
        clock: Clock,
        *,
        most: int = MOST,
    ) -> None:
        self._role = role
        self._sts = sts
        self._connect = connect
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._places: OrderedDict[MandateId, _Place] = OrderedDict()

    def of(self, mandate: MandateId) -> TenantClients:
        """Return clients that reach the data of `mandate` and no other; hold them for one call."""
        place = self._place(mandate)
        with place.lock:
            clients = place.clients
            if clients is None or clients.expires - MARGIN <= self._clock.now():
                clients = TenantClients(self._connect, self._assume(mandate))
                place.clients = clients
            return clients

    def _place(self, mandate: MandateId) -> _Place:
        with self._lock:
            place = self._places.setdefault(mandate, _Place())
            self._places.move_to_end(mandate)
            while len(self._places) > self._most:
                self._places.popitem(last=False)
            return place

    def _assume(self, mandate: MandateId) -> Credentials:
        with translated():
            answer = self._sts().assume_role(
                RoleArn=self._role.arn,
                RoleSessionName=f"{self._role.group}-{mandate}"[:LONGEST_NAME],
                DurationSeconds=int(DURATION.total_seconds()),
                Tags=[
                    {"Key": MANDATE_TAG, "Value": mandate},
                    {"Key": GROUP_TAG, "Value": self._role.group},
                ],
            )
        return answer["Credentials"]


class _Place:
    """Where a mandate's clients stand; its lock lets one thread ask STS while the others wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clients: TenantClients | None = None


def mandate_of(partition: str) -> MandateId:
    """Return the mandate with which a key begins."""
    return MandateId(partition.partition("#")[0])
