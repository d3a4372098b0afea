"""What is kept of schedules, and the Scheduler: in memory, on moto, and on the local cloud's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import boto3
import pytest
from moto import mock_aws
from moto.scheduler.models import scheduler_backends

from localcloud.scheduler.backend import repaired
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.scheduler import SCHEDULED, EventBridgeScheduler, Target
from stellwerk.aws.schedules import DynamoLookMarks, DynamoRegistrations, DynamoSlots
from stellwerk.aws.values import S3Values
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import MandateId, NodeKey, RunId, WorkflowId
from stellwerk.tenancy.scope import SYSTEM, Scope, of_platform, of_run
from stellwerk.triggers.schedules.model import (
    Mark,
    Planned,
    Reason,
    Registration,
    Slot,
    SlotStatus,
    Span,
)
from stellwerk.triggers.schedules.naming import GROUPS, group_of, name_of, prefix_of
from stellwerk.triggers.schedules.ports import Listing, Marks, Scheduler, Slots
from tests.contracts.records import SCOPE, START, STRANGERS, WORKFLOW
from tests.contracts.stores import Moto
from tests.fakes.schedules import FakeLookMarks, FakeRegistrations, FakeScheduler, FakeSlots

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

NODE = NodeKey("start")
ACCOUNT, REGION = "123456789012", "us-east-1"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/t-scheduler"
FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:t-triggers-schedule"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:t-undelivered"
ABROAD = of_run("m-two", "i-one", "u-anna")


@dataclass(frozen=True)
class Kept:
    """The stores of one kind."""

    registrations: Listing
    slots: Slots
    marks: Marks


@pytest.fixture(params=["fake", "moto"])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "fake":
        return Kept(FakeRegistrations(), FakeSlots(), FakeLookMarks())
    moto: Moto = request.getfixturevalue("moto")
    bucket = moto.bucket()
    platform = moto.platform()
    bodies = Bodies(S3Values(lambda mandate: moto.s3, bucket))
    runs = DynamoSlots(moto.runs_table())
    return Kept(DynamoRegistrations(platform, bodies), runs, DynamoLookMarks(platform))


def planned(text: str = "cron(30 7 * * ? *)", *, index: int = 0, scope: Scope = SCOPE) -> Planned:
    name = name_of(scope, WORKFLOW, NODE, index)
    return Planned(name=name, node=NODE, text=text, zone="Europe/Zurich")


def registration(workflow: WorkflowId = WORKFLOW) -> Registration:
    span = Span(node=NODE, parameters={"cron": "30 7 * * *"}, since=START)
    return Registration(
        workflow=workflow, seen=3, planned=(planned(),), spans=(span,), checked=START
    )


def slot(minutes: int, status: SlotStatus = SlotStatus.MISSED, *, late: float = 0) -> Slot:
    at = START + timedelta(minutes=minutes)
    return Slot(
        workflow=WORKFLOW,
        node=NODE,
        at=at,
        status=status,
        recorded=at + timedelta(seconds=late),
        run=RunId("r-1") if status is SlotStatus.FIRED else None,
        reason=Reason.RIGHTS if status is SlotStatus.SKIPPED else None,
    )


def test_a_registration_is_written_over_the_revision_that_was_read(kept: Kept) -> None:
    store = kept.registrations
    assert store.get(SCOPE, WORKFLOW) is None
    written = store.write(SCOPE, registration())
    assert store.get(SCOPE, WORKFLOW) == written
    later = store.write(SCOPE, written.model_copy(update={"seen": 4}))
    for stale in (written, registration()):
        with pytest.raises(Conflict):
            store.write(SCOPE, stale)
    assert store.get(SCOPE, WORKFLOW) == later


def test_registrations_are_listed_by_workflow(kept: Kept) -> None:
    store = kept.registrations
    names = [WorkflowId(f"w-{number}") for number in range(5)]
    for name in reversed(names):
        store.write(SCOPE, registration(name))
    assert [one.workflow for one in store.all(SCOPE)] == names
    first = store.page(SCOPE, cursor=None, limit=3)
    second = store.page(SCOPE, cursor=first.cursor, limit=3)
    assert [one.workflow for one in (*first.items, *second.items)] == names
    assert second.cursor is None


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: scope.mandate)
def test_strangers_find_and_change_nothing(kept: Kept, stranger: Scope) -> None:
    kept.registrations.write(SCOPE, registration())
    kept.slots.record(SCOPE, slot(1))
    assert kept.registrations.get(stranger, WORKFLOW) is None
    assert list(kept.registrations.all(stranger)) == []
    assert kept.registrations.page(stranger, cursor=None, limit=9).items == []
    kept.registrations.write(stranger, registration().model_copy(update={"seen": 9}))
    found = kept.registrations.get(SCOPE, WORKFLOW)
    assert found is not None
    assert found.seen == 3
    assert kept.slots.get(stranger, WORKFLOW, NODE, slot(1).at) is None
    assert kept.slots.latest(stranger, WORKFLOW, limit=9) == []
    assert kept.slots.between(stranger, WORKFLOW, START, slot(9).at) == {}
    assert kept.slots.standing(stranger, SlotStatus.MISSED, late=False, limit=9) == []
    kept.slots.record(stranger, slot(1, SlotStatus.FIRED))
    assert kept.slots.get(SCOPE, WORKFLOW, NODE, slot(1).at) == slot(1)


def test_of_two_rows_of_a_slot_the_weightier_stays(kept: Kept) -> None:
    missed, skipped, fired = (slot(1, status) for status in reversed(SlotStatus))
    assert kept.slots.record(SCOPE, missed) == missed
    assert kept.slots.record(SCOPE, skipped) == skipped
    assert kept.slots.record(SCOPE, missed) == skipped
    assert kept.slots.record(SCOPE, fired) == fired
    second = fired.model_copy(update={"run": RunId("r-2")})
    assert kept.slots.record(SCOPE, second) == fired
    assert kept.slots.get(SCOPE, WORKFLOW, NODE, fired.at) == fired


def test_slots_are_listed_by_time_and_by_what_went_wrong(kept: Kept) -> None:
    rows = [
        slot(1, SlotStatus.FIRED),
        slot(2),
        slot(3, SlotStatus.FIRED, late=61),
        slot(4, SlotStatus.SKIPPED),
        slot(5),
    ]
    for row in rows:
        kept.slots.record(SCOPE, row)
    kept.slots.record(SCOPE, slot(2, SlotStatus.FIRED, late=3600))
    rows[1] = slot(2, SlotStatus.FIRED, late=3600)
    assert list(kept.slots.latest(SCOPE, WORKFLOW, limit=2)) == [rows[4], rows[3]]
    between = kept.slots.between(SCOPE, WORKFLOW, rows[0].at, rows[3].at)
    assert between == {(NODE, row.at): row for row in rows[1:4]}
    assert list(kept.slots.standing(SCOPE, SlotStatus.MISSED, late=False, limit=9)) == [rows[4]]
    late = kept.slots.standing(SCOPE, SlotStatus.FIRED, late=True, limit=9)
    assert list(late) == [rows[2], rows[1]]


@pytest.mark.parametrize("stranger", [of_platform(MandateId("m-one")), SCOPE])
def test_the_mark_is_the_platforms(kept: Kept, stranger: Scope) -> None:
    assert stranger.mandate != SYSTEM
    platform = of_platform()
    assert kept.marks.read(platform) is None
    kept.marks.write(platform, Mark(due=START))
    assert kept.marks.read(platform) == Mark(due=START)
    assert kept.marks.read(stranger) is None


class Counted:
    """A client that counts its calls."""

    def __init__(self, client: EventBridgeSchedulerClient) -> None:
        self._client = client
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        operation = getattr(self._client, name)
        if name == "get_paginator":
            return operation

        def call(**request: object) -> object:
            self.calls.append(name)
            return operation(**request)

        return call


@pytest.fixture
def client() -> Iterator[Counted]:
    with mock_aws():
        session = boto3.Session("test", "test", region_name=REGION)
        scheduler_backends[ACCOUNT].pop(REGION, None)  # another test's, where mocks are nested
        repaired(ACCOUNT, REGION)
        yield Counted(session.client("scheduler"))


@pytest.fixture
def on_moto(client: Counted) -> EventBridgeScheduler:
    doors = cast("EventBridgeSchedulerClient", client)
    return EventBridgeScheduler(lambda: doors, Target("t", FUNCTION, ROLE, QUEUE))


@pytest.fixture(params=["fake", "moto"])
def scheduler(request: pytest.FixtureRequest) -> Scheduler:
    if request.param == "fake":
        return FakeScheduler()
    found: EventBridgeScheduler = request.getfixturevalue("on_moto")
    return found


def now() -> datetime:
    return datetime.now(UTC)


def test_a_schedule_is_made_changed_and_removed(scheduler: Scheduler) -> None:
    name = planned().name
    assert scheduler.held(SCOPE, name) is None
    scheduler.put(SCOPE, WORKFLOW, planned(), new=True, now=now())
    scheduler.put(SCOPE, WORKFLOW, planned("cron(0 9 1 * ? *)"), new=False, now=now())
    held = scheduler.held(SCOPE, name)
    assert held is not None
    assert (held.text, held.zone, held.enabled) == ("cron(0 9 1 * ? *)", "Europe/Zurich", True)
    assert held.input == scheduler.input(SCOPE, WORKFLOW, planned())
    assert json.loads(held.input) == {
        "mandate": "m-one",
        "instance": "i-one",
        "workflow": WORKFLOW,
        "node": "start",
        "at": SCHEDULED,
    }
    (found,) = scheduler.listed(SCOPE)
    assert (found.name, found.enabled) == (name, True)
    assert now() - found.modified < timedelta(minutes=1)
    scheduler.remove(SCOPE, name)
    scheduler.remove(SCOPE, name)
    assert list(scheduler.listed(SCOPE)) == []


def test_what_is_held_may_be_otherwise_than_thought(scheduler: Scheduler) -> None:
    scheduler.put(SCOPE, WORKFLOW, planned(), new=False, now=now())
    scheduler.put(SCOPE, WORKFLOW, planned("cron(0 9 1 * ? *)"), new=True, now=now())
    held = scheduler.held(SCOPE, planned().name)
    assert held is not None
    assert held.text == "cron(0 9 1 * ? *)"


def test_strangers_reach_no_schedule(scheduler: Scheduler) -> None:
    scheduler.put(SCOPE, WORKFLOW, planned(), new=True, now=now())
    name = planned().name
    assert list(scheduler.listed(ABROAD)) == []
    with pytest.raises(NotFound):
        scheduler.held(ABROAD, name)
    with pytest.raises(NotFound):
        scheduler.remove(ABROAD, name)
    with pytest.raises(NotFound):
        scheduler.put(ABROAD, WORKFLOW, planned(), new=False, now=now())
    assert len(list(scheduler.listed(SCOPE))) == 1


def test_a_change_is_one_call_and_the_first_one_of_all_makes_the_group(
    client: Counted, on_moto: EventBridgeScheduler
) -> None:
    on_moto.put(SCOPE, WORKFLOW, planned(), new=True, now=now())
    assert client.calls == ["create_schedule", "create_schedule_group", "create_schedule"]
    client.calls.clear()
    on_moto.put(SCOPE, WORKFLOW, planned(index=1), new=True, now=now())
    on_moto.put(SCOPE, WORKFLOW, planned(), new=False, now=now())
    on_moto.remove(SCOPE, planned().name)
    assert client.calls == ["create_schedule", "update_schedule", "delete_schedule"]


def test_what_fires_how_is_said_to_the_scheduler(
    client: Counted, on_moto: EventBridgeScheduler
) -> None:
    begun = datetime(2030, 6, 1, 12, 7, 30, tzinfo=UTC)
    rate = planned("rate(15 minutes)").model_copy(update={"every": 900, "zone": "UTC"})
    on_moto.put(SCOPE, WORKFLOW, rate, new=True, now=begun)
    once = planned("at(2030-06-01T13:00:00)", index=1)
    once = once.model_copy(update={"once": begun, "zone": "UTC"})
    on_moto.put(SCOPE, WORKFLOW, once, new=True, now=begun)
    session = boto3.Session("test", "test", region_name=REGION)
    group = group_of("t", SCOPE.mandate)
    real = session.client("scheduler")
    found = real.get_schedule(GroupName=group, Name=rate.name)
    assert found["StartDate"].astimezone(UTC) == datetime(2030, 6, 1, 12, 15, tzinfo=UTC)
    assert found["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert found["Target"]["Arn"] == FUNCTION
    assert found["Target"]["RoleArn"] == ROLE
    assert found["Target"]["DeadLetterConfig"] == {"Arn": QUEUE}
    deleted = real.get_schedule(GroupName=group, Name=once.name)
    assert deleted["ActionAfterCompletion"] == "DELETE"
    assert "StartDate" not in deleted or deleted["StartDate"] is None


def test_names_are_short_and_their_mandates_own() -> None:
    workflow, node = WorkflowId("01kb2c3d4e5f6g7h8j9k0m1n2p"), NodeKey("n" * 40)
    names = {
        name_of(scope, workflow, key, index)
        for scope in (SCOPE, *STRANGERS)
        for key in (node, NodeKey("n" * 39))
        for index in (0, 1)
    }
    assert len(names) == 12
    assert max(map(len, names)) <= 64
    assert sum(name.startswith(prefix_of(SCOPE.mandate)) for name in names) == 8
    groups = {group_of("t", MandateId(f"m-{number}")) for number in range(2000)}
    assert len(groups) == GROUPS
