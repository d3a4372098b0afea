"""The composition root: builds the services; it alone knows adapters and domains together.

A process that runs nodes needs neither checks nor compiler, whose imports cost more than all else.
Whoever publishes hands them in: `build(settings, compiler=GraphCompiler())`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NoReturn, Protocol, cast

import botocore.session
from botocore.config import Config

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.executions import StepFunctionsExecutions
from stellwerk.aws.items import Items
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.key_values import DynamoKeyValues
from stellwerk.aws.machines import StepFunctionsMachines
from stellwerk.aws.runs import DynamoRuns
from stellwerk.aws.sessions import Credentials, Service, Sts, TenantRole, TenantSessions
from stellwerk.aws.tasks import DynamoTasks
from stellwerk.aws.values import S3Values
from stellwerk.aws.versions import DynamoVersions
from stellwerk.aws.waits import DynamoWaits
from stellwerk.catalogue.model import Catalogue
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock, SystemClock
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import MandateId
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.ports import KeyValues
from stellwerk.runs.service import RunService
from stellwerk.runs.tasks import TaskService
from stellwerk.runs.values import Keeper
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import SYSTEM
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.publishing import Compiler, Press
from stellwerk.workflows.service import WorkflowService

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
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
    def sts(self) -> Sts:
        """STS, which gives out the sessions of mandates."""
        return cast("Sts", self._client("sts"))

    def with_credentials(self, service: Service, credentials: Credentials) -> BaseClient:
        """Return a client that acts as a mandate's session."""
        return self._client(service, credentials)

    def _client(
        self,
        service: Literal["dynamodb", "s3", "stepfunctions", "sts"],
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


class NoCompiler:
    """Stands where nothing is published."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Refuse."""
        self._refuse()

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> NoReturn:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise Conflict(
            "this process runs workflows and cannot publish any",
            remedy="Build its services with compiler=GraphCompiler().",
        )


@dataclass(frozen=True)
class Services:
    """All that a process of ours can do."""

    settings: Settings
    catalogue: Catalogue
    workflows: WorkflowService
    assembly: Assembly
    key_values: KeyValues

    @property
    def runs(self) -> RunService:
        """Starts, shows, cancels and replays runs."""
        return self.assembly.runs

    @property
    def tasks(self) -> TaskService:
        """Lists and decides human tasks."""
        return self.assembly.tasks

    @property
    def http_allow(self) -> tuple[str, ...]:
        """`host:port` that `http.request` may call although the address is private."""
        return self.settings.http_allow


def build(
    settings: Settings,
    clients: Clients | None = None,
    *,
    clock: Clock | None = None,
    catalogue: Catalogue | None = None,
    compiler: Compiler | None = None,
) -> Services:
    """Return the services of a deployment; what is not given is as it is on AWS."""
    types = catalogue or StoredCatalogue()
    time = clock or SystemClock()
    doors, stores = _stores(settings, clients, time)
    values = stores.values
    platform = stores.items(settings.platform_table)
    versions = DynamoVersions(platform, Bodies(values))
    press = Press(
        versions=versions,
        machines=StepFunctionsMachines(lambda: doors.stepfunctions, settings.states_role),
        values=values,
        catalogue=types,
        compiler=compiler or NoCompiler(),
        clock=time,
        prefix=settings.prefix,
    )
    return Services(
        settings=settings,
        catalogue=types,
        workflows=WorkflowService(press),
        assembly=Assembly.of(_world(doors, stores.items(settings.runs_table), press)),
        key_values=DynamoKeyValues(platform, values),
    )


@dataclass(frozen=True)
class _Stores:
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


def _stores(settings: Settings, clients: Clients | None, clock: Clock) -> tuple[Clients, _Stores]:
    """Return the doors and what is reached through them; given clients are taken as they are."""
    if clients is not None:
        return clients, _Stores(clients, None, settings.bucket)
    own = SettingsClients(settings)
    if not settings.tenant_role:
        return own, _Stores(own, None, settings.bucket)
    role = TenantRole(settings.tenant_role, settings.group)
    sessions = TenantSessions(role, lambda: own.sts, own.with_credentials, clock)
    return own, _Stores(own, sessions, settings.bucket)


def _world(clients: Clients, items: Items, press: Press) -> World:
    bodies = Bodies(press.values)
    keeper = Keeper(press.values)
    tasks = DynamoTasks(items, bodies)
    return World(
        journal=DynamoJournal(items, bodies),
        runs=DynamoRuns(items, bodies),
        tasks=tasks,
        waits=DynamoWaits(items, bodies),
        due=tasks,
        executions=StepFunctionsExecutions(lambda: clients.stepfunctions),
        versions=press.versions,
        blueprints=Blueprints(press.versions, keeper),
        values=keeper,
        catalogue=press.catalogue,
        clock=press.clock,
    )


class Provider:
    """Hands out one set of services, built when first asked for."""

    def __init__(self, factory: Callable[[], Services]) -> None:
        self._factory = factory
        self._built: Services | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Services:
        """Return the services."""
        with self._lock:
            if self._built is None:
                self._built = self._factory()
            return self._built

    def provide(self, factory: Callable[[], Services]) -> None:
        """From now on hand out what `factory` builds: for a host that runs handlers itself."""
        with self._lock:
            self._factory = factory
            self._built = None


services = Provider(lambda: build(Settings.from_environment()))
"""The services of a Lambda's process: `services()`."""
