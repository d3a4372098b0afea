"""What is registered follows what is armed, by difference; in memory and on moto."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import boto3
import pytest
from moto import mock_aws
from moto.scheduler.models import scheduler_backends

from localcloud.scheduler.backend import repaired
from stellwerk.aws.scheduler import EventBridgeScheduler, Target
from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.schedules.drift import Kind
from stellwerk.triggers.schedules.model import Planned, Registration
from tests.contracts.records import SCOPE
from tests.fakes.clock import FixedClock
from tests.fakes.schedules import FakeRegistrations, FakeScheduler
from tests.triggers.schedules.clockwork import HALF_PAST_SEVEN, PLATFORM, Clockwork

ACCOUNT, REGION = "123456789012", "us-east-1"
MANY = 500
EITHER: JsonObject = {"cron": "0 12 1 * MON"}


@dataclass
class Requests:
    """Requests to moto's Scheduler, by operation."""

    made: list[str] = field(default_factory=list)

    def note(self, model: object, **rest: object) -> None:
        self.made.append(str(getattr(model, "name", "")))


@pytest.fixture
def requests() -> Requests:
    return Requests()


@pytest.fixture
def on_moto(requests: Requests) -> Iterator[Clockwork]:
    with mock_aws():
        scheduler_backends[ACCOUNT].pop(REGION, None)
        repaired(ACCOUNT, REGION)
        client = boto3.Session("test", "test", region_name=REGION).client("scheduler")
        client.meta.events.register("before-call.scheduler.*", requests.note)
        target = Target(
            "t", f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:f", "arn:aws:iam::1:role/r"
        )
        clock = FixedClock(datetime.now(UTC))
        yield Clockwork(scheduler=EventBridgeScheduler(lambda: client, target), clock=clock)


@pytest.fixture(params=["fake", "moto"])
def clockwork(request: pytest.FixtureRequest) -> Clockwork:
    if request.param == "fake":
        return Clockwork()
    found: Clockwork = request.getfixturevalue("on_moto")
    return found


def texts(clockwork: Clockwork) -> list[str]:
    """Return what the Scheduler holds."""
    names = sorted(found.name for found in clockwork.scheduler.listed(SCOPE))
    held = [clockwork.scheduler.held(SCOPE, name) for name in names]
    return sorted(one.text for one in held if one is not None)


def test_what_is_armed_is_registered_and_what_is_not_any_more_is_gone(
    clockwork: Clockwork,
) -> None:
    clockwork.arm(HALF_PAST_SEVEN)
    assert texts(clockwork) == ["cron(30 7 * * ? *)"]
    clockwork.arm(EITHER, {"interval": "PT15M"})
    assert texts(clockwork) == [
        "cron(0 12 1 * ? *)",
        "cron(0 12 ? * MON *)",
        "rate(15 minutes)",
    ]
    clockwork.arm({"interval": "PT15M"})
    assert texts(clockwork) == ["rate(15 minutes)"]
    clockwork.arm()
    assert texts(clockwork) == []
    assert clockwork.registered().planned == ()


def test_of_500_schedules_a_change_tells_the_scheduler_of_that_one_alone() -> None:
    clockwork = Clockwork()
    for number in range(MANY):
        clockwork.arm({"cron": f"{number % 60} {number % 24} * * *"}, name=f"w-{number}")
    calls = clockwork.fake.calls
    assert len(calls) == MANY
    calls.clear()
    for number in range(MANY):
        clockwork.arm({"cron": f"{number % 60} {number % 24} * * *"}, name=f"w-{number}")
    assert calls == []
    clockwork.arm({"cron": "59 23 * * *"}, name="w-77")
    (put,) = calls
    assert put == ("put", clockwork.registered("w-77").planned[0].name)
    calls.clear()
    clockwork.arm(EITHER, name="w-78")
    assert len(calls) == 2
    calls.clear()
    clockwork.arm({"cron": "0 13 1 * MON"}, name="w-78")
    assert [what for what, _ in calls] == ["put", "put"]
    calls.clear()
    clockwork.arm({"cron": "0 13 * * MON"}, name="w-78")
    assert sorted(what for what, _ in calls) == ["put", "remove"]


