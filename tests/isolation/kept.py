"""Every store with something of each kind in it, in memory and on moto; and all that it holds."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.files import DynamoFiles
from stellwerk.aws.requests import DynamoCounters, DynamoRepeats
from stellwerk.aws.values import S3Values
from stellwerk.files.model import File, FileId
from stellwerk.files.ports import Files
from stellwerk.requests.model import Repeat
from stellwerk.requests.ports import Counters, Repeats
from stellwerk.runs.jobs import Job
from stellwerk.runs.limits import Limit
from stellwerk.runs.model import HumanTask, Run, RunStatus, Step, TaskStatus
from stellwerk.tenancy.evidence import AuditRecord, Outcome
from stellwerk.tenancy.ports import AuditLog
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Overflow, Version, VersionStatus, Workflow
from tests.contracts import audit_logs
from tests.contracts.records import (
    RUN,
    SCOPE,
    START,
    WORKFLOW,
    decision,
    run,
    step,
    task,
    version,
    waiting,
    workflow,
)
from tests.contracts.stores import Moto, Stores, in_memory
from tests.fakes.audit import FakeAuditLog
from tests.fakes.files import FakeFiles
from tests.fakes.memory import Memory
from tests.fakes.requests import FakeCounters, FakeRepeats

DAY = "2026-11-02"
OBJECT = "runs/r-1/large"
SLUG = "invoices"
SLOT = Limit(f"workflow#{WORKFLOW}", 1, Overflow.QUEUE)


@dataclass(frozen=True)
class Shelves:
    """All stores."""

    stores: Stores
    files: Files
    counters: Counters
    repeats: Repeats
    log: AuditLog
    everything: Callable[[], object]
    """Returns all that belongs to SCOPE, or says that it does."""


@dataclass(frozen=True)
class Kept:
    """The stores, and what is in them."""

    on: Shelves
    run: Run
    queued: Run
    job: Job
    step: Step
    child: Step
    task: HumanTask
    workflow: Workflow
    version: Version
    file: File
    repeat: Repeat
    record: AuditRecord
    before: object
    """All that is SCOPE's."""


def on_shelves(on: Shelves) -> Kept:
    """Put something of each kind into the stores, all of it SCOPE's."""
    stores = on.stores
    new = workflow().model_copy(update={"shared": True})
    made = stores.versions.create(SCOPE, new, version())
    entered = stores.versions.get(SCOPE, WORKFLOW, 1).model_copy(
        update={
            "status": VersionStatus.PUBLISHED,
            "first_published": START,
            "published_at": START,
            "retiring": START,
            "machines": {"": "arn:machine"},
        }
    )
    stores.versions.move(SCOPE, made.model_copy(update={"published": 1}), entered)
    started = stores.runs.create(SCOPE, run(), [SLOT])
    queued = run(7).model_copy(update={"status": RunStatus.QUEUED, "queue": SLOT.pool})
    written = stores.journal.write(SCOPE, step("note", value="mine"))
    due = task(due=START + timedelta(hours=1))
    stores.tasks.open(SCOPE, due, waiting())
    over = task(2, token="t-2").model_copy(update={"node": "second"})
    stores.tasks.open(SCOPE, over, waiting("second", token="t-2"))
    stores.tasks.close(SCOPE, over.id, TaskStatus.COMPLETED, decision())
    child = stores.waits.open(SCOPE, waiting("child", token="t-3"))
    stores.values.put(SCOPE, OBJECT, b"mine")
    stores.key_values.put(SCOPE, WORKFLOW, "n", 1)
    repeat = Repeat(
        user=SCOPE.user,
        key="k",
        fingerprint="f",
        lease=START + timedelta(minutes=1),
        expires=START + timedelta(days=1),
    )
    on.counters.take(SCOPE, SCOPE.user, START, limit=1)
    record = _record()
    on.log.append(SCOPE, record)
    file = on.files.add(SCOPE, new_file(), b"mine")
    waiting_run = stores.runs.create(SCOPE, queued)
    job = Job(id="j", workflow=WORKFLOW, user=SCOPE.user, created=START, version=1)
    kept_job = stores.jobs.create(SCOPE, job)
    kept_repeat = on.repeats.write(SCOPE, repeat)
    return Kept(
        on=on,
        before=on.everything(),
        run=stores.runs.get(SCOPE, started.id),
        queued=waiting_run,
        job=kept_job,
        step=written,
        child=child,
        task=stores.tasks.get(SCOPE, due.id),
        workflow=stores.versions.workflow(SCOPE, WORKFLOW),
        version=stores.versions.get(SCOPE, WORKFLOW, 1),
        file=file,
        repeat=kept_repeat,
        record=record,
    )


def new_file() -> File:
    """Return a file, not yet kept."""
    return File(
        id=FileId("f-1"),
        name="a.txt",
        type="text/plain",
        size=4,
        sha256="ab",
        created_by=SCOPE.user,
        created=START,
    )


def shelves_in_memory() -> Shelves:
    """Return empty stores in memory."""
    memory, files, repeats, log = Memory(), FakeFiles(), FakeRepeats(), FakeAuditLog()

    def everything() -> object:
        return deepcopy(
            (
                memory.of(SCOPE),
                files.list(SCOPE, created_by=None, cursor=None, limit=9),
                files.content(SCOPE, new_file()),
                repeats.find(SCOPE, "k"),
                log.all(SCOPE.mandate),
            )
        )

    return Shelves(in_memory(memory), files, FakeCounters(), repeats, log, everything)


def shelves_on_moto(moto: Moto) -> Shelves:
    """Return empty stores on tables and buckets of their own."""
    bodies = Bodies(S3Values(lambda _: moto.s3, moto.bucket()))
    return Shelves(
        stores=moto.stores()[0],
        files=DynamoFiles(moto.platform(), lambda _: moto.s3, moto.bucket()),
        counters=DynamoCounters(moto.platform()),
        repeats=DynamoRepeats(moto.platform(), bodies),
        log=audit_logs.on_moto(moto)[0].log,
        everything=lambda: (_items(moto), _objects(moto)),
    )


def _items(moto: Moto) -> list[str]:
    """Return the items that lie at SCOPE, or that say so in the key of an index."""
    here = (f"{SCOPE.mandate}#{SCOPE.instance}#", f"{SCOPE.mandate}#audit")
    return sorted(
        f"{table} {item}"
        for table in moto.dynamodb.list_tables()["TableNames"]
        for item in moto.dynamodb.scan(TableName=table)["Items"]
        if any(value.get("S", "").startswith(here) for value in item.values())
    )


def _objects(moto: Moto) -> list[str]:
    here = f"{SCOPE.mandate}/{SCOPE.instance}/"
    return sorted(
        f"{bucket['Name']} {one['Key']} {one['ETag']}"
        for bucket in moto.s3.list_buckets()["Buckets"]
        for one in moto.s3.list_objects_v2(Bucket=bucket["Name"], Prefix=here).get("Contents", ())
    )


def _record(scope: Scope = SCOPE) -> AuditRecord:
    return AuditRecord(
        id="id-1",
        mandate=scope.mandate,
        day=DAY,
        number=1,
        at=START,
        user=scope.user,
        instance=scope.instance,
        action="run.start",
        object=f"run:{RUN}",
        outcome=Outcome.DONE,
    ).sealed()
