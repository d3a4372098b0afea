from __future__ import annotations

import contextlib
import itertools
import json

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden
from stellwerk.tenancy.audit import AuditService
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord, Outcome, place_of
from stellwerk.tenancy.verification import FaultKind
from tests.audit.people import ANNA, BERT, DAY, NEXT_DAY, NOBODY
from tests.contracts.audit_logs import Evidence
from tests.fakes.clock import FixedClock

LAST_DAY = "2026-11-04"


class Story:
    """Three days with three acts each, ten minutes apart; the last day is over."""

    def __init__(self, evidence: Evidence) -> None:
        self.clock = FixedClock()
        self.evidence = evidence
        self.audit = ChainedAudit(evidence.log, self.clock)
        self.service = AuditService(evidence.log, self.clock)
        for _ in range(3):
            for number in range(3):
                with self.audit.act(ANNA, "workflow.publish", f"workflow:{number}"):
                    self.clock.advance(minutes=10)
            self.clock.advance(hours=23, minutes=30)

    def record(self, number: int, day: str = DAY) -> AuditRecord:
        records = [entry.record for entry in self.evidence.log.entries(ANNA, day)]
        found = records[number - 1]
        assert found is not None
        return found

    def faults(self, *days: str) -> list[tuple[str, int, FaultKind]]:
        found = self.service.verify(ANNA, list(days) or None).faults
        return [(fault.day, int(fault.place), fault.kind) for fault in found]


@pytest.fixture
def story(evidence: Evidence) -> Story:
    return Story(evidence)


def test_a_whole_chain_is_found_whole(story: Story) -> None:
    verification = story.service.verify(ANNA)
    assert (verification.days, verification.records, verification.faults) == (3, 18, [])
    one = story.service.verify(ANNA, [NEXT_DAY])
    assert (one.days, one.records, one.faults) == (1, 6, [])
    assert story.service.verify(ANNA, ["2026-12-24"]).records == 0


def test_an_edited_record_is_found(story: Story) -> None:
    story.evidence.edit(ANNA, story.record(4), user="u-bert")
    assert story.faults() == [(DAY, 4, FaultKind.EDITED)]
    assert story.faults(DAY) == [(DAY, 4, FaultKind.EDITED)]
    assert story.faults(NEXT_DAY) == []


def test_an_edited_record_with_a_new_hash_is_found_by_the_next(story: Story) -> None:
    edited = story.record(4).model_copy(update={"reason": "all in order"}).sealed()
    story.evidence.hands.put(ANNA, DAY, place_of(4), edited.model_dump_json())
    assert story.faults() == [(DAY, 5, FaultKind.BROKEN)]


def test_the_last_record_of_a_day_edited_with_a_new_hash_is_found_by_the_next_day(
    story: Story,
) -> None:
    edited = story.record(6).model_copy(update={"reason": "all in order"}).sealed()
    story.evidence.hands.put(ANNA, DAY, place_of(6), edited.model_dump_json())
    assert story.faults() == [(NEXT_DAY, 1, FaultKind.BROKEN)]
    assert story.faults(NEXT_DAY) == [(NEXT_DAY, 1, FaultKind.BROKEN)]


def test_a_record_that_cannot_be_read_is_found(story: Story) -> None:
    story.evidence.hands.put(ANNA, DAY, place_of(4), "{}")
    assert story.faults() == [
        (DAY, 4, FaultKind.UNREADABLE),
        (DAY, 3, FaultKind.UNKNOWN),
    ]


@pytest.mark.parametrize("number", [1, 3, 5])
def test_a_removed_beginning_is_found(story: Story, number: int) -> None:
    story.evidence.hands.remove(ANNA, DAY, place_of(number))
    assert story.faults() == [
        (DAY, number + 1, FaultKind.MISSING),
        (DAY, number + 1, FaultKind.UNMATCHED),
    ]


def test_a_removed_end_is_found(story: Story) -> None:
    story.evidence.hands.remove(ANNA, DAY, place_of(4))
    assert story.faults() == [(DAY, 5, FaultKind.MISSING), (DAY, 3, FaultKind.UNKNOWN)]


def test_a_whole_act_removed_from_the_end_of_a_day_is_found_by_the_next_day(story: Story) -> None:
    for number in (5, 6):
        story.evidence.hands.remove(ANNA, DAY, place_of(number))
    assert story.faults() == [(NEXT_DAY, 1, FaultKind.BROKEN)]


def test_several_removed_records_are_told_as_one_gap(story: Story) -> None:
    for number in (2, 3, 4):
        story.evidence.hands.remove(ANNA, DAY, place_of(number))
    found = story.service.verify(ANNA).faults
    assert "records 2 to 4 before it are gone" in [fault.message for fault in found]


def test_a_removed_day_is_found(story: Story) -> None:
    for number in range(1, 7):
        story.evidence.hands.remove(ANNA, NEXT_DAY, place_of(number))
    story.evidence.hands.remove_day(ANNA, NEXT_DAY)
    assert story.faults() == [(LAST_DAY, 1, FaultKind.MISSING)]


def test_a_day_that_is_only_hidden_is_found(story: Story) -> None:
    story.evidence.hands.remove_day(ANNA, NEXT_DAY)
    assert story.faults() == [(LAST_DAY, 1, FaultKind.MISSING)]


def test_an_inserted_record_is_found(story: Story) -> None:
    copy = story.record(4).model_dump_json()
    story.evidence.hands.put(ANNA, DAY, place_of(7), copy)
    assert story.faults() == [(DAY, 7, FaultKind.MISPLACED)]


