"""However the journal's changes arrive, the log tells each once, without gaps, and the end last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.runs.model import Run, RunStatus, Step, StepStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.model import Happening, RunEvent
from stellwerk.watching.ports import EventLog, LogState
from stellwerk.watching.projecting import Look, Projector, RunLook
from tests.contracts.records import RUN, SCOPE
from tests.contracts.stores import in_memory
from tests.fakes.clock import FixedClock
from tests.fakes.memory import Memory
from tests.fakes.run_events import FakeEventLog
from tests.watching.journals import Entry, at, run, story

WHOLE = [
    "run.started",
    "check node.started 1",
    "check node.retrying 1",
    "check node.started 2",
    "check node.succeeded 2",
    "ask node.started 1",
    "ask node.waiting",
    "run.paused",
    "run.resumed",
    "ask node.succeeded 1",
    "lines node.started 1",
    "lines[0].book node.started 1",
    "lines[0].book node.succeeded 1",
    "lines[1].book node.started 1",
    "lines[1].book node.failed 1",
    "lines[2].book node.started 1",
    "lines[2].book node.succeeded 1",
    "lines node.succeeded 1",
    "late node.skipped",
    "run.completed",
]


UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def said(event: RunEvent) -> str:
    words = [event.step, str(event.kind), str(event.attempt or "")]
    return " ".join(word for word in words if word)


class Desk:
    """A projector over a journal that holds what was written so far."""

    def __init__(self, log: EventLog | None = None) -> None:
        self._memory = Memory()
        self.stores = in_memory(self._memory)
        self.log = log or FakeEventLog()
        self.projector = Projector(
            self.log, self.stores.journal, self.stores.runs, FixedClock(at(50))
        )

    def write(self, look: Look) -> None:
        tenant = self._memory.of(SCOPE)
        if isinstance(look, RunLook):
            tenant.runs[RUN] = look.run
        else:
            tenant.steps[RUN, look.key] = look

    def project(self, *looks: Look) -> None:
        self.projector.project(SCOPE, RUN, looks)

    def told(self) -> list[str]:
        events = self.log.read(SCOPE, RUN, after=0, limit=100_000)
        assert [event.seq for event in events] == [*range(1, len(events) + 1)]
        assert not [event for event in events[:-1] if event.kind.final]
        return [said(event) for event in events]


def everything(looks: Sequence[Look]) -> Desk:
    desk = Desk()
    for look in looks:
        desk.write(look)
    return desk


def test_what_arrives_in_order_is_told_in_order() -> None:
    desk = Desk()
    for look in story():
        desk.write(look)
        desk.project(look)
    assert desk.told() == WHOLE


def test_events_carry_times_ports_errors_and_kinds() -> None:
    desk = everything(story())
    desk.project(*story())
    found = {said(each): each for each in desk.log.read(SCOPE, RUN, after=0, limit=99)}
    assert found["run.started"].type == "trigger.manual"
    assert found["check node.started 2"].at == at(3)
    assert found["check node.succeeded 2"].port == "out"
    assert found["check node.succeeded 2"].at == at(4)
    error = found["check node.retrying 1"].error
    assert error is not None and error.type == "ServiceUnavailable"
    assert found["lines[1].book node.failed 1"].error == error
    assert found["run.completed"].at == at(99)


@st.composite
def deliveries(draw: st.DrawFn) -> list[list[Look]]:
    """Batches as a stream may deliver them: what is in one partition stays in order at first, any
    stretch of it comes again, and partitions overtake each other."""
    shards: dict[str, list[Look]] = {}
    for look in story():
        place = look.path if isinstance(look, Step) else ""
        shards.setdefault(place, []).append(look)
    queues = [list(looks) for looks in shards.values()]
    batches: list[list[Look]] = []
    while any(queues):
        queue = draw(st.sampled_from([each for each in queues if each]))
        size = draw(st.integers(1, len(queue)))
        batch = queue[:size]
        batches.append(batch)
        del queue[: draw(st.integers(0, size)) if draw(st.booleans()) else size]
    return batches


@UNHURRIED
@given(deliveries())
def test_late_double_and_reordered_looks_change_nothing_of_what_is_told(
    batches: list[list[Look]],
) -> None:
    desk = everything(story())
    for batch in batches:
        desk.project(*batch)
    told = desk.told()
    assert sorted(told) == sorted(WHOLE)
    assert told[-1] == "run.completed"
    assert _by_step(told) == _by_step(WHOLE)


@UNHURRIED
@given(st.sets(st.integers(0, len(story()) - 2)))
def test_what_never_arrives_is_told_when_the_run_is_over(lost: set[int]) -> None:
    desk = everything(story())
    desk.project(*(look for number, look in enumerate(story()) if number not in lost))
    told = desk.told()
    unseen = {"ask node.waiting", "run.paused", "run.resumed"}
    assert set(WHOLE) - set(told) <= unseen
    assert len(set(told)) == len(told)
    assert told[-1] == "run.completed"


def _by_step(told: list[str]) -> dict[str, list[str]]:
    def step(text: str) -> str:
        return text.split(" ")[0].split(".")[0] if text.startswith("run.") else text.split(" ")[0]

    ordered = sorted(told, key=step)
    return {name: list(group) for name, group in groupby(ordered, step)}


def test_a_log_that_is_closed_stays_closed() -> None:
    desk = everything(story())
    desk.project(*story())
    desk.project(*story())
    desk.project(run(RunStatus.FAILED, 9), Entry("new").begin(1))
    assert desk.told() == WHOLE


def test_a_run_that_is_over_is_told_from_its_journal_alone() -> None:
    desk = everything(story())
    end = run(RunStatus.COMPLETED).run
    desk.projector.complete(SCOPE, end)
    told = desk.told()
    assert set(WHOLE) - set(told) == {"ask node.waiting", "run.paused", "run.resumed"}
    desk.projector.complete(SCOPE, end)
    assert desk.told() == told


def test_an_open_run_is_not_completed() -> None:
    desk = everything(story()[:4])
    desk.projector.complete(SCOPE, run().run)
    assert desk.told() == []


def test_what_a_replay_begins_with_is_told_as_recorded() -> None:
    desk = Desk()
    kept = Entry("check")
    kept.begin(1)
    recorded = kept.end(2).model_copy(update={"recorded_from": RunId("r-0"), "revision": 1})
    desk.project(recorded)
    desk.project(run())
    events = desk.log.read(SCOPE, RUN, after=0, limit=9)
    assert [said(event) for event in events] == ["check node.succeeded 1", "run.started"]
    assert events[0].recorded


@pytest.mark.parametrize(
    ("status", "last"),
    [(RunStatus.FAILED, "run.failed"), (RunStatus.CANCELLED, "run.cancelled")],
)
def test_a_failed_or_cancelled_run_says_so(status: RunStatus, last: str) -> None:
    looks: list[Look] = [run(), Entry("check").begin(1), run(status, 2)]
    desk = everything(looks)
    desk.project(*looks)
    assert desk.told()[-1] == last


def test_an_uncertain_step_has_failed_and_may_have_happened() -> None:
    desk = Desk()
    book = Entry("book")
    desk.project(run(), book.begin(1), book.end(2, StepStatus.UNCERTAIN))
    [*_, last] = desk.log.read(SCOPE, RUN, after=0, limit=9)
    assert last.kind is Happening.NODE_FAILED
    assert last.uncertain


def long_loop(size: int, node: str = "book") -> list[Look]:
    looks: list[Look] = [run()]
    for index in range(size):
        entry = Entry(node, Path(f"lines[{index}]"))
        looks += [entry.begin(1), entry.end(2)]
    return looks


def test_passes_beyond_the_hundredth_are_counted_each_once() -> None:
    looks = long_loop(2350)
    desk = everything([*looks, run(RunStatus.COMPLETED, 2)])
    desk.project(*looks)
    desk.project(*looks[3000:4000])
    desk.project(run(RunStatus.COMPLETED, 2))
    told = desk.told()
    events = desk.log.read(SCOPE, RUN, after=0, limit=100_000)
    progress = [event for event in events if event.kind is Happening.LOOP_PROGRESS]
    assert sum(text.endswith("node.succeeded 1") for text in told) == 100
    assert progress[-1].step == "lines"
    assert progress[-1].counts == {NodeKey("book"): {"succeeded": 2250}}
    counted = [event.counts[NodeKey("book")]["succeeded"] for event in progress]
    assert counted == sorted(set(counted))
    assert told[-1] == "run.completed"


def test_steps_of_loops_inside_a_counted_pass_are_not_told() -> None:
    desk = Desk()
    inner = Entry("cell", Path("lines[100].cells[3]"))
    open_ = Entry("book", Path("lines[100]"))
    desk.project(run(), inner.begin(1), inner.end(2), open_.begin(1))
    assert desk.told() == ["run.started"]


class Rival(FakeEventLog):
    """A log to which somebody else appends just before, some times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    def append(
        self,
        scope: Scope,
        run: RunId,
        before: LogState,
        after: LogState,
        events: Sequence[RunEvent],
    ) -> None:
        if self._left:
            self._left -= 1
            raise Conflict("somebody else was faster")
        super().append(scope, run, before, after, events)


def test_who_was_overtaken_looks_again() -> None:
    desk = Desk(Rival(5))
    desk.project(*story()[:5])
    assert desk.told() == WHOLE[:5]


def test_who_is_overtaken_for_ever_gives_up() -> None:
    desk = Desk(Rival(1000))
    with pytest.raises(ServiceUnavailable):
        desk.project(*story()[:5])


def test_a_step_without_its_run_is_told_all_the_same() -> None:
    desk = Desk()
    desk.project(Entry("check").begin(1))
    desk.project(run())
    assert desk.told() == ["check node.started 1", "run.started"]


def test_the_start_is_told_first_though_a_step_is_seen_first() -> None:
    desk = Desk()
    stored: Run = run().run
    desk.write(RunLook(stored, "1"))
    desk.project(Entry("check").begin(1))
    assert desk.told() == ["run.started", "check node.started 1"]
