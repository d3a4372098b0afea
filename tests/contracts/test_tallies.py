"""Counts of outcomes: each run once, by workflow and day; and when runs are to go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.aws.tallies import DynamoTallies
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.runs.model import RunStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.tallies import Outcome, Tallies, Tally, added
from tests.contracts.records import SCOPE, START, STRANGERS, WORKFLOW
from tests.contracts.stores import Moto
from tests.fakes.tallies import FakeTallies

DAY = "2026-11-02"
OUTCOME = Outcome(
    RunId("r-1"),
    WORKFLOW,
    DAY,
    RunStatus.COMPLETED,
    test=False,
    milliseconds=1200,
    steps=3,
    attempts=4,
)
UNTIL = START + timedelta(days=30)


def outcome(number: int, status: RunStatus = RunStatus.COMPLETED) -> Outcome:
    return replace(OUTCOME, run=RunId(f"r-{number}"), status=status)


@pytest.fixture(params=["fake", "moto"])
def tallies(request: pytest.FixtureRequest) -> Tallies:
    if request.param == "fake":
        return FakeTallies()
    moto: Moto = request.getfixturevalue("moto")
    return DynamoTallies(moto.runs_table())


def test_a_run_is_counted_once(tallies: Tallies) -> None:
    assert not tallies.counted(SCOPE, OUTCOME.run)
    assert tallies.count(SCOPE, OUTCOME, UNTIL)
    assert tallies.counted(SCOPE, OUTCOME.run)
    assert not tallies.count(SCOPE, OUTCOME, UNTIL)
    [(day, tally)] = tallies.days(SCOPE, WORKFLOW, DAY, DAY).items()
    assert day == DAY
    assert (tally.runs, tally.completed, tally.steps, tally.attempts) == (1, 1, 3, 4)
    assert tally.milliseconds == 1200


def test_counts_are_kept_by_workflow_and_day_and_for_all(tallies: Tallies) -> None:
    other = WorkflowId("w-other")
    for number in range(20):
        status = RunStatus.FAILED if number % 4 == 0 else RunStatus.COMPLETED
        tallies.count(SCOPE, outcome(number, status), UNTIL)
    tallies.count(SCOPE, replace(outcome(20), workflow=other), UNTIL)
    tallies.count(SCOPE, replace(outcome(21), day="2026-11-03"), UNTIL)
    tallies.count(SCOPE, replace(outcome(22), test=True), UNTIL)
    tallies.count(SCOPE, outcome(23, RunStatus.CANCELLED), UNTIL)
    of_workflow = tallies.days(SCOPE, WORKFLOW, DAY, "2026-11-30")
    assert {day: tally.runs for day, tally in of_workflow.items()} == {DAY: 21, "2026-11-03": 1}
    assert (of_workflow[DAY].failed, of_workflow[DAY].cancelled) == (5, 1)
    assert of_workflow[DAY].tests == 1
    assert tallies.days(SCOPE, other, DAY, DAY)[DAY].runs == 1
    assert tallies.days(SCOPE, None, DAY, DAY)[DAY].runs == 22
    assert tallies.days(SCOPE, WORKFLOW, "2026-11-03", "2026-11-03").keys() == {"2026-11-03"}
    assert tallies.days(SCOPE, WORKFLOW, "2026-11-04", "2026-11-30") == {}


def test_runs_are_found_by_when_they_go(tallies: Tallies) -> None:
    tallies.count(SCOPE, outcome(1), UNTIL)
    tallies.count(SCOPE, outcome(2), UNTIL - timedelta(days=1))
    assert [*tallies.kept_until(SCOPE, UNTIL - timedelta(days=2))] == []
    assert [*tallies.kept_until(SCOPE, UNTIL)] == ["r-2", "r-1"]
    tallies.keep(SCOPE, RunId("r-2"), UNTIL + timedelta(days=1))
    tallies.keep(SCOPE, RunId("r-9"), UNTIL)
    assert [*tallies.kept_until(SCOPE, UNTIL)] == ["r-1"]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda scope: scope.mandate + scope.instance)
def test_a_stranger_neither_finds_nor_changes_anything(tallies: Tallies, stranger: Scope) -> None:
    tallies.count(SCOPE, OUTCOME, UNTIL)
    before = tallies.days(SCOPE, None, DAY, DAY)
    assert not tallies.counted(stranger, OUTCOME.run)
    assert tallies.days(stranger, WORKFLOW, DAY, DAY) == {}
    assert [*tallies.kept_until(stranger, UNTIL)] == []
    tallies.keep(stranger, OUTCOME.run, START)
    assert tallies.count(stranger, OUTCOME, UNTIL)
    assert tallies.days(SCOPE, None, DAY, DAY) == before
    assert [*tallies.kept_until(SCOPE, START)] == []


def test_percentiles_are_right_to_six_per_cent() -> None:
    fake = FakeTallies()
    for number in range(1, 1001):
        fake.count(SCOPE, replace(outcome(number), milliseconds=number * 10), UNTIL)
    tally = fake.days(SCOPE, WORKFLOW, DAY, DAY)[DAY]
    for share in (0.01, 0.5, 0.95, 1.0):
        found = tally.percentile(share)
        assert found is not None
        assert abs(found / (share * 10_000) - 1) < 0.065


def test_of_nothing_there_is_neither_rate_nor_percentile() -> None:
    nothing = added([])
    assert nothing == Tally()
    assert nothing.failure_rate is None
    assert nothing.percentile(0.5) is None
    assert Tally(completed=3, failed=1, cancelled=6).failure_rate == 0.25
    assert Tally(classes={0: 2}).percentile(0.5) == 1
