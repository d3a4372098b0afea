"""Schedules are shown to who may read their workflows, and previewed to everybody."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.drift import Kind
from stellwerk.triggers.schedules.model import SlotStatus
from stellwerk.triggers.schedules.timing import BadSchedule
from tests.fakes.clock import START
from tests.triggers.schedules.clockwork import Clockwork
from tests.workflows.desk import ABROAD, ANNA, BEN, CARA, NEXT_DOOR, NOBODY

EITHER: JsonObject = {"cron": "0 12 1 * MON", "zone": "America/New_York"}


@pytest.fixture
def clockwork() -> Clockwork:
    found = Clockwork()
    found.arm(EITHER, {"interval": "every hour"})
    return found


def test_a_workflow_shows_its_next_times_its_handle_and_its_last_times(
    clockwork: Clockwork,
) -> None:
    clockwork.look(hours=2, minutes=1)
    shown = clockwork.desk.of_workflow(CARA, "w-1")
    either, hourly = shown.schedules
    assert either.next == [
        "2026-11-02T12:00:00-05:00",
        "2026-11-09T12:00:00-05:00",
        "2026-11-16T12:00:00-05:00",
        "2026-11-23T12:00:00-05:00",
        "2026-11-30T12:00:00-05:00",
    ]
    assert [one.text for one in either.handle] == ["cron(0 12 1 * ? *)", "cron(0 12 ? * MON *)"]
    assert either.group.startswith("t-")
    assert hourly.next[0] == "2026-11-02T13:00:00+01:00"
    assert [slot.status for slot in shown.slots] == [SlotStatus.MISSED] * 2
    assert shown.slots[0].at > shown.slots[1].at


def test_no_more_than_fifty_times_are_shown(clockwork: Clockwork) -> None:
    clockwork.look(days=3)
    assert len(clockwork.desk.of_workflow(ANNA, WorkflowId("w-1")).slots) == 50


def test_a_workflow_without_schedules_shows_none(clockwork: Clockwork) -> None:
    clockwork.workflow("w-plain")
    shown = clockwork.desk.of_workflow(ANNA, "w-plain")
    assert (shown.schedules, shown.slots) == ([], [])


@pytest.mark.parametrize("stranger", [NOBODY, ABROAD, NEXT_DOOR], ids=lambda one: one.mandate)
def test_who_may_not_read_it_finds_nothing(clockwork: Clockwork, stranger: Scope) -> None:
    with pytest.raises((NotFound, Forbidden)):
        clockwork.desk.of_workflow(stranger, "w-1")


def test_an_instance_shows_what_is_due_late_and_missed(clockwork: Clockwork) -> None:
    clockwork.arm({"at": "2026-12-24T18:00:00"}, name="w-2")
    clockwork.clock.advance(hours=1, minutes=5)
    clockwork.fire(START.replace(hour=10), node=NodeKey("start1"))
    clockwork.look(hours=1)
    shown = clockwork.desk.of_instance(CARA, cursor=None, limit=1)
    assert [one.workflow.id for one in shown.schedules.items] == ["w-1", "w-1"]
    assert [(slot.at.hour, slot.run) for slot in shown.late] == [(10, "r-1")]
    assert [slot.at.hour for slot in shown.missed] == [11]
    rest = clockwork.desk.of_instance(CARA, cursor=shown.schedules.cursor, limit=1)
    (once,) = rest.schedules.items
    assert (once.next, rest.schedules.cursor) == (["2026-12-24T18:00:00+01:00"], None)


def test_a_list_shows_only_what_its_reader_may_read(clockwork: Clockwork) -> None:
    clockwork.look(hours=1, minutes=1)
    shown = clockwork.desk.of_instance(BEN, cursor=None, limit=9)
    assert (shown.schedules.items, shown.late, shown.missed) == ([], [], [])
    with pytest.raises(Forbidden):
        clockwork.desk.of_instance(NOBODY, cursor=None, limit=9)
    foreign = clockwork.desk.of_instance(ABROAD, cursor=None, limit=9)
    assert (foreign.schedules.items, foreign.missed) == ([], [])


def test_a_preview_tells_the_times_and_what_would_be_registered(clockwork: Clockwork) -> None:
    shown = clockwork.desk.preview({"cron": "30 2 29 2 *"}, 2)
    assert shown.times == ["2028-02-29T02:30:00+01:00", "2032-02-29T02:30:00+01:00"]
    assert [one.text for one in shown.expressions] == ["cron(30 2 29 FEB ? *)"]
    over = clockwork.desk.preview({"at": "2020-01-01T00:00:00"})
    assert over.times == []


@pytest.mark.parametrize(
    ("parameters", "places"),
    [
        ({}, ["cron"]),
        ({"cron": "* * * * *", "interval": "PT1M"}, ["interval"]),
        ({"cron": "60 * * * *", "zone": "Mars"}, ["zone", "cron"]),
        ({"interval": 5}, ["interval"]),
        ({"interval": "every 400 days"}, ["interval"]),
        ({"interval": "P", "catch_up": "some"}, ["interval", "catch_up"]),
        ({"interval": "PT1M", "catch_up_cap": 0}, ["catch_up_cap"]),
        ({"interval": "PT1M", "catch_up_cap": True}, ["catch_up_cap"]),
        ({"interval": "PT1M", "catch_up_spacing": "P2D"}, ["catch_up_spacing"]),
        ({"at": "2026-12-24T18:00:30"}, ["at"]),
        ({"at": "2026-12-24T18:00:00", "zone": "localtime"}, ["zone"]),
        ({"cron": "{{ $vars.cron }}"}, ["cron"]),
        ({"cron": "0 0 * * 1,5L"}, ["cron"]),
        ({"cron": "0 0 * * 1#6"}, ["cron"]),
        ({"cron": "0 0 15W * *"}, ["cron"]),
        ({"cron": "0 0 * * MON-"}, ["cron"]),
        ({"cron": "0 0 5-1 * *"}, ["cron"]),
        ({"cron": "*/0 0 * * *"}, ["cron"]),
        ({"cron": "0 0 31 4,6 *"}, ["cron"]),
        ({"cron": "@daily"}, ["cron"]),
    ],
)
def test_what_is_wrong_is_said_of_each_parameter(
    clockwork: Clockwork, parameters: JsonObject, places: list[str]
) -> None:
    with pytest.raises(BadSchedule) as caught:
        clockwork.desk.preview(parameters)
    assert [fault.parameter for fault in caught.value.faults] == places


def test_reconciling_is_for_who_may_change_all_and_is_on_record(clockwork: Clockwork) -> None:
    clockwork.fake.entries.clear()
    for person in (BEN, CARA, NOBODY):
        with pytest.raises(Forbidden):
            clockwork.desk.reconcile(person)
    assert [repair.kind for repair in clockwork.desk.reconcile(ANNA).repairs] == [Kind.MISSING] * 3
    acts = [(record.action, str(record.outcome)) for record in clockwork.log.all(ANNA.mandate)]
    assert acts == [("schedule.reconcile", "begun"), ("schedule.reconcile", "done")]