def test_an_inserted_record_that_looks_right_is_found_where_the_chain_goes_on(
    story: Story,
) -> None:
    last = story.record(6)
    new = {"number": 7, "previous": last.hash, "outcome": Outcome.DENIED, "begun": None}
    forged = last.model_copy(update=new).sealed()
    story.evidence.hands.put(ANNA, DAY, place_of(7), forged.model_dump_json())
    edited = story.record(2).model_copy(update=new | {"number": 2}).sealed()
    story.evidence.hands.put(ANNA, DAY, place_of(2), edited.model_dump_json())
    assert (DAY, 2, FaultKind.BROKEN) in story.faults()
    assert (DAY, 3, FaultKind.BROKEN) in story.faults()


def test_an_inserted_day_is_found(story: Story) -> None:
    between, clock = FixedClock(), story.clock
    between.advance(days=30)
    clock.advance(days=60)
    ChainedAudit(story.evidence.log, clock).denied(ANNA, "a.a", "", "late")
    ChainedAudit(story.evidence.log, between).denied(ANNA, "a.a", "", "forged")
    found = story.service.verify(ANNA).faults
    assert [fault.message for fault in found] == [
        "it follows a record of 2026-11-04: 2026-12-02 was inserted"
    ]


def test_an_inserted_first_day_is_found(story: Story) -> None:
    before = FixedClock()
    before.advance(days=-30)
    ChainedAudit(story.evidence.log, before).denied(ANNA, "a.a", "", "forged")
    assert story.faults() == [(DAY, 1, FaultKind.BROKEN)]


def test_a_second_end_of_an_act_is_found(story: Story) -> None:
    last = story.record(6, LAST_DAY)
    new = {"number": 7, "previous": last.hash}
    story.evidence.log.append(ANNA, last.model_copy(update=new).sealed())
    assert story.faults() == [(LAST_DAY, 7, FaultKind.UNMATCHED)]


def test_an_act_without_an_end_has_an_unknown_outcome_once_nobody_can_be_at_it(
    story: Story,
) -> None:
    with contextlib.suppress(KeyboardInterrupt), story.audit.act(ANNA, "run.cancel", "run:r-1"):
        raise KeyboardInterrupt
    day = f"{story.clock.now():%Y-%m-%d}"
    story.clock.advance(minutes=14)
    assert story.faults() == []
    story.clock.advance(minutes=2)
    assert story.faults() == [(day, 1, FaultKind.UNKNOWN)]
    (fault,) = story.service.verify(ANNA).faults
    assert "'run.cancel' on 'run:r-1' by 'u-anna'" in fault.message
    assert fault.as_json()["kind"] == "outcome unknown"


def test_an_act_may_end_on_the_next_day(evidence: Evidence) -> None:
    clock = FixedClock()
    audit, service = ChainedAudit(evidence.log, clock), AuditService(evidence.log, clock)
    clock.advance(hours=14, minutes=59)
    with audit.act(ANNA, "a.a"):
        clock.advance(minutes=2)
    clock.advance(days=5)
    assert service.verify(ANNA).faults == []
    assert service.verify(ANNA, [DAY]).faults == []
    assert service.verify(ANNA, [NEXT_DAY]).faults == []
    evidence.hands.remove(ANNA, DAY, place_of(1))
    kinds = [fault.kind for fault in service.verify(ANNA, [NEXT_DAY]).faults]
    assert kinds == [FaultKind.BROKEN, FaultKind.UNMATCHED]


def test_the_export_is_json_lines_from_which_the_chain_can_be_checked(story: Story) -> None:
    lines = list(story.service.export(ANNA))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    records = [AuditRecord.model_validate_json(line) for line in lines]
    assert len(records) == 18
    for before, after in itertools.pairwise(records):
        assert after.previous == before.hash
        assert after.hash == after.expected_hash()
    assert json.loads(lines[0])["action"] == "workflow.publish"
    assert len(list(story.service.export(ANNA, NEXT_DAY, NEXT_DAY))) == 6
    assert len(list(story.service.export(ANNA, NEXT_DAY))) == 12
    story.evidence.hands.put(ANNA, DAY, place_of(4), "{}")
    assert len(list(story.service.export(ANNA))) == 17


def test_pages_of_the_audit_are_filtered(story: Story) -> None:
    with contextlib.suppress(Conflict), story.audit.act(BERT, "run.cancel", "run:r-1"):
        raise Conflict("it is over")
    page = story.service.page(ANNA, limit=3)
    assert [item.outcome for item in page.items] == [Outcome.FAILED, Outcome.BEGUN, Outcome.DONE]
    wanted = AuditFilter(action="run.cancel", outcome=Outcome.FAILED)
    assert [item.user for item in story.service.page(ANNA, wanted).items] == ["u-bert"]


def test_who_may_read_his_own_sees_his_own_acts(story: Story) -> None:
    with story.audit.act(BERT, "run.start"):
        pass
    assert {item.user for item in story.service.page(BERT).items} == {"u-bert"}
    assert story.service.page(BERT, AuditFilter(user="u-anna")).items == []
    for refused in (story.service.verify, story.service.export):
        with pytest.raises(Forbidden, match="your own acts"):
            refused(BERT)


def test_who_may_not_read_the_audit_is_refused(story: Story) -> None:
    for refused in (story.service.page, story.service.verify, story.service.export):
        with pytest.raises(Forbidden):
            refused(NOBODY)


@pytest.mark.parametrize("day", ["today", "2026-13-01", "20261101", "2026-11-1"])
def test_what_is_no_day_is_refused(story: Story, day: str) -> None:
    with pytest.raises(BadInput, match="not a day"):
        story.service.page(ANNA, AuditFilter(since=day))
    with pytest.raises(BadInput, match="not a day"):
        story.service.verify(ANNA, [day])
    with pytest.raises(BadInput, match="not a day"):
        story.service.export(ANNA, "", day)
