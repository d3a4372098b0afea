"""No effect twice unnoticed: what a call finds of the calls before it, and what it may do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from stellwerk.catalogue.model import Effect, NodeType
from stellwerk.handlers.declare import Given, Parameters
from stellwerk.handlers.step import StepHandler, step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import (
    DeadlineExceeded,
    EffectUncertain,
    RunCancelled,
    ServiceUnavailable,
    StillRunning,
)
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import Attempt, StepStatus
from tests.handlers.floor import CATALOGUE, Context, Died, Floor


@dataclass
class World:
    """What happens outside, and what is to go wrong there."""

    effects: list[str] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    meanwhile: list[object] = field(default_factory=list)


OUTSIDE = World()
NODE = NodeKey("node")


class Text(Parameters):
    text: str = ""
    method: str | None = None


def _act(parameters: Text, work: Work) -> Given:
    OUTSIDE.effects.append(work.idempotency_key)
    for happens in OUTSIDE.meanwhile:
        assert callable(happens)
        happens()
    if OUTSIDE.errors:
        raise OUTSIDE.errors.pop(0)
    return Given(parameters.text)


def _declared(name: str, handler: StepHandler[Text]) -> StepHandler[Text]:
    traits = {**vars(handler.declaration), "type": name}
    return StepHandler(NodeType(**traits), Text, Given, _act)


READ = _declared("test.read", step(title="Read", attempts=3)(_act))
WRITE = _declared("test.write", step(title="Write", effect=Effect.WRITE, attempts=3)(_act))
MAYBE = _declared(
    "test.maybe",
    step(title="Maybe", effect=Effect.WRITE, extra={"repeatable_when": {"method": ["GET"]}})(_act),
)
HANDLERS = {found.declaration.type: found for found in (READ, WRITE, MAYBE)}


class Types:
    """The real catalogue and three types of our own."""

    def find(self, name: str) -> NodeType | None:
        return HANDLERS[name].declaration if name in HANDLERS else CATALOGUE.find(name)

    def types(self) -> tuple[NodeType, ...]:
        return (*CATALOGUE.types(), *(found.declaration for found in HANDLERS.values()))


@pytest.fixture
def floor() -> Iterator[Floor]:
    OUTSIDE.__init__()  # type: ignore[misc]
    yield Floor(catalogue=Types())


def begin(floor: Floor, kind: str, **parameters: JsonValue) -> None:
    floor.publish(
        {"start": {"type": "trigger.manual"}, "node": {"type": kind, "parameters": parameters}},
        ["start node"],
    )
    floor.start()
    floor.call("start")


def call(floor: Floor, milliseconds: int = 60_000) -> JsonValue:
    kind = floor.world.blueprints.of(floor.scope, floor.run.workflow, 1).graph.by_key[NODE].type
    context = Context(milliseconds=milliseconds)
    return HANDLERS[kind].serve(floor.event("node"), context, floor)


def die(floor: Floor, *, at: int, after: bool = False) -> None:
    """Call, and end the process at the n-th store call."""
    floor.meter.calls.clear()
    floor.meter.die_at, floor.meter.after = at, after
    with pytest.raises(Died):
        call(floor)
    floor.meter.die_at = 0


@pytest.mark.parametrize("kind", ["test.read", "test.write"])
def test_while_the_lease_runs_another_call_waits(floor: Floor, kind: str) -> None:
    begin(floor, kind)
    die(floor, at=3)
    floor.clock.advance(seconds=29)
    with pytest.raises(StillRunning) as caught:
        call(floor)
    assert caught.value.retry_after == 1
    assert len(OUTSIDE.effects) == 1


def test_a_read_runs_again_when_the_lease_is_over(floor: Floor) -> None:
    begin(floor, "test.read")
    die(floor, at=3)
    floor.clock.advance(seconds=31)
    call(floor)
    first, second = floor.step("node").attempts
    assert first.error is not None
    assert first.error.type == "Interrupted"
    assert second.error is None
    assert len(OUTSIDE.effects) == 2


def test_a_write_is_uncertain_when_the_lease_is_over_and_never_runs_again(floor: Floor) -> None:
    begin(floor, "test.write")
    die(floor, at=3)
    floor.clock.advance(seconds=31)
    for _ in range(3):
        with pytest.raises(EffectUncertain, match="may have had its effect") as caught:
            call(floor)
        assert "assume done" in caught.value.remedy
    step = floor.step("node")
    assert step.status is StepStatus.UNCERTAIN
    assert step.port is None
    assert len(OUTSIDE.effects) == 1


def test_parameters_can_make_a_write_harmless(floor: Floor) -> None:
    begin(floor, "test.maybe", method="GET")
    die(floor, at=3)
    floor.clock.advance(seconds=31)
    call(floor)
    assert floor.step("node").status is StepStatus.SUCCEEDED


@pytest.mark.parametrize("method", ["POST", None])
def test_other_parameters_do_not(floor: Floor, method: str | None) -> None:
    begin(floor, "test.maybe", method=method)
    die(floor, at=3)
    floor.clock.advance(seconds=31)
    with pytest.raises(EffectUncertain):
        call(floor)


def test_a_deliberate_repetition_runs_under_another_key(floor: Floor) -> None:
    begin(floor, "test.write")
    floor.write("node", status=StepStatus.RUNNING, port=None, value=None, generation=2)
    call(floor)
    floor.run = floor.start()
    floor.call("start")
    call(floor)
    assert len(set(OUTSIDE.effects)) == 2


@pytest.mark.parametrize("kind", ["test.read", "test.write"])
@pytest.mark.parametrize("after", [False, True])
def test_wherever_the_process_dies_no_effect_is_lost_or_doubled_unnoticed(
    floor: Floor, kind: str, after: bool
) -> None:
    begin(floor, kind, text="x")
    floor.meter.calls.clear()
    calls = 3
    for at in range(1, calls + 1):
        OUTSIDE.effects.clear()
        floor.run = floor.start()
        floor.call("start")
        die(floor, at=at, after=after)
        in_flight = floor.find("node") is not None and not floor.step("node").done
        floor.clock.advance(seconds=31)
        if kind == "test.write" and in_flight:
            with pytest.raises(EffectUncertain):
                call(floor)
            assert len(OUTSIDE.effects) <= 1
        else:
            call(floor)
            assert floor.step("node").status is StepStatus.SUCCEEDED
            assert OUTSIDE.effects
            assert kind == "test.read" or len(OUTSIDE.effects) == 1


def test_transient_errors_are_tried_again_until_the_last_attempt(floor: Floor) -> None:
    begin(floor, "test.write")
    OUTSIDE.errors += [ServiceUnavailable("gone") for _ in range(4)]
    for attempt in range(1, 4):
        with pytest.raises(ServiceUnavailable, match="gone"):
            call(floor)
        step = floor.step("node")
        assert step.status is (StepStatus.FAILED if attempt == 3 else StepStatus.RUNNING)
        assert step.lease is None
        assert len(step.attempts) == attempt
    with pytest.raises(ServiceUnavailable, match="gone"):
        call(floor)
    assert len(OUTSIDE.effects) == 3


def test_an_unknown_error_keeps_its_class_and_its_traceback(floor: Floor) -> None:
    begin(floor, "test.write")
    OUTSIDE.errors.append(KeyError("price"))
    with pytest.raises(KeyError):
        call(floor)
    error = floor.step("node").attempts[0].error
    assert error is not None
    assert error.type == "KeyError"
    assert "_act" in error.traceback
    with pytest.raises(Exception, match="price") as again:
        call(floor)
    assert type(again.value).__name__ == "KeyError"


def test_a_step_that_exceeds_its_time_is_ended(floor: Floor) -> None:
    begin(floor, "test.read")
    OUTSIDE.meanwhile.append(_for_ever)
    with pytest.raises(DeadlineExceeded, match=r"0\.1 s"):
        call(floor, milliseconds=1050)
    assert floor.step("node").status is StepStatus.FAILED


def test_a_write_that_exceeds_its_time_is_uncertain(floor: Floor) -> None:
    begin(floor, "test.write")
    OUTSIDE.meanwhile.append(_for_ever)
    with pytest.raises(EffectUncertain, match=r"0\.1 s"):
        call(floor, milliseconds=1050)
    assert floor.step("node").status is StepStatus.UNCERTAIN


def test_a_late_end_is_kept_as_a_fact_and_changes_no_state(floor: Floor) -> None:
    begin(floor, "test.write", text="done after all")

    def cancelled() -> None:
        step = floor.step("node")
        floor.world.journal.write(
            floor.scope, step.model_copy(update={"status": StepStatus.CANCELLED, "lease": None})
        )

    OUTSIDE.meanwhile.append(cancelled)
    with pytest.raises(RunCancelled):
        call(floor)
    step = floor.step("node")
    assert step.status is StepStatus.CANCELLED
    assert step.port is None
    assert step.attempts[0].ended is not None
    assert floor.value("node") == "done after all"


def test_a_late_end_of_an_uncertain_write_leaves_it_uncertain(floor: Floor) -> None:
    begin(floor, "test.write", text="done after all")

    def noticed() -> None:
        OUTSIDE.meanwhile.clear()
        floor.clock.advance(seconds=31)
        with pytest.raises(EffectUncertain):
            call(floor)

    OUTSIDE.meanwhile.append(noticed)
    with pytest.raises(EffectUncertain):
        call(floor)
    step = floor.step("node")
    assert step.status is StepStatus.UNCERTAIN
    assert floor.value("node") == "done after all"
    with pytest.raises(EffectUncertain):
        call(floor)


def test_a_late_read_does_not_disturb_the_attempt_that_has_taken_over(floor: Floor) -> None:
    begin(floor, "test.read")
    order: list[str] = []

    def overtaken() -> None:
        OUTSIDE.meanwhile.clear()
        floor.clock.advance(seconds=31)
        OUTSIDE.meanwhile.append(lambda: order.append("second at work"))
        call(floor)

    OUTSIDE.meanwhile.append(overtaken)
    with pytest.raises(StillRunning):
        call(floor)
    assert floor.step("node").status is StepStatus.SUCCEEDED
    assert call(floor) is not None
    assert order == ["second at work"]


def test_a_fact_that_is_noted_meanwhile_does_not_lose_the_end(floor: Floor) -> None:
    begin(floor, "test.write", text="x")

    def noted() -> None:
        step = floor.step("node")
        old = Attempt(started=step.attempts[0].started - timedelta(days=1))
        attempts = (old, *step.attempts)
        floor.world.journal.write(floor.scope, step.model_copy(update={"attempts": attempts}))

    OUTSIDE.meanwhile.append(noted)
    call(floor)
    step = floor.step("node")
    assert step.status is StepStatus.SUCCEEDED
    assert len(step.attempts) == 2


def test_two_calls_at_once_act_once(floor: Floor) -> None:
    begin(floor, "test.write")
    results: list[object] = []
    barrier = threading.Barrier(4)

    def contend() -> None:
        barrier.wait()
        try:
            results.append(call(floor))
        except StillRunning as error:
            results.append(error)

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(OUTSIDE.effects) == 1


def _for_ever() -> None:
    while True:
        sum(range(100))
