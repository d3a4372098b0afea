"""What follows the end of a run: counted once, failures told, kept for as long as it is wanted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.ids import ROOT, NodeKey, RunId, WorkflowId
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Attempt, ParentStep, Run, RunStatus
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.following import Following
from stellwerk.watching.retention import AGAIN, Retiring
from stellwerk.watching.tallies import Tally, added, outcome_of
from stellwerk.workflows.model import Retention
from tests.fakes.clock import START
from tests.fakes.tallies import FakeTallies
from tests.runs.stage import Stage, graph

DAY = "2026-11-02"
ATTEMPT = Attempt(started=START, ended=START)


class Told:
    """Keeps notices."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def notify(self, scope: Scope, notice: Notice) -> None:
        self.notices.append(notice)


class Gone:
    """Keeps which runs were removed; `needed` are replayed."""

    def __init__(self) -> None:
        self.removed: list[RunId] = []
        self.needed: set[RunId] = set()

    def replayed(self, scope: Scope, run: Run) -> bool:
        return run.id in self.needed

    def remove(self, scope: Scope, run: RunId) -> int:
        self.removed.append(run)
        return 1


class Desk:
    """A stage whose runs are followed."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.told, self.tallies, self.gone = Told(), FakeTallies(), Gone()
        self.stage.publish(graph({"start": "trigger", "a": "data.set"}, ["start a"]))
        world = self.stage.world
        following = Following(self.tallies, world.versions, self.told)
        self.retiring = Retiring(
            self.tallies, self.gone, world.runs, world.versions, self.stage.clock
        )
        self.world = replace(world, follower=following, chores=(self.retiring,))
        self.assembly = Assembly.of(self.world)

    def run(self, *, failed: bool = False, **changes: object) -> Run:
        """Let a run end."""
        run = self.stage.start()
        if changes:
            run = self.world.runs.write(self.stage.scope, run.model_copy(update=changes))
        self.stage.write(run, "start", attempts=(ATTEMPT,))
        self.stage.clock.advance(seconds=2)
        if failed:
            self.stage.fail(run, "a", "no such account")
        else:
            self.stage.write(run, "a", attempts=(ATTEMPT, ATTEMPT))
        return self.end(run, Ended("FAILED" if failed else "SUCCEEDED"))

    def end(self, run: Run, ended: Ended) -> Run:
        stored = self.world.runs.get(self.stage.scope, run.id)
        return self.assembly.endings.execution_ended(self.stage.scope, stored, ended)

    def settings(self, **changes: object) -> None:
        scope = self.stage.scope
        before = self.world.versions.workflow(scope, WorkflowId("w-demo"))
        self.world.versions.change(scope, before, before.model_copy(update=changes))

    def tally(self) -> Tally:
        return added(self.tallies.days(self.stage.scope, None, DAY, DAY).values())

    def sweep(self, **later: float) -> list[RunId]:
        """Let time go by, and the sweeper come; return which runs were removed so far."""
        self.stage.clock.advance(**later)
        self.assembly.sweeper.sweep(self.stage.scope)
        return self.gone.removed


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_run_is_counted_with_its_steps_and_tries(desk: Desk) -> None:
    desk.run()
    tally = desk.tally()
    assert (tally.completed, tally.failed, tally.steps, tally.attempts) == (1, 0, 2, 3)
    assert tally.milliseconds == 2000
    assert desk.told.notices == []


def test_a_run_whose_end_comes_twice_is_counted_and_told_once(desk: Desk) -> None:
    run = desk.run(failed=True)
    open_again = run.model_copy(update={"status": RunStatus.RUNNING})
    steps = [*desk.world.journal.steps(desk.stage.scope, run.id)]
    follower = desk.world.follower
    assert follower is not None
    follower.ending(desk.stage.scope, open_again, steps)
    assert desk.tally().failed == 1
    assert len(desk.told.notices) == 1


def test_a_failure_is_told_to_the_owner_with_node_and_remedy(desk: Desk) -> None:
    run = desk.run(failed=True)
    [told] = desk.told.notices
    assert (told.kind, told.to, told.group) == ("run.failed", ("user:u-demo",), "w-demo")
    assert told.subject == "demo has failed"
    assert "node `a`: no such account" in told.text
    assert told.about == {"run": run.id, "workflow": "w-demo", "version": "1", "node": "a"}
    assert told.link == f"/mandates/m-demo/instances/i-demo/runs/{run.id}"


def test_a_failure_is_told_to_whom_the_workflow_names(desk: Desk) -> None:
    desk.settings(notify=("role:finance", "it@b.example"))
    desk.run(failed=True)
    assert desk.told.notices[0].to == ("role:finance", "it@b.example")


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "test"},
        {"parent": ParentStep(run=RunId("r-0"), path=ROOT, node=NodeKey("call"), depth=1)},
    ],
    ids=["test", "called"],
)
def test_a_test_and_a_called_run_are_not_told(desk: Desk, changes: dict[str, object]) -> None:
    desk.run(failed=True, **changes)
    assert desk.told.notices == []


def test_tests_are_counted_apart(desk: Desk) -> None:
    desk.run(mode="test")
    assert (desk.tally().runs, desk.tally().tests) == (0, 1)


def test_a_cancelled_run_is_counted_and_not_told(desk: Desk) -> None:
    run = desk.stage.start()
    desk.assembly.endings.cancel(desk.stage.scope, run.id, cause="enough")
    assert desk.tally().cancelled == 1
    assert desk.told.notices == []


def test_counts_add_up_with_the_list_of_runs(desk: Desk) -> None:
    for number in range(9):
        desk.run(failed=number % 3 == 0)
    desk.stage.start()
    counts = desk.world.runs.count(desk.stage.scope)
    tally = desk.tally()
    assert counts[RunStatus.COMPLETED] == tally.completed == 6
    assert counts[RunStatus.FAILED] == tally.failed == 3
    assert sum(counts.values()) == tally.runs + 1


def test_successes_go_after_30_days_and_failures_after_90(desk: Desk) -> None:
    good, bad = desk.run(), desk.run(failed=True)
    assert desk.sweep(days=29, hours=23) == []
    assert desk.sweep(hours=2) == [good.id]
    assert desk.sweep(days=59) == [good.id, good.id]  # the fake forgets nothing
    assert bad.id in desk.sweep(days=2)


def test_what_the_workflow_wants_by_then_counts(desk: Desk) -> None:
    desk.run()
    desk.settings(retention=Retention(successes=60))
    assert desk.sweep(days=31) == []
    assert len(desk.sweep(days=30)) == 1


def test_a_legal_hold_keeps_runs_until_it_is_lifted(desk: Desk) -> None:
    desk.run()
    desk.settings(retention=Retention(hold=True))
    for _ in range(3):
        assert desk.sweep(days=100) == []
    desk.settings(retention=Retention())
    assert desk.sweep(hours=1) == []
    assert len(desk.sweep(seconds=AGAIN.total_seconds())) == 1


def test_a_run_is_kept_while_a_replay_of_it_is(desk: Desk) -> None:
    run = desk.run()
    desk.gone.needed = {run.id}
    assert desk.sweep(days=31) == []
    desk.gone.needed = set()
    assert desk.sweep(days=1) == [run.id]


def test_a_run_that_is_still_open_is_looked_at_later(desk: Desk) -> None:
    run = desk.stage.start()
    outcome = outcome_of(run, RunStatus.COMPLETED, [])
    desk.tallies.count(desk.stage.scope, outcome, desk.stage.clock.now())
    desk.retiring.look_at(desk.stage.scope, run.id)
    assert desk.gone.removed == []


def test_what_is_left_of_a_removal_that_was_broken_off_is_removed(desk: Desk) -> None:
    desk.retiring.look_at(desk.stage.scope, RunId("r-gone"))
    assert desk.gone.removed == ["r-gone"]
