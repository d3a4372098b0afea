from __future__ import annotations

import pytest

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.records import Stored, ValueRef
from stellwerk.runs.comparing import Compared, Side, compare
from stellwerk.runs.model import Attempt, Run, Step, StepStatus
from tests.contracts.records import step
from tests.runs.stage import FOREIGN, Stage, graph, replace_seconds


def ran(stage: Stage, amount: int, *, seconds: int = 2) -> Run:
    run = stage.start()
    began = stage.clock.now()
    attempt = Attempt(started=began, ended=replace_seconds(began, seconds))
    stage.write(run, "start")
    stage.write(run, "set", value=stage.keep({"amount": amount}), attempts=(attempt,))
    return run


def test_two_runs_are_told_apart_step_by_step(stage: Stage) -> None:
    nodes = {"start": "trigger", "set": "data.set", "more": "data.set"}
    stage.publish(graph(nodes, ["start set", "set more"]))
    one, other = ran(stage, 5), ran(stage, 6, seconds=3)
    stage.fail(other, "more", after=1)
    compared = stage.assembly.runs.compare(stage.scope, one.id, other.id)
    changed, start, only = compared
    assert (start.step, start.equal) == ("start", None)
    assert changed == Compared(
        "set", Side("succeeded", "out", 2000), Side("succeeded", "out", 3000), False
    )
    assert only == Compared("more", None, Side("failed", None, 1000), None)
    same = stage.assembly.runs.compare(stage.scope, one.id, one.id)
    assert [each.equal for each in same] == [True, None]


def test_both_runs_must_be_there(stage: Stage) -> None:
    stage.publish(graph({"start": "trigger"}))
    run = stage.start()
    with pytest.raises(NotFound):
        stage.assembly.runs.compare(stage.scope, run.id, FOREIGN.user)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        stage.assembly.runs.compare(FOREIGN, run.id, run.id)


def of(value: Stored, status: StepStatus = StepStatus.SUCCEEDED) -> Step:
    return step(status=status).model_copy(update={"value": value})


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Stored(text='{"a":1,"b":2}'), Stored(text='{"b":2,"a":1}'), True),
        (Stored(text="1"), Stored(text="2"), False),
        (Stored(text="1"), Stored(ref=ValueRef(key="k", size=1, sha256="s")), False),
        (
            Stored(ref=ValueRef(key="k", size=9, sha256="s")),
            Stored(ref=ValueRef(key="l", size=9, sha256="s")),
            True,
        ),
    ],
)
def test_values_are_equal_if_they_say_the_same(one: Stored, other: Stored, equal: bool) -> None:
    assert [each.equal for each in compare([of(one)], [of(other)])] == [equal]


def test_what_loops_and_gates_work_with_is_left_out() -> None:
    assert compare([step(kind="scope")], [step(kind="gate")]) == []
