"""Each planned time gets its row: fired, skipped and why, or missed, and then made good."""

from __future__ import annotations

import itertools
import threading
from datetime import UTC, datetime, timedelta

import pytest

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    Forbidden,
    NotFound,
    ServiceUnavailable,
    StellwerkError,
)
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.limits import ConcurrencyReached
from stellwerk.tenancy.scope import of_platform
from stellwerk.triggers.schedules.model import Mark, Reason, Slot, SlotStatus
from stellwerk.triggers.schedules.rounds import GRACE, NotLooked
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from tests.fakes.clock import FixedClock
from tests.triggers.schedules.clockwork import HALF_PAST_SEVEN, NODE, PLATFORM, Clockwork

NINE = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
"""When the clock of the tests begins."""
HOURLY: JsonObject = {"interval": "PT1H"}
ALL = of_platform()


def hours(*numbers: float) -> list[datetime]:
    return [NINE + timedelta(hours=number) for number in numbers]


def statuses(rows: list[Slot]) -> list[str]:
    return [row.status.value for row in rows]


@pytest.fixture
def clockwork() -> Clockwork:
    found = Clockwork()
    found.arm(HOURLY)
    return found


def test_a_slot_starts_one_run_and_has_one_row_however_often_it_comes(
    clockwork: Clockwork,
) -> None:
    (ten,) = hours(1)
    clockwork.clock.advance(hours=1, seconds=20)
    results: list[Slot] = []
    threads = [
        threading.Thread(target=lambda: results.append(clockwork.fire(ten))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clockwork.starts.payloads == [{"at": instant(ten)}]
    (row,) = clockwork.rows()
    assert results == [row] * 8
    assert (row.status, row.at, row.run) == (SlotStatus.FIRED, ten, "r-1")
    assert row.late == timedelta(seconds=20)
    assert clockwork.fire(ten) == row


@pytest.mark.parametrize("jitter", [-20.0, 0.0, 25.0])
def test_a_slot_is_known_by_its_minute(clockwork: Clockwork, jitter: float) -> None:
    clockwork.clock.advance(hours=1)
    assert clockwork.fire(hours(1)[0] + timedelta(seconds=jitter)).at == hours(1)[0]


@pytest.mark.parametrize(
    ("refusal", "overlap", "reason"),
    [
        (Conflict("the workflow is not active"), "allow", Reason.INACTIVE),
        (BadInput("no published version"), "allow", Reason.INACTIVE),
        (NotFound("there is no workflow"), "allow", Reason.INACTIVE),
        (ConcurrencyReached("one run is open"), "skip", Reason.OVERLAP),
        (ConcurrencyReached("ten runs are open"), "allow", Reason.LIMIT),
    ],
)
def test_a_slot_that_is_skipped_says_why(
    refusal: StellwerkError, overlap: str, reason: Reason
) -> None:
    clockwork = Clockwork()
    clockwork.arm({**HOURLY, "overlap": overlap})
    clockwork.clock.advance(hours=1)
    clockwork.starts.refusal = refusal
    row = clockwork.fire(hours(1)[0])
    assert (row.status, row.reason, row.note) == (SlotStatus.SKIPPED, reason, refusal.message)
    assert clockwork.rows() == [row]
    assert clockwork.starts.overlaps == [overlap]
    assert clockwork.notices.told == []


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Forbidden("the owner may not", remedy="Give him a role."), Reason.RIGHTS),
        (InvalidGraph([Fault(Code.RESOURCE_MISSING, "no user u-1")]), Reason.INVALID),
    ],
)
def test_somebody_is_told_of_a_start_that_cannot_be(
    clockwork: Clockwork, refusal: StellwerkError, reason: Reason
) -> None:
    clockwork.starts.refusal = refusal
    clockwork.clock.advance(hours=1)
    assert clockwork.fire(hours(1)[0]).reason is reason
    (notice,) = clockwork.notices.told
    assert (notice.kind, notice.to) == ("schedule.refused", ("user:u-anna",))
    assert refusal.message in notice.text
    assert notice.about == {"workflow": "w-1", "node": "start"}


def test_what_is_skipped_may_be_fired_later_and_then_counts(clockwork: Clockwork) -> None:
    clockwork.clock.advance(hours=1)
    clockwork.starts.refusal = Forbidden("the owner may not")
    clockwork.fire(hours(1)[0])
    clockwork.starts.refusal = None
    clockwork.fire(hours(1)[0])
    assert statuses(clockwork.rows()) == ["fired"]