def test_on_moto_too_a_change_is_one_request_and_none_is_none(
    on_moto: Clockwork, requests: Requests
) -> None:
    for number in range(MANY):
        on_moto.arm({"cron": f"{number % 60} {number % 24} * * *"}, name=f"w-{number}")
    assert requests.made.count("CreateSchedule") == MANY + 1  # the first one found no group
    assert requests.made.count("CreateScheduleGroup") == 1
    requests.made.clear()
    for number in range(MANY):
        on_moto.arm({"cron": f"{number % 60} {number % 24} * * *"}, name=f"w-{number}")
    assert requests.made == []
    on_moto.arm({"cron": "59 23 * * *"}, name="w-77")
    assert requests.made == ["UpdateSchedule"]
    requests.made.clear()
    on_moto.arm(EITHER, name="w-new")
    assert requests.made == ["CreateSchedule", "CreateSchedule"]
    requests.made.clear()
    on_moto.arm({"cron": "0 13 1 * MON"}, name="w-new")
    assert requests.made == ["UpdateSchedule", "UpdateSchedule"]
    requests.made.clear()
    on_moto.arm(name="w-77")
    assert requests.made == ["DeleteSchedule"]


def test_what_only_holds_otherwise_costs_no_call() -> None:
    clockwork = Clockwork()
    clockwork.arm(HALF_PAST_SEVEN)
    before = clockwork.registered()
    clockwork.fake.calls.clear()
    clockwork.clock.advance(hours=1)
    clockwork.arm({**HALF_PAST_SEVEN, "catch_up": "last", "overlap": "skip"})
    assert clockwork.fake.calls == []
    after = clockwork.registered()
    assert [span.until for span in after.spans] == [clockwork.clock.now(), None]
    assert after.planned == before.planned


def test_a_workflow_without_schedules_leaves_nothing(clockwork: Clockwork) -> None:
    assert clockwork.arm() is None
    node = TriggerNode(NodeKey("by_hand"), "trigger.manual", {})
    clockwork.part.synchronise(SCOPE, Armed(clockwork.workflow(), (node,)))
    assert clockwork.registrations.get(SCOPE, WorkflowId("w-1")) is None


def test_parameters_that_are_no_schedule_register_nothing(clockwork: Clockwork) -> None:
    clockwork.arm({"cron": "never"}, {"cron": "{{ $vars.when }}"})
    assert texts(clockwork) == []


def test_a_time_that_is_over_is_not_registered_and_one_that_fires_once_goes_by_itself() -> None:
    clockwork = Clockwork()
    clockwork.arm({"at": "2026-11-01T10:00:00"}, {"at": "2026-12-24T18:00:00"})
    assert [what for what, _ in clockwork.fake.calls] == ["put"]
    clockwork.clock.advance(days=90)
    clockwork.fake.entries.clear()
    clockwork.fake.calls.clear()
    clockwork.arm({"at": "2026-11-01T10:00:00"}, {"at": "2026-12-24T18:00:00"})
    assert clockwork.fake.calls == []
    assert clockwork.drift.repair([PLATFORM]).repairs == []


def test_an_older_state_of_the_workflow_changes_nothing() -> None:
    clockwork = Clockwork()
    workflow = clockwork.workflow()
    node = TriggerNode(NodeKey("start"), "trigger.schedule", HALF_PAST_SEVEN)
    newer = workflow.model_copy(update={"revision": workflow.revision + 1})
    clockwork.part.synchronise(SCOPE, Armed(newer, (node,)))
    clockwork.part.synchronise(SCOPE, Armed(workflow))
    assert texts(clockwork) == ["cron(30 7 * * ? *)"]


def test_a_change_that_was_interrupted_is_ended_by_the_next_one() -> None:
    clockwork = Clockwork()
    clockwork.fake.down = True
    with pytest.raises(ServiceUnavailable):
        clockwork.arm(HALF_PAST_SEVEN)
    assert clockwork.registered().unsettled != ()
    clockwork.fake.down = False
    clockwork.arm(HALF_PAST_SEVEN)
    assert texts(clockwork) == ["cron(30 7 * * ? *)"]
    assert clockwork.registered().unsettled == ()


