"""Whatever people do with versions and runs, in whatever order: what must hold, holds.

Hypothesis plays people who edit, publish, unpublish, archive, restore, go back, start, pause, end
and test, while the sweeper comes by. After each step the whole store is compared with a plain model
of the meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import NodeKey, TaskId
from stellwerk.kernel.records import Stale
from stellwerk.runs.model import Run, RunStatus, Step, StepStatus
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, VersionStatus
from tests.runs.stage import QUESTION
from tests.workflows.desk import ANNA, Desk, drawn
from tests.workflows.test_trying import assembly

NUMBERS = st.integers(1, 5)
VALUES = st.integers(0, 3)
WHICH = st.integers(0, 9)


@dataclass
class Expected:
    """What a version must be."""

    graph: Graph
    status: str = "draft"
    fresh: bool = True


@dataclass
class Model:
    """What the workflow must be."""

    versions: dict[int, Expected] = field(default_factory=dict)
    active: bool = True

    @property
    def published(self) -> int | None:
        found = [number for number, each in self.versions.items() if each.status == "published"]
        return found[0] if found else None

    def publish(self, number: int) -> None:
        if self.published:
            self.versions[self.published].status = "archived"
        self.versions[number].status = "published"
        self.versions[number].fresh = False


@dataclass
class Begun:
    """An open run, the graph with which it began, and the task for which it waits, if it does."""

    run: Run
    graph: Graph
    task: TaskId | None = None


class Lives(RuleBasedStateMachine):
    """A workflow, its versions and its runs."""

    @initialize()
    def begin(self) -> None:
        self.desk = Desk()
        self.runs, self.executions = assembly(self.desk)
        self.service = self.desk.service
        self.workflow = self.service.create(ANNA, "Lives", graph=drawn(0))[0].id
        self.model = Model({1: Expected(drawn(0))})
        self.open: dict[str, Begun] = {}

    def stored(self, number: int) -> Version:
        return self.service.version(ANNA, self.workflow, number)

    def known(self, number: int) -> int:
        """Return one of the versions that there are."""
        return (number - 1) % len(self.model.versions) + 1

    def chosen(self, which: int) -> Begun:
        """Return one of the open runs."""
        return self.open[sorted(self.open)[which % len(self.open)]]

    @rule(number=NUMBERS, value=VALUES, seen=st.booleans())
    def edit(self, number: int, value: int, seen: bool) -> None:
        number = self.known(number)
        revision = self.stored(number).revision if seen else None
        saved, _ = self.service.save_draft(ANNA, self.workflow, number, revision, drawn(value))
        if self.model.versions[number].fresh:
            assert saved.number == number
            self.model.versions[number].graph = drawn(value)
        else:
            assert saved.number == len(self.model.versions) + 1
            self.model.versions[saved.number] = Expected(drawn(value))

    @rule(number=NUMBERS, value=VALUES)
    def edit_what_others_have_changed(self, number: int, value: int) -> None:
        number = self.known(number)
        unseen = self.stored(number).revision + 1
        with pytest.raises(Stale):
            self.service.save_draft(ANNA, self.workflow, number, unseen, drawn(value))

    @rule(number=NUMBERS)
    def derive(self, number: int) -> None:
        number = self.known(number)
        draft = self.service.new_draft(ANNA, self.workflow, number)
        assert draft.based_on == number
        self.model.versions[draft.number] = Expected(self.model.versions[number].graph)

    @rule(number=NUMBERS)
    def publish(self, number: int) -> None:
        number = self.known(number)
        self._come("publish", number, self.model.versions[number].status == "draft")

    @rule(number=NUMBERS)
    def restore(self, number: int) -> None:
        number = self.known(number)
        self._come("restore", number, self.model.versions[number].status == "archived")

    @rule(number=NUMBERS)
    def roll_back(self, number: int) -> None:
        number = self.known(number)
        found = self.model.versions[number]
        self._come("roll back", number, not found.fresh and found.status != "published")

    def _come(self, how: str, number: int, allowed: bool) -> None:
        acts = {
            "publish": self.service.publish_version,
            "restore": self.service.republish,
            "roll back": self.service.roll_back,
        }
        try:
            acts[how](ANNA, self.workflow, number)
        except Conflict:
            assert not allowed
        else:
            assert allowed
            self.model.publish(number)

    @rule(number=NUMBERS, status=st.sampled_from(["draft", "archived"]))
    def leave(self, number: int, status: str) -> None:
        number = self.known(number)
        allowed = self.model.versions[number].status == "published"
        act = self.service.unpublish if status == "draft" else self.service.archive
        try:
            act(ANNA, self.workflow, number)
        except Conflict:
            assert not allowed
        else:
            assert allowed
            self.model.versions[number].status = status

    @rule(active=st.booleans())
    def sleep_or_wake(self, active: bool) -> None:
        act = self.service.activate if active else self.service.deactivate
        act(ANNA, self.workflow)
        self.model.active = active

    @rule()
    def start(self) -> None:
        number = self.model.published
        try:
            run = self.runs.runs.start(ANNA, self.workflow)
        except (BadInput, Conflict):
            assert number is None or not self.model.active
        else:
            assert run.version == number
            assert self.model.active
            self.open[run.id] = Begun(run, self.model.versions[run.version].graph)

    @rule(number=NUMBERS)
    def try_out(self, number: int) -> None:
        number = self.known(number)
        found = self.model.versions[number]
        run = self.runs.runs.start(ANNA, self.workflow, version=number, mode="test")
        assert bool(run.trial) == (found.status != "published")
        self.open[run.id] = Begun(run, found.graph)

    @precondition(lambda self: self.open)
    @rule(which=WHICH)
    def pause(self, which: int) -> None:
        begun = self.chosen(which)
        if begun.task is None:
            step = Step(
                run=begun.run.id,
                node=NodeKey("work"),
                type="input.approval",
                status=StepStatus.RUNNING,
            )
            written = self.desk.stores.journal.write(ANNA, step)
            begun.task = self.runs.tasks.open_task(ANNA, written, QUESTION, "token").id

    @precondition(lambda self: self.open)
    @rule(which=WHICH)
    def decide(self, which: int) -> None:
        begun = self.chosen(which)
        if begun.task is not None:
            task = self.runs.tasks.get(ANNA, begun.task)
            if task.decision is None:
                self.runs.tasks.decide(ANNA, task.id, "approved")

    @precondition(lambda self: self.open)
    @rule(which=WHICH)
    def end(self, which: int) -> None:
        begun = self.chosen(which)
        self.runs.runs.cancel(ANNA, begun.run.id)
        del self.open[begun.run.id]

    @precondition(lambda self: self.open)
    @rule(which=WHICH)
    def lose_an_execution(self, which: int) -> None:
        self.runs.runs.continue_(ANNA, self.chosen(which).run.id)

    @rule(hours=st.sampled_from([0.1, 2, 200]))
    def sweep(self, hours: float) -> None:
        self.desk.clock.advance(hours=hours)
        assert self.runs.sweeper.sweep(ANNA).failed == 0

    @invariant()
    def versions_are_as_expected(self) -> None:
        workflow = self.service.get(ANNA, self.workflow)
        found = {
            version.number: Expected(
                self.service.graph(ANNA, version), str(version.status), version.fresh
            )
            for version in self.service.versions(ANNA, self.workflow, limit=100).items
        }
        assert found == self.model.versions
        assert workflow.published == self.model.published
        assert (workflow.latest, workflow.active) == (len(found), self.model.active)

    @invariant()
    def machines_are_there_as_long_as_they_are_named(self) -> None:
        for version in self.service.versions(ANNA, self.workflow, limit=100).items:
            machines = [arn.rsplit(":", 1)[-1] for arn in version.machines.values()]
            assert all(name in self.desk.machines.definitions for name in machines)
            if version.status is VersionStatus.PUBLISHED:
                assert machines
                assert version.retiring is None
            if version.fresh:
                assert not machines

    @invariant()
    def open_runs_stay_on_what_they_began_with(self) -> None:
        for begun in self.open.values():
            stored = self.runs.runs.get(ANNA, begun.run.id)
            assert stored.status in {RunStatus.RUNNING, RunStatus.PAUSED}
            assert (stored.version, stored.trial) == (begun.run.version, begun.run.trial)
            assert self.runs.world.graph(ANNA, stored) == begun.graph
            assert stored.execution.split(":")[6] in self.desk.machines.definitions


Lives.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLives = Lives.TestCase
