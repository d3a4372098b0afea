"""The stores under one contract: in memory, and on moto's DynamoDB and S3."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import boto3

from stellwerk.aws import tables
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.aws.jobs import DynamoJobs
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.key_values import DynamoKeyValues
from stellwerk.aws.runs import DynamoRuns
from stellwerk.aws.tasks import DynamoTasks
from stellwerk.aws.values import S3Values
from stellwerk.aws.versions import DynamoVersions
from stellwerk.aws.waits import DynamoWaits
from stellwerk.runs.ports import Due, Jobs, Journal, KeyValues, Runs, Tasks, Waits
from stellwerk.runs.values import Keeper
from stellwerk.workflows.ports import Values, Versions
from tests.fakes.jobs import FakeJobs
from tests.fakes.journal import FakeJournal
from tests.fakes.key_values import FakeKeyValues
from tests.fakes.memory import Memory
from tests.fakes.runs import FakeRuns
from tests.fakes.tasks import FakeTasks, FakeWaits
from tests.fakes.versions import FakeValues, FakeVersions

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True)
class Stores:
    """All stores of one kind, sharing their data."""

    journal: Journal
    runs: Runs
    tasks: Tasks
    due: Due
    waits: Waits
    versions: Versions
    values: Values
    key_values: KeyValues
    jobs: Jobs

    @property
    def keeper(self) -> Keeper:
        """What keeps the values of runs."""
        return Keeper(self.values)


class OneAtATime:
    """A client of moto, whose transactions are atomic only if nothing else happens meanwhile.

    Counts requests by operation.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self.requests: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., object]:
        operation = getattr(self._client, name)

        def locked(**request: object) -> object:
            with self._lock:
                self.requests.append(name)
                return operation(**request)

        return locked


class Moto:
    """Makes stores on tables of their own."""

    def __init__(self) -> None:
        session = boto3.Session("test", "test", region_name="us-east-1")
        self.dynamodb: DynamoDBClient = session.client("dynamodb")
        self.s3: S3Client = session.client("s3")
        self._numbers = itertools.count()
        self.last_runs_table = ""

    def stores(self) -> tuple[Stores, OneAtATime]:
        """Return stores, and the client that counts what they ask."""
        number = next(self._numbers)
        bucket = f"values-{number}"
        self.s3.create_bucket(Bucket=bucket)
        counted = OneAtATime(self.dynamodb)
        client = cast("DynamoDBClient", counted)
        values = S3Values(lambda mandate: self.s3, bucket)
        bodies = Bodies(values)
        self.last_runs_table = f"runs-{number}"
        runs = self._items(client, tables.RUNS, self.last_runs_table)
        platform = self._items(client, tables.PLATFORM, f"platform-{number}")
        tasks = DynamoTasks(runs, bodies)
        stores = Stores(
            journal=DynamoJournal(runs, bodies),
            runs=DynamoRuns(runs, bodies),
            tasks=tasks,
            due=tasks,
            waits=DynamoWaits(runs, bodies),
            versions=DynamoVersions(platform, bodies),
            values=values,
            key_values=DynamoKeyValues(platform, values),
            jobs=DynamoJobs(runs, bodies),
        )
        return stores, counted

    def platform(self) -> Items:
        """Return a table `platform` of its own."""
        client = cast("DynamoDBClient", OneAtATime(self.dynamodb))
        return self._items(client, tables.PLATFORM, f"platform-{next(self._numbers)}")

    def runs_table(self) -> Items:
        """Return a table `runs` of its own."""
        client = cast("DynamoDBClient", OneAtATime(self.dynamodb))
        return self._items(client, tables.RUNS, f"runs-{next(self._numbers)}")

    def bucket(self) -> str:
        """Return the name of a bucket of its own."""
        name = f"values-{next(self._numbers)}"
        self.s3.create_bucket(Bucket=name)
        return name

    def _items(self, client: DynamoDBClient, table: tables.Table, name: str) -> Items:
        self.dynamodb.create_table(**tables.creation(table, name))
        return Items(client, name)


def in_memory(memory: Memory | None = None) -> Stores:
    """Return stores in memory."""
    memory = memory or Memory()
    tasks = FakeTasks(memory)
    return Stores(
        journal=FakeJournal(memory),
        runs=FakeRuns(memory),
        tasks=tasks,
        due=tasks,
        waits=FakeWaits(memory),
        versions=FakeVersions(memory),
        values=FakeValues(memory),
        key_values=FakeKeyValues(memory),
        jobs=FakeJobs(memory),
    )