def test_a_try_that_may_be_repeated_leaves_no_row(clockwork: Clockwork) -> None:
    clockwork.starts.refusal = ServiceUnavailable("the table does not answer")
    with pytest.raises(ServiceUnavailable):
        clockwork.fire(hours(1)[0])
    assert clockwork.rows() == []


def test_times_that_nobody_plans_any_more_start_nothing(clockwork: Clockwork) -> None:
    clockwork.arm(HALF_PAST_SEVEN)
    assert clockwork.fire(hours(1)[0]).reason is Reason.UNPLANNED
    assert clockwork.fire(hours(2)[0], NodeKey("other")).reason is Reason.INACTIVE
    clockwork.arm()
    assert clockwork.fire(hours(3)[0]).reason is Reason.INACTIVE
    assert clockwork.fire(hours(4)[0], name="w-unknown").reason is Reason.INACTIVE
    assert clockwork.starts.payloads == []


def test_slots_without_a_row_are_missed_and_somebody_is_told_once(clockwork: Clockwork) -> None:
    clockwork.clock.advance(hours=2)
    clockwork.fire(hours(2)[0])
    rows = clockwork.look(hours=1, minutes=30)
    assert [(row.at, row.status.value) for row in rows] == [
        (hours(1)[0], "missed"),
        (hours(2)[0], "fired"),
        (hours(3)[0], "missed"),
    ]
    assert clockwork.registered().owed == ()
    (notice,) = clockwork.notices.told
    assert (notice.kind, notice.group) == ("schedule.missed", "schedule.missed w-1")
    assert "2026-11-02T10:00:00.000Z, 2026-11-02T12:00:00.000Z" in notice.text
    assert clockwork.look() == rows
    assert len(clockwork.notices.told) == 1


def test_a_run_whose_row_was_not_written_gets_it(clockwork: Clockwork) -> None:
    clockwork.clock.advance(hours=1)
    delivery = f"start {instant(hours(1)[0])}"
    run = clockwork.starts.fire(PLATFORM, WorkflowId("w-1"), trigger=NODE, delivery=delivery)
    (row,) = clockwork.look(minutes=20)
    assert (row.status, row.run, row.late) == (SlotStatus.FIRED, run.id, timedelta())
    assert clockwork.notices.told == []


def test_only_while_it_was_armed_slots_can_be_missed(clockwork: Clockwork) -> None:
    clockwork.clock.advance(hours=2)
    clockwork.arm()
    clockwork.clock.advance(hours=2)
    clockwork.arm({"interval": "PT2H"})
    rows = clockwork.look(hours=3)
    assert [row.at for row in rows] == hours(1, 2, 5, 7)
    assert len(clockwork.registered().spans) == 1


@pytest.mark.parametrize(
    ("catch_up", "made_good"),
    [({"catch_up": "last"}, [5]), ({"catch_up": "all", "catch_up_cap": 3}, [3, 4, 5])],
)
def test_after_an_outage_what_the_trigger_wants_is_made_good(
    catch_up: JsonObject, made_good: list[int]
) -> None:
    clockwork = Clockwork()
    clockwork.arm({**HOURLY, **catch_up, "catch_up_spacing": "PT10M"})
    clockwork.look(hours=5, minutes=30)
    assert [one.slot for one in clockwork.registered().owed] == hours(*made_good)
    for done in range(1, len(made_good) + 1):
        clockwork.missed.pay(PLATFORM, clockwork.registered())
        clockwork.missed.pay(PLATFORM, clockwork.registered())
        fired = [row for row in clockwork.rows() if row.status is SlotStatus.FIRED]
        assert [row.at for row in fired] == hours(*made_good[:done])
        assert all(row.caught_up for row in fired)
        clockwork.clock.advance(minutes=10)
    assert clockwork.registered().owed == ()
    assert statuses(clockwork.rows()) == ["missed"] * (5 - len(made_good)) + ["fired"] * len(
        made_good
    )


def test_what_is_owed_is_forgotten_where_the_trigger_goes() -> None:
    clockwork = Clockwork()
    clockwork.arm({**HOURLY, "catch_up": "last"}, HOURLY)
    clockwork.look(hours=1, minutes=30)
    clockwork.arm(HALF_PAST_SEVEN)
    clockwork.missed.pay(PLATFORM, clockwork.registered())
    assert clockwork.registered().owed == ()
    clockwork.arm()
    assert clockwork.starts.payloads == [{"at": instant(hours(1)[0])}]


