from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from benchmarks.counting import CountingClients
from benchmarks.filling import SCOPE, Filling
from localcloud.cloud import LocalCloud
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.aws.runs import DynamoRuns
from stellwerk.aws.values import S3Values
from stellwerk.aws.versions import DynamoVersions
from stellwerk.kernel.ids import NodeKey, RunId, UserId, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.runs.model import Run, RunStatus, TriggeredBy
from stellwerk.runs.ports import RunFilter
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.ports import Wanted

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
WORKFLOW = Workflow(
    id=WorkflowId("w" * 26), title="", slug="", created_by=SCOPE.user, created=NOON, latest=1
)
VERSION = Version(
    workflow=WORKFLOW.id,
    number=1,
    status=VersionStatus.DRAFT,
    graph=Stored(text="{}"),
    graph_hash="0" * 64,
    author=SCOPE.user,
    created=NOON,
)
RUN = Run(
    id=RunId("r" * 26),
    mandate=SCOPE.mandate,
    instance=SCOPE.instance,
    user=SCOPE.user,
    workflow=WORKFLOW.id,
    version=1,
    status=RunStatus.COMPLETED,
    trigger=TriggeredBy(node=NodeKey("start"), delivery=""),
    started=NOON,
)
FEW, MANY = 100, 5_000


class Lists:
    """Pages of what a cloud is filled with, and what they cost."""

    def __init__(self, cloud: LocalCloud) -> None:
        clients, settings = CountingClients(cloud.clients), cloud.settings
        self.counts = clients.counts
        client = clients.as_clients.dynamodb
        bodies = Bodies(S3Values(lambda _: cloud.clients.s3, settings.bucket))
        self.versions = DynamoVersions(Items(client, settings.platform_table), bodies)
        self.runs = DynamoRuns(Items(client, settings.runs_table), bodies)
        self.busy = Filling(cloud, WORKFLOW, VERSION, RUN).busy()

    def workflows(self, wanted: Wanted, limit: int) -> int:
        return len(self.versions.workflows(SCOPE, wanted, cursor=None, limit=limit).items)

    def listed(self, wanted: RunFilter, limit: int) -> int:
        return len(self.runs.list(SCOPE, wanted, limit=limit).items)

    def costs(self) -> dict[str, tuple[int, int, int]]:
        """Return items shown, requests and items looked at, by list."""
        return {name: self._cost(ask) for name, ask in self._asked().items()}

    def _asked(self) -> dict[str, Callable[[], int]]:
        user = UserId("u-demo-user")
        failed = RunFilter(status=RunStatus.FAILED)
        return {
            "by name": lambda: self.workflows(Wanted(), 50),
            "of an owner": lambda: self.workflows(Wanted(owner=user), 40),
            "by tag": lambda: self.workflows(Wanted(tag="finance"), 40),
            "by word": lambda: self.workflows(Wanted(words=("invoice",)), 10),
            "runs": lambda: self.listed(RunFilter(), 50),
            "runs of a user": lambda: self.listed(RunFilter(user=user), 40),
            "runs of a workflow": lambda: self.listed(RunFilter(workflow=self.busy), 3),
            "failed runs": lambda: self.listed(failed, 5),
        }

    def _cost(self, ask: Callable[[], int]) -> tuple[int, int, int]:
        before = self.counts.now()
        shown = ask()
        cost = self.counts.since(before)
        return shown, cost.requests, cost.evaluated


@pytest.fixture
def cloud() -> Iterator[LocalCloud]:
    with LocalCloud() as running:
        yield running


def test_a_page_costs_the_same_however_much_there_is(cloud: LocalCloud) -> None:
    filling, lists = Filling(cloud, WORKFLOW, VERSION, RUN), Lists(cloud)
    filling.grow(0, FEW)
    costs = lists.costs()
    filling.grow(FEW, MANY)
    assert lists.costs() == costs
    assert costs["by name"] == (50, 2, 51 + 50)
    assert costs["failed runs"] == (5, 2, 6 + 5)
    assert {requests for _, requests, _ in costs.values()} == {2}
