from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from pydantic import BaseModel

from stellwerk.kernel.errors import Conflict, Forbidden, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.json import digest
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.audit import AuditService
from stellwerk.tenancy.chain import TRIES, ChainedAudit
from stellwerk.tenancy.evidence import AuditRecord, Outcome
from stellwerk.tenancy.scope import Scope, require
from tests.audit.people import ANNA, BERT, DAY, MANDATE, NEXT_DAY, NOBODY
from tests.contracts.audit_logs import Evidence
from tests.fakes.audit import FakeAuditLog
from tests.fakes.clock import FixedClock


class Thing(BaseModel):
    title: str


@dataclass
class World:
    """A chain in memory with a clock that stands still."""

    log: FakeAuditLog
    clock: FixedClock
    audit: ChainedAudit

    @property
    def records(self) -> list[AuditRecord]:
        return self.log.all(MANDATE)

    @property
    def outcomes(self) -> list[Outcome]:
        return [record.outcome for record in self.records]


@pytest.fixture
def world() -> World:
    log, clock = FakeAuditLog(), FixedClock()
    return World(log, clock, ChainedAudit(log, clock, pause=lambda seconds: None))


def test_an_act_has_a_record_before_and_one_after(world: World) -> None:
    scope = replace(ANNA, instance=InstanceId("i-one"))
    with world.audit.act(scope, "workflow.publish", "workflow:w-1") as act:
        assert world.outcomes == [Outcome.BEGUN]
        act.before(Thing(title="old"))
        world.clock.advance(seconds=2)
        act.after(Thing(title="new"))
    begun, done = world.records
    assert (begun.number, begun.outcome, begun.begun, begun.before) == (1, Outcome.BEGUN, None, "")
    assert (done.number, done.outcome, done.begun, done.begun_day) == (2, Outcome.DONE, 1, DAY)
    assert (done.before, done.after) == (digest({"title": "old"}), digest({"title": "new"}))
    assert done.previous == begun.hash
    assert done.at - begun.at == timedelta(seconds=2)
    for record in (begun, done):
        named = (record.mandate, record.instance, record.user, record.request)
        assert named == ("m-one", "i-one", "u-anna", "req-1")
        assert (record.action, record.object) == ("workflow.publish", "workflow:w-1")


def test_an_object_gets_its_name_when_it_has_one(world: World) -> None:
    with world.audit.act(ANNA, "workflow.create") as act:
        act.before(None)
        act.object("workflow:w-2")
        act.after(Thing(title="new"))
    assert [record.object for record in world.records] == ["", "workflow:w-2"]
    assert world.records[1].before == ""


def test_an_act_that_may_not_be_is_denied(world: World) -> None:
    with pytest.raises(Forbidden), world.audit.act(NOBODY, "audit.read"):
        require(NOBODY, "audit", Verb.READ)
    assert world.outcomes == [Outcome.BEGUN, Outcome.DENIED]
    assert "some role" in world.records[1].reason


def test_a_refusal_that_is_hidden_from_the_caller_is_not_hidden_from_the_audit(
    world: World,
) -> None:
    with pytest.raises(NotFound), world.audit.act(NOBODY, "member.remove", "user:u-2"):
        require(NOBODY, "members", Verb.DELETE, NOBODY.user)
    assert world.outcomes == [Outcome.BEGUN, Outcome.DENIED]
    assert "may not delete members" in world.records[1].reason


def test_an_act_that_fails_says_why(world: World) -> None:
    with pytest.raises(Conflict), world.audit.act(ANNA, "workflow.publish"):
        raise Conflict("it has changed meanwhile")
    assert world.outcomes == [Outcome.BEGUN, Outcome.FAILED]
    assert world.records[1].reason == "Conflict: it has changed meanwhile"


def test_of_an_error_that_is_not_ours_only_the_name_is_kept(world: World) -> None:
    with pytest.raises(ValueError, match="hunter2"), world.audit.act(ANNA, "workflow.publish"):
        raise ValueError("password hunter2 is wrong")
    assert world.records[1].reason == "ValueError"


def test_long_names_and_reasons_are_cut(world: World) -> None:
    world.audit.denied(ANNA, "a.b", "x" * 5000, "y" * 5000)
    assert (len(world.records[0].object), len(world.records[0].reason)) == (200, 1000)


