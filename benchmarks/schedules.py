"""Schedules: what a change costs as there are more and more of them, on the local cloud."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from benchmarks.counting import Counting
from benchmarks.measure import Row, median_ms
from localcloud.cloud import LocalCloud
from localcloud.functions import Given
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.aws.scheduler import EventBridgeScheduler
from stellwerk.aws.schedules import DynamoRegistrations
from stellwerk.aws.values import S3Values
from stellwerk.bootstrap.scheduling import target_of
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.ids import NodeKey, UserId, WorkflowId
from stellwerk.tenancy.scope import Scope, seeded
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.schedules.part import TYPE, SchedulePart
from stellwerk.workflows.model import Workflow

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SIZES = (100, 10_000)
_TIMES = 30


class Scheduler:
    """The Scheduler's client, which counts what is asked of it."""

    def __init__(self, client: EventBridgeSchedulerClient) -> None:
        self.calls: Counter[str] = Counter()
        self._client = client

    def __getattr__(self, name: str) -> object:
        """Return the client's method, which counts when it is called."""
        method = cast("Callable[..., object]", getattr(self._client, name))

        def called(**request: object) -> object:
            self.calls[name] += 1
            return method(**request)

        return called


class Bench:
    """An instance of which every workflow has a schedule."""

    def __init__(self, cloud: LocalCloud) -> None:
        clients, settings = cloud.clients, cloud.settings
        self.dynamodb, self.scheduler = Counting(clients.dynamodb), Scheduler(clients.scheduler)
        doors = cast("EventBridgeSchedulerClient", self.scheduler)
        items = Items(cast("DynamoDBClient", self.dynamodb), settings.platform_table)
        bodies = Bodies(S3Values(lambda mandate: clients.s3, settings.bucket))
        self._part = SchedulePart(
            DynamoRegistrations(items, bodies),
            EventBridgeScheduler(lambda: doors, target_of(settings)),
            SystemClock(),
        )
        self._scope: Scope = seeded()
        self.size = 0

    def grow(self, size: int) -> None:
        """Register schedules until there are so many."""
        while self.size < size:
            self.arm(self.size, f"{self.size % 60} {self.size % 24} * * *")
            self.size += 1

    def arm(self, number: int, cron: str) -> None:
        """Let a workflow want a schedule."""
        workflow = Workflow(
            id=WorkflowId(f"w-{number:08d}"),
            title="Measured",
            slug=f"w-{number}",
            created_by=UserId("u-demo"),
            created=datetime.now(UTC),
        )
        node = TriggerNode(NodeKey("start"), TYPE, {"cron": cron})
        self._part.synchronise(self._scope, Armed(workflow, (node,)))


def rows() -> Iterator[Row]:
    """Measure a change, and none, at each size."""
    with LocalCloud(functions=Given({})) as cloud:
        bench = Bench(cloud)
        for size in SIZES:
            began = time.perf_counter()
            bench.grow(size)
            filled = time.perf_counter() - began
            yield from _changes(bench, size, filled)


def _changes(bench: Bench, size: int, filled: float) -> Iterator[Row]:
    yield _row(bench, size, "another time", lambda turn: f"{turn % 60} {turn % 7} * * *", filled)
    yield _row(bench, size, "unchanged", lambda turn: "59 23 * * *", filled)


def _row(bench: Bench, size: int, what: str, cron: Callable[[int], str], filled: float) -> Row:
    number, turns = size // 2, iter(range(10_000))
    bench.arm(number, "59 23 * * *")
    before, calls = bench.dynamodb.now(), bench.scheduler.calls.total()
    taken = median_ms(lambda: bench.arm(number, cron(next(turns))), times=_TIMES)
    asked = bench.dynamodb.since(before).requests / (_TIMES + 1)
    told = (bench.scheduler.calls.total() - calls) / (_TIMES + 1)
    note = f"{told:.3g} calls of the Scheduler, {asked:.3g} requests to DynamoDB each"
    return Row(
        f"one of {size:,} schedules, {what}", taken, "ms", None, f"{note}; filled in {filled:.0f} s"
    )
