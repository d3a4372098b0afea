"""Fills the tables of a local cloud with workflows and runs, as fast as a process can.

Records go through the product's stores, so each has all the entries by which lists find it; only
the engine's checks of conditions are left out, for every key is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from localcloud.cloud import LocalCloud
from localcloud.dynamodb.values import Item
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.expressions import Put, Write, put_request
from stellwerk.aws.items import Items
from stellwerk.aws.runs import DynamoRuns
from stellwerk.aws.values import S3Values
from stellwerk.aws.versions import DynamoVersions
from stellwerk.kernel.ids import RunId, UserId, WorkflowId, new_id
from stellwerk.runs.model import Run, RunStatus
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.model import Version, Workflow

SCOPE = seeded()
PEOPLE = (UserId("u-demo"), UserId("u-demo-user"))
WORDS = ("invoice", "order", "contract", "claim", "leave")
STATUSES = (*(RunStatus.COMPLETED,) * 8, RunStatus.FAILED, RunStatus.CANCELLED)
BUSY = 20
"""Workflows that have all the runs."""


class Poured(Items):
    """A table into which transactions of puts go without a look at what is there."""

    def __init__(self, cloud: LocalCloud, table: str) -> None:
        super().__init__(cloud.clients.dynamodb, table)
        self._into = cloud.dynamodb.tables.get(table)
        self._name = table

    def transact(self, writes: Sequence[Write]) -> None:
        """Put all; what is to be removed beside something new is not there."""
        for write in writes:
            if isinstance(write, Put):
                item = cast("Item", {**put_request(self._name, write)["Item"]})
                self._into.put(self._into.check(item), item)


@dataclass(frozen=True)
class Filling:
    """Writes copies of a workflow, its version and its run, like those of some months."""

    cloud: LocalCloud
    workflow: Workflow
    version: Version
    run: Run

    @classmethod
    def like(cls, cloud: LocalCloud, workflow: WorkflowId, run: RunId) -> Filling:
        """Return what fills the cloud with copies of a published workflow and of a run of it."""
        client, settings = cloud.clients.dynamodb, cloud.settings
        bodies = _bodies(cloud)
        versions = DynamoVersions(Items(client, settings.platform_table), bodies)
        runs = DynamoRuns(Items(client, settings.runs_table), bodies)
        return cls(
            cloud,
            versions.workflow(SCOPE, workflow),
            versions.get(SCOPE, workflow, 1),
            runs.get(SCOPE, run),
        )

    def grow(self, before: int, after: int) -> None:
        """Write so many workflows and runs that there are `after` instead of `before`."""
        settings, bodies = self.cloud.settings, _bodies(self.cloud)
        versions = DynamoVersions(Poured(self.cloud, settings.platform_table), bodies)
        runs = DynamoRuns(Poured(self.cloud, settings.runs_table), bodies)
        for number in range(before, after):
            workflow = self._workflow(number)
            version = self.version.model_copy(update={"workflow": workflow.id})
            versions.create(SCOPE, workflow, version)
            runs.create(SCOPE, self._run(number))

    def busy(self) -> WorkflowId:
        """Return one of the workflows that have the runs."""
        return self._id(0)

    def _workflow(self, number: int) -> Workflow:
        word = WORDS[number % len(WORDS)]
        return self.workflow.model_copy(
            update={
                "id": self._id(number),
                "title": f"{word.capitalize()} {number:06d}",
                "slug": f"{word}-{number:06d}",
                "created_by": PEOPLE[number % 2],
                "tags": ("finance",) if number % 2 else (),
            }
        )

    def _run(self, number: int) -> Run:
        started = self.run.started + timedelta(seconds=number)
        delivery = {"delivery": f"delivery-{number}"}
        return self.run.model_copy(
            update={
                "id": RunId(new_id(started)),
                "user": PEOPLE[number % 2],
                "workflow": self._id(number % BUSY),
                "status": STATUSES[number // 3 % len(STATUSES)],
                "trigger": self.run.trigger.model_copy(update=delivery),
                "started": started,
                "ended": started + timedelta(seconds=3),
            }
        )

    def _id(self, number: int) -> WorkflowId:
        return WorkflowId(f"{self.workflow.id[:18]}{number:08d}")


def _bodies(cloud: LocalCloud) -> Bodies:
    return Bodies(S3Values(lambda _: cloud.clients.s3, cloud.settings.bucket))