def test_of_many_at_once_the_last_state_is_registered() -> None:
    clockwork = Clockwork()
    workflow = clockwork.workflow()

    def arm(revision: int) -> None:
        parameters: JsonObject = {"cron": f"{revision} 7 * * *"}
        node = TriggerNode(NodeKey("start"), "trigger.schedule", parameters)
        now = workflow.model_copy(update={"revision": revision})
        clockwork.part.synchronise(SCOPE, Armed(now, (node,) if revision % 2 else ()))

    for last in (20, 31):
        threads = [threading.Thread(target=arm, args=(each,)) for each in range(last - 8, last + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts(clockwork) == ([f"cron({last} 7 * * ? *)"] if last % 2 else [])
        assert clockwork.registered().unsettled == ()


def test_drift_is_found_mended_and_told(clockwork: Clockwork) -> None:
    for number in range(4):
        clockwork.arm(HALF_PAST_SEVEN, name=f"w-{number}")
    names = [clockwork.registered(f"w-{number}").planned[0].name for number in range(4)]
    assert clockwork.drift.repair([PLATFORM]).repairs == []
    clockwork.scheduler.remove(SCOPE, names[0])
    wrong = clockwork.registered("w-1").planned[0].model_copy(update={"text": "rate(7 days)"})
    clockwork.scheduler.put(SCOPE, WorkflowId("w-1"), wrong, new=False, now=clockwork.clock.now())
    stray = wrong.model_copy(update={"name": names[1].replace("w-1", "w-9")})
    clockwork.scheduler.put(SCOPE, WorkflowId("w-9"), stray, new=True, now=clockwork.clock.now())
    report = clockwork.drift.repair([PLATFORM])
    assert report.compared == 4
    assert [(repair.kind, repair.schedule) for repair in report.repairs] == [
        (Kind.MISSING, names[0]),
        (Kind.CHANGED, names[1]),
        (Kind.STRAY, stray.name),
    ]
    assert texts(clockwork) == ["cron(30 7 * * ? *)"] * 4
    assert clockwork.drift.repair([PLATFORM]).repairs == []


def test_a_schedule_that_was_switched_off_is_switched_on_again() -> None:
    clockwork = Clockwork()
    clockwork.arm(HALF_PAST_SEVEN)
    (name,) = clockwork.fake.entries
    clockwork.fake.change(name, clockwork.clock.advance(days=1), enabled=False)
    (repair,) = clockwork.drift.repair([PLATFORM]).repairs
    assert (repair.kind, repair.workflow) == (Kind.CHANGED, "w-1")
    assert clockwork.fake.entries[name].held.enabled


def test_what_was_published_and_not_registered_is_registered() -> None:
    clockwork = Clockwork()
    clockwork.arm(HALF_PAST_SEVEN)
    workflow = clockwork.workflow("w-2")
    versions = clockwork.stores.versions
    versions.change(SCOPE, workflow, workflow.model_copy(update={"published": 1}))
    nodes = (TriggerNode(NodeKey("start"), "trigger.schedule", {"interval": "PT1H"}),)
    clockwork.arming.armed_nodes[workflow.id] = nodes
    (repair,) = clockwork.drift.repair([PLATFORM]).repairs
    assert (repair.kind, repair.workflow) == (Kind.UNARMED, "w-2")
    assert texts(clockwork) == ["cron(30 7 * * ? *)", "rate(60 minutes)"]


def test_another_mandate_is_no_stray() -> None:
    clockwork = Clockwork()
    clockwork.arm(HALF_PAST_SEVEN)
    stranger = of_platform().at(SCOPE.instance)
    assert clockwork.drift.repair([stranger]).repairs == []
    assert texts(clockwork) == ["cron(30 7 * * ? *)"]
    assert isinstance(clockwork.scheduler, FakeScheduler)


@dataclass
class Overtaken(FakeScheduler):
    """Lets another process change the workflow while the Scheduler is being told."""

    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    def put(
        self, scope: Scope, workflow: WorkflowId, planned: Planned, *, new: bool, now: datetime
    ) -> None:
        if self.meanwhile:
            self.meanwhile.pop()()
        super().put(scope, workflow, planned, new=new, now=now)


@pytest.mark.parametrize("wanted", [(), ({"cron": "0 9 * * *"},), (HALF_PAST_SEVEN, EITHER)])
def test_a_call_that_comes_late_is_made_good_by_whoever_made_it(
    wanted: tuple[JsonObject, ...],
) -> None:
    scheduler = Overtaken()
    overtaken, quiet = Clockwork(scheduler=scheduler), Clockwork()
    scheduler.meanwhile.append(lambda: publish(overtaken, 9, *wanted))
    publish(overtaken, 8, HALF_PAST_SEVEN)
    publish(quiet, 9, *wanted)
    assert texts(overtaken) == texts(quiet)


def publish(clockwork: Clockwork, revision: int, *parameters: JsonObject) -> None:
    """Arm a later state of the workflow than is stored."""
    nodes = tuple(
        TriggerNode(NodeKey(f"start{at}"), "trigger.schedule", one)
        for at, one in enumerate(parameters)
    )
    now = clockwork.workflow().model_copy(update={"revision": revision})
    clockwork.part.synchronise(SCOPE, Armed(now, nodes))


def test_too_many_at_once_are_asked_to_repeat() -> None:
    clockwork = Clockwork(registrations=Refusing())
    with pytest.raises(ServiceUnavailable, match="too many at once"):
        clockwork.arm(HALF_PAST_SEVEN)
    assert clockwork.fake.calls == []


class Refusing(FakeRegistrations):
    """Somebody else is always faster."""

    def write(self, scope: Scope, registration: Registration) -> Registration:
        raise Conflict("it has changed")
