"""The sweeper's rounds: everywhere, a piece each time, and what is wrong stays where it is."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.platform import Mark
from stellwerk.runs.ports import Runs
from stellwerk.runs.rounds import Bounds, NotSwept
from stellwerk.tenancy.places import KnownPlaces
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, of_platform, of_run
from tests.contracts.directories import instance, mandate
from tests.fakes.clock import FixedClock
from tests.fakes.directory import directory
from tests.fakes.executions import FakeExecutions
from tests.fakes.memory import Memory
from tests.fakes.platform import FakeMarks
from tests.runs.stage import Stage, graph

ONE, TWO, SLEEPING = (MandateId(f"m-{name}") for name in ("one", "two", "zzz"))
PLACES = ((ONE, "i-a"), (ONE, "i-b"), (TWO, "i-a"), (SLEEPING, "i-a"))
GRAPH = graph({"start": "trigger"})
PLATFORM = of_platform()


class Country:
    """Several mandates with their instances; the last one is not active."""

    def __init__(self) -> None:
        self.mandates = directory().mandates
        for name in (ONE, TWO, SLEEPING):
            new = mandate(name).model_copy(update={"active": name != SLEEPING})
            self.mandates.write_mandate(of_platform(name), new)
        memory, self.clock, self.executions = Memory(), FixedClock(), FakeExecutions()
        self.marks = FakeMarks()
        self.stages: dict[str, Stage] = {}
        for name, place in PLACES:
            here = instance(InstanceId(place), name)
            self.mandates.write_instance(of_platform(name), here)
            stage = Stage(
                memory,
                self.clock,
                self.executions,
                of_run(name, place, "u-anna"),
                places=KnownPlaces(self.mandates),
                marks=self.marks,
            )
            stage.publish(GRAPH)
            self.stages[f"{name}/{place}"] = stage
        self.assembly = next(iter(self.stages.values())).assembly

    def lose(self, place: str, count: int = 1) -> list[Run]:
        """Start runs, a second apart, whose executions end without an event."""
        lost = []
        for _ in range(count):
            lost.append(self.stages[place].start())
            self.executions.states[lost[-1].execution] = ("SUCCEEDED", "", "")
            self.clock.advance(seconds=1)
        return lost

    def open(self, place: str) -> int:
        """Return how many runs are open there."""
        stage = self.stages[place]
        return len(list(stage.world.runs.open_runs(stage.scope)))

    def go(self, *, limit: int = 100, seconds: float = 60.0) -> JsonObject:
        """Go on a round."""
        bounds = Bounds(limit, Deadline.within(self.clock, seconds))
        return self.assembly.rounds.go(bounds, request="request-1")

    def mark(self) -> Mark | None:
        """Return where the last round has stopped."""
        return self.marks.read(PLATFORM)

    def with_runs(self, runs: Runs) -> None:
        """Let the sweeper read runs by other means."""
        self.assembly = Assembly.of(replace(self.assembly.world, runs=runs))


class Reluctant:
    """Runs that cannot be read at one place, each of which takes a while to be read."""

    def __init__(self, country: Country, *, broken: str = "", seconds: int = 0) -> None:
        self._country = country
        self._runs = country.assembly.world.runs
        self._broken = broken
        self._seconds = seconds

    def __getattr__(self, name: str) -> object:
        return getattr(self._runs, name)

    def open_runs(self, scope: Scope, **since: object) -> object:
        if f"{scope.mandate}/{scope.instance}" == self._broken:
            raise RuntimeError("the table of this place is damaged")
        for run in self._runs.open_runs(scope, **since):  # type: ignore[arg-type]
            self._country.clock.advance(seconds=self._seconds)
            yield run


@pytest.fixture
def country() -> Country:
    return Country()


def _reluctant(country: Country, *, broken: str = "", seconds: int = 0) -> None:
    runs = Reluctant(country, broken=broken, seconds=seconds)
    country.with_runs(runs)  # type: ignore[arg-type]


def test_a_round_repairs_in_every_instance_of_every_active_mandate(country: Country) -> None:
    for place in country.stages:
        country.lose(place)
    counts = country.go()
    assert counts == dict.fromkeys(counts, 0) | {"ended": 3}
    assert [country.open(place) for place in country.stages] == [0, 0, 0, 1]
    assert country.mark() is None
    assert country.go()["ended"] == 0


def test_a_mandate_that_is_active_again_is_swept_again(country: Country) -> None:
    country.lose("m-zzz/i-a")
    scope = of_platform(SLEEPING)
    stored = country.mandates.mandate(scope)
    country.mandates.write_mandate(scope, stored.model_copy(update={"active": True}))
    assert country.go()["ended"] == 1


@pytest.mark.parametrize("broken", ["m-one/i-a", "m-one/i-b", "m-two/i-a"])
def test_a_faulty_place_stops_no_other_and_is_told_at_the_end(
    country: Country, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    for place in country.stages:
        country.lose(place)
    _reluctant(country, broken=broken)
    named = broken.partition("/")[0]
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(NotSwept, match=f"not be swept: {named}") as told,
    ):
        country.go()
    assert "log" in told.value.remedy
    assert [record.message for record in caplog.records] == [f"mandate {named} could not be swept"]
    still = {place for place in country.stages if country.open(place)}
    assert still == {broken, "m-zzz/i-a"}
    assert country.mark() is None


def test_a_faulty_mandate_is_named_once(country: Country) -> None:
    class Unreadable(KnownPlaces):
        def instances(self, scope: Scope) -> list[InstanceId]:
            if scope.mandate == ONE:
                raise RuntimeError("the mandate's row is damaged")
            return list(super().instances(scope))

    country.lose("m-two/i-a")
    places = Unreadable(country.mandates)
    country.assembly = Assembly.of(replace(country.assembly.world, places=places))
    with pytest.raises(NotSwept, match=r"swept: m-one\.$"):
        country.go()
    assert country.open("m-two/i-a") == 0
    country.assembly = Assembly.of(
        replace(country.assembly.world, places=KnownPlaces(country.mandates))
    )
    assert country.go()["ended"] == 0


def test_a_round_makes_no_more_repairs_than_its_limit_and_the_next_goes_on(
    country: Country,
) -> None:
    country.lose("m-one/i-a", 3)
    country.lose("m-two/i-a", 2)
    assert country.go(limit=2)["ended"] == 2
    stopped = country.mark()
    assert stopped is not None
    assert (stopped.mandate, stopped.instance) == (ONE, "i-a")
    assert country.open("m-one/i-a") == 1
    assert country.go(limit=2)["ended"] == 2
    assert country.mark() is not None
    assert country.go(limit=2)["ended"] == 1
    assert country.mark() is None


def test_a_round_that_is_out_of_time_goes_on_behind_the_last_run_it_has_seen(
    country: Country,
) -> None:
    healthy = [country.stages["m-one/i-a"].start() for _ in range(3)]
    country.clock.advance(seconds=1)
    lost = country.lose("m-one/i-a", 2)
    _reluctant(country, seconds=10)
    country.go(seconds=35)
    mark = country.mark()
    assert mark is not None
    assert mark.since == lost[0].started + timedelta(milliseconds=1)
    stage = country.stages["m-one/i-a"]
    assert [stage.run(run).status for run in lost] == [RunStatus.COMPLETED, RunStatus.RUNNING]
    assert country.go(seconds=35)["ended"] == 1
    assert all(stage.run(run).status.open for run in healthy)


def test_a_round_from_the_middle_comes_to_what_lies_before_too(country: Country) -> None:
    for place in country.stages:
        country.lose(place)
    country.marks.write(PLATFORM, Mark(mandate=TWO, instance=NO_INSTANCE))
    assert country.go(limit=1)["ended"] == 1
    assert country.open("m-two/i-a") == 0
    assert country.go()["ended"] == 2
    assert country.mark() is None


def test_without_time_a_round_does_nothing_and_leaves_the_mark(country: Country) -> None:
    country.lose("m-one/i-a")
    mark = Mark(mandate=TWO, instance=InstanceId("i-a"))
    country.marks.write(PLATFORM, mark)
    assert country.go(seconds=0)["ended"] == 0
    assert country.mark() == mark
    country.marks.write(PLATFORM, None)
    country.go(seconds=0)
    assert country.mark() == Mark(mandate=ONE, instance=NO_INSTANCE)


def test_a_mark_at_a_place_that_is_gone_begins_behind_it(country: Country) -> None:
    country.lose("m-one/i-b")
    country.marks.write(PLATFORM, Mark(mandate=ONE, instance=InstanceId("i-aa")))
    assert country.go()["ended"] == 1


def test_all_places_are_those_of_active_mandates(country: Country) -> None:
    found = [(scope.mandate, scope.instance) for scope in country.assembly.rounds.everywhere()]
    assert found == [(ONE, "i-a"), (ONE, "i-b"), (TWO, "i-a")]


def test_more_mandates_than_one_read_takes_are_all_visited(country: Country) -> None:
    for number in range(210):
        name = MandateId(f"m-two-{number:03}")
        country.mandates.write_mandate(of_platform(name), mandate(name))
        country.mandates.write_instance(of_platform(name), instance(InstanceId("i"), name))
    assert len(list(country.assembly.rounds.everywhere())) == 213


def test_a_process_that_knows_no_mandates_goes_nowhere(country: Country) -> None:
    country.assembly = Assembly.of(replace(country.assembly.world, places=None))
    with pytest.raises(Conflict, match="knows no mandates"):
        country.go()
    with pytest.raises(Conflict, match="knows no mandates"):
        list(country.assembly.rounds.everywhere())