def test_an_act_that_cannot_be_recorded_does_not_happen(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.log.down = True
    happened = False
    with (
        pytest.raises(ServiceUnavailable, match=r"workflow\.publish.*was not done"),
        world.audit.act(ANNA, "workflow.publish"),
    ):
        happened = True
    assert not happened
    assert "audit failure" in caplog.text


def test_an_end_that_cannot_be_recorded_undoes_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with world.audit.act(ANNA, "workflow.publish", "workflow:w-1"):
        world.log.down = True
    world.log.down = False
    assert world.outcomes == [Outcome.BEGUN]
    assert "the outcome 'done' of 'workflow.publish' on 'workflow:w-1' is lost" in caplog.text


def test_a_denial_is_recorded_or_at_least_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.audit.denied(BERT, "run.list", "", "no role")
    world.log.down = True
    world.audit.denied(BERT, "run.list", "run:r-1", "no role")
    assert [(record.outcome, record.reason) for record in world.records] == [
        (Outcome.DENIED, "no role")
    ]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_an_act_inside_an_act_is_part_of_it(world: World) -> None:
    with world.audit.act(ANNA, "mandate.create", "mandate:m-1") as outer:
        with world.audit.act(ANNA.at(InstanceId("i-2")), "instance.create") as inner:
            inner.object("instance:i-2")
            inner.before(None)
            inner.after(Thing(title="inner"))
        outer.after(Thing(title="outer"))
    assert [record.action for record in world.records] == ["mandate.create"] * 2
    assert world.records[1].after == digest({"title": "outer"})


def test_acts_of_others_inside_an_act_are_records_of_their_own(world: World) -> None:
    other = ChainedAudit(world.log, world.clock)
    elsewhere = replace(ANNA, mandate=MandateId("m-two"))
    with world.audit.act(ANNA, "a.a"):
        for scope in (BERT, elsewhere, replace(ANNA, request="another")):
            with world.audit.act(scope, "b.b"):
                pass
        with other.act(ANNA, "c.c"):
            pass
    assert len(world.records) == 8
    assert len(world.log.all(elsewhere.mandate)) == 2
    with world.audit.act(ANNA, "d.d"):
        pass
    assert len(world.records) == 10


def test_acts_of_other_threads_are_records_of_their_own(world: World) -> None:
    def act() -> None:
        with world.audit.act(ANNA, "b.b"):
            pass

    with world.audit.act(ANNA, "a.a"):
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    assert [record.action for record in world.records] == ["a.a", "b.b", "b.b", "a.a"]


def test_a_new_day_begins_with_one_and_follows_the_day_before(world: World) -> None:
    with world.audit.act(ANNA, "a.a"):
        world.clock.advance(hours=15)
    begun, done = world.records
    assert (begun.day, begun.number, begun.previous_day) == (DAY, 1, None)
    assert (done.day, done.number) == (NEXT_DAY, 1)
    assert (done.begun, done.begun_day) == (1, DAY)
    assert (done.previous, done.previous_day) == (begun.hash, DAY)


def test_a_writer_who_meets_others_again_and_again_gives_up(world: World) -> None:
    class Taken(FakeAuditLog):
        tries = 0

        def append(self, scope: Scope, record: AuditRecord) -> None:
            self.tries += 1
            raise Conflict("taken")

    log = Taken()
    pauses: list[float] = []
    audit = ChainedAudit(log, world.clock, pause=pauses.append)
    with pytest.raises(ServiceUnavailable), audit.act(ANNA, "a.a"):
        pass
    assert (log.tries, len(pauses)) == (TRIES, TRIES)
    assert sum(pauses) < TRIES * 0.5


def test_whoever_stays_alone_reads_the_chain_once(world: World) -> None:
    class Counted(FakeAuditLog):
        reads = 0

        def last(self, scope: Scope, day: str) -> AuditRecord | None:
            self.reads += 1
            return super().last(scope, day)

    log = Counted()
    audit = ChainedAudit(log, world.clock)
    for _ in range(5):
        with audit.act(ANNA, "a.a"):
            pass
    assert (log.reads, len(log.all(MANDATE))) == (1, 10)


def test_threads_of_one_process_take_turns_and_do_not_meet(world: World) -> None:
    class Slow(FakeAuditLog):
        def append(self, scope: Scope, record: AuditRecord) -> None:
            time.sleep(0.001)  # long enough for all others to read the same end of the chain
            super().append(scope, record)

    log, pauses = Slow(), list[float]()
    audit = ChainedAudit(log, world.clock, pause=pauses.append)

    def act() -> None:
        with audit.act(ANNA, "a.a"):
            pass

    threads = [threading.Thread(target=act) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(log.all(MANDATE)), pauses) == (120, [])


def test_many_writers_leave_a_chain_without_gaps(evidence: Evidence) -> None:
    clock = FixedClock()
    shared = ChainedAudit(evidence.log, clock)
    faults: list[Exception] = []

    def work(audit: ChainedAudit, name: str) -> None:
        try:
            for number in range(6):
                with audit.act(ANNA, "a.a", f"{name}:{number}"):
                    pass
        except Exception as error:  # noqa: BLE001 (whatever a thread raises is shown by the test)
            faults.append(error)

    audits = [shared] * 4 + [ChainedAudit(evidence.log, clock) for _ in range(4)]
    threads = [
        threading.Thread(target=work, args=(audit, f"t{at}")) for at, audit in enumerate(audits)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    entries = list(evidence.log.entries(ANNA, DAY))
    assert [entry.record.number for entry in entries if entry.record] == list(range(1, 97))
    clock.advance(hours=1)
    verification = AuditService(evidence.log, clock).verify(ANNA)
    assert (verification.records, verification.faults) == (96, [])