def test_a_look_that_could_not_note_what_is_owed_is_made_again() -> None:
    clockwork = Clockwork()
    found = clockwork.arm({**HOURLY, "catch_up": "last"})
    assert found is not None
    clockwork.arm({**HOURLY, "catch_up": "last", "overlap": "skip"})
    until = clockwork.clock.advance(hours=2, minutes=30)
    assert clockwork.missed.look(PLATFORM, found, until) == found
    assert statuses(clockwork.rows()) == ["missed", "missed"]
    assert clockwork.registered().owed == ()
    clockwork.look()
    assert [one.slot for one in clockwork.registered().owed] == hours(2)


def test_without_spacing_all_start_at_once() -> None:
    clockwork = Clockwork()
    clockwork.arm({**HOURLY, "catch_up": "all", "catch_up_spacing": "PT0S"})
    clockwork.look(hours=4, minutes=30)
    clockwork.missed.pay(PLATFORM, clockwork.registered())
    assert statuses(clockwork.rows()) == ["fired"] * 4


def test_a_long_outage_is_looked_at_in_pieces_and_no_slot_is_left_out() -> None:
    clockwork = Clockwork()
    clockwork.arm({"interval": "every minute", "catch_up": "last"})
    rows = clockwork.look(days=2)
    assert len(rows) == 2 * 24 * 60
    assert {after.at - before.at for before, after in itertools.pairwise(rows)} == {
        timedelta(minutes=1)
    }
    owed = clockwork.registered().owed
    assert owed[-1].slot == rows[-1].at


@pytest.mark.parametrize("nonexistent", ["run_after", "skip"])
def test_a_time_that_the_clocks_leave_out_runs_after_the_gap_or_not_at_all(
    nonexistent: str,
) -> None:
    gap = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    clockwork = Clockwork(clock=FixedClock(gap - timedelta(minutes=30)))
    clockwork.arm({"cron": "30 2 * * *", "nonexistent": nonexistent})
    round_(clockwork)
    mark = clockwork.marks.read(ALL)
    assert mark is not None
    assert mark.due == gap
    clockwork.clock.advance(minutes=31)
    round_(clockwork)
    rows = clockwork.rows()
    assert [(row.at, row.status.value) for row in rows] == (
        [(gap, "fired")] if nonexistent == "run_after" else []
    )
    clockwork.clock.advance(hours=5)
    round_(clockwork, at_once=True)
    assert clockwork.rows() == rows


def round_(clockwork: Clockwork, *, at_once: bool = False) -> JsonObject:
    deadline = Deadline.within(clockwork.clock, 600)
    if at_once:
        return clockwork.rounds.at_once(deadline)
    return clockwork.rounds.go(deadline)


def test_a_round_is_made_once_a_day(clockwork: Clockwork) -> None:
    assert round_(clockwork) == {"looked": 1, "repaired": 0}
    clockwork.clock.advance(hours=23)
    assert round_(clockwork) == {"looked": 0, "repaired": 0}
    clockwork.clock.advance(hours=2)
    clockwork.fake.entries.clear()
    assert round_(clockwork) == {"looked": 1, "repaired": 1}
    assert statuses(clockwork.rows()) == ["missed"] * 24
    assert clockwork.registered().checked == clockwork.clock.now() - GRACE


def test_what_is_owed_makes_the_next_round_come_sooner() -> None:
    clockwork = Clockwork()
    clockwork.arm({**HOURLY, "catch_up": "all", "catch_up_spacing": "PT20M"})
    clockwork.clock.advance(hours=3, minutes=30)
    round_(clockwork)
    clockwork.fake.entries.clear()
    for done in (1, 2, 3):
        assert statuses(clockwork.rows()).count("fired") == done
        clockwork.clock.advance(minutes=20)
        found = round_(clockwork)
        assert found == {"looked": 1 if done < 3 else 0, "repaired": 0}


def test_what_is_wrong_with_a_mandate_stays_with_it(clockwork: Clockwork) -> None:
    clockwork.fake.down = True
    clockwork.fake.entries.clear()
    with pytest.raises(NotLooked, match="m-one"):
        round_(clockwork)
    clockwork.fake.down = False
    assert round_(clockwork, at_once=True)["looked"] == 1


def test_a_round_without_time_leaves_the_rest_to_the_next_one(clockwork: Clockwork) -> None:
    clockwork.clock.advance(days=1)
    spent = Deadline.within(clockwork.clock, 0)
    assert clockwork.rounds.go(spent) == {"looked": 0, "repaired": 0}
    assert clockwork.rows() == []
    assert clockwork.marks.read(ALL) is None
    assert round_(clockwork)["looked"] == 1
    assert clockwork.marks.read(ALL) != Mark(due=NINE)
