"""Event logs: one appender at a time, and what follows a number."""

from __future__ import annotations

import pytest

from stellwerk.aws.run_events import TOGETHER, DynamoEventLog
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import NodeKey
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.memory import Head, Page
from stellwerk.watching.model import Happening, RunEvent
from stellwerk.watching.ports import EventLog, LogState
from tests.contracts.records import RUN, SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.fakes.run_events import FakeEventLog

PAGE = Page(steps={NodeKey("check"): (2, 1, 1, "succeeded")})
BEFORE = LogState()


def event(seq: int) -> RunEvent:
    return RunEvent(seq=seq, kind=Happening.NODE_STARTED, at=START, step="check", attempt=1)


def after(revision: int, last: int) -> LogState:
    return LogState(Head(revision=revision, last=last, started=True), {"lines[3]": PAGE})


@pytest.fixture(params=["fake", "moto"])
def log(request: pytest.FixtureRequest) -> EventLog:
    if request.param == "fake":
        return FakeEventLog()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoEventLog(moto.runs_table())


def test_a_new_log_is_empty(log: EventLog) -> None:
    assert log.state(SCOPE, RUN, ["lines[3]"]) == BEFORE
    assert log.read(SCOPE, RUN, after=0, limit=9) == []


def test_what_is_appended_is_read_in_order_from_any_number_on(log: EventLog) -> None:
    many = 2 * TOGETHER + 5
    log.append(SCOPE, RUN, BEFORE, after(1, many), [event(seq) for seq in range(1, many + 1)])
    state = log.state(SCOPE, RUN, ["lines[3]", "lines[4]"])
    assert state == after(1, many)
    log.append(SCOPE, RUN, state, after(2, many + 1), [event(many + 1)])
    for behind in (0, 1, TOGETHER - 1, TOGETHER, TOGETHER + 1, many, many + 1):
        found = log.read(SCOPE, RUN, after=behind, limit=10_000)
        assert [each.seq for each in found] == [*range(behind + 1, many + 2)]
    assert [each.seq for each in log.read(SCOPE, RUN, after=3, limit=2)] == [4, 5]
    assert log.read(SCOPE, RUN, after=0, limit=1) == [event(1)]


def test_of_two_appenders_one_is_refused_and_leaves_nothing(log: EventLog) -> None:
    log.append(SCOPE, RUN, BEFORE, after(1, 1), [event(1)])
    late = LogState(Head(revision=1, last=2), {"lines[4]": PAGE})
    with pytest.raises(Conflict):
        log.append(SCOPE, RUN, BEFORE, late, [event(1), event(2)])
    assert [each.seq for each in log.read(SCOPE, RUN, after=0, limit=9)] == [1]
    assert log.state(SCOPE, RUN, ["lines[4]"]).pages == {}


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: scope.mandate + scope.instance)
def test_a_stranger_neither_finds_nor_changes_it(log: EventLog, stranger: Scope) -> None:
    log.append(SCOPE, RUN, BEFORE, after(1, 1), [event(1)])
    assert log.read(stranger, RUN, after=0, limit=9) == []
    assert log.state(stranger, RUN, ["lines[3]"]) == BEFORE
    log.append(stranger, RUN, BEFORE, after(1, 2), [event(1), event(2)])
    assert [each.seq for each in log.read(SCOPE, RUN, after=0, limit=9)] == [1]
