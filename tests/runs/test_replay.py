"""Replay: what is recorded does not run, what may have happened is not repeated unasked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.calls import idempotency_key
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Attempt, Failure, Run, RunStatus, Step, StepStatus
from stellwerk.runs.names import origin_of
from stellwerk.workflows.graph import Graph
from tests.runs.stage import FOREIGN, Crash, Power, Stage, fragile, graph, key_of

NODES: dict[str, str | JsonObject] = {
    "start": "trigger",
    "read": "data.set",
    "send": "mail.send",
    "side": "data.set",
    "last": "data.set",
}
EDGES = ["start read", "read send", "send last", "start side"]
LINE = graph(NODES, EDGES)


def _uncertain(stage: Stage, run: Run, node: str, path: str = "", **changes: object) -> None:
    now = stage.clock.now()
    error = Failure(type="EffectUncertain", message="?")
    attempts = (Attempt(started=now, ended=now, error=error),)
    stage.write(run, node, StepStatus.UNCERTAIN, path=path, attempts=attempts, **changes)  # type: ignore[arg-type]


def _end(stage: Stage, run: Run, status: str = "FAILED") -> None:
    stage.assembly.endings.execution_ended(stage.scope, stage.run(run), Ended(status, "Bad", "x"))


def _done(stage: Stage, run: Run, *nodes: str, path: str = "") -> None:
    for node in nodes:
        stage.write(run, node, path=path, value=stage.keep(f"{path}{node}"))


def _steps(stage: Stage, run: Run) -> dict[str, Step]:
    return {step.key.text: step for step in stage.assembly.runs.steps(stage.scope, run.id)}


@pytest.fixture
def failed(stage: Stage) -> Run:
    """A run that failed at `send`, when all before it was done."""
    stage.publish(LINE)
    run = stage.start(payload={"n": 1})
    _done(stage, run, "start", "read", "side")
    stage.fail(run, "send")
    _end(stage, run)
    return stage.run(run)


def test_a_replay_goes_on_where_the_run_failed(stage: Stage, failed: Run) -> None:
    again = stage.assembly.runs.replay(stage.scope, failed.id)
    assert again.id != failed.id
    assert (again.origin, again.status) == (failed.id, RunStatus.RUNNING)
    assert stage.value(again.input) == {"n": 1}
    assert again.execution in stage.executions.started
    steps = _steps(stage, again)
    assert sorted(steps) == ["read", "side", "start"]
    assert all(step.done and step.recorded_from == failed.id for step in steps.values())
    assert stage.value(steps["read"].value) == "read"


def test_a_replay_of_a_replay_keeps_the_first_origin(stage: Stage, failed: Run) -> None:
    second = stage.assembly.runs.replay(stage.scope, failed.id)
    _end(stage, second)
    third = stage.assembly.runs.replay(stage.scope, second.id)
    assert origin_of(third) == failed.id
    assert _steps(stage, third)["read"].recorded_from == failed.id
    key = key_of("send")
    assert idempotency_key(origin_of(third), key, 1) == idempotency_key(failed.id, key, 1)
    assert idempotency_key(failed.id, key, 2) != idempotency_key(failed.id, key, 1)


def test_from_a_node_that_node_and_its_descendants_run_again(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.start()
    _done(stage, run, "start", "read", "send", "side", "last")
    _end(stage, run, "SUCCEEDED")
    again = stage.assembly.runs.replay(stage.scope, run.id, from_node=NodeKey("read"))
    steps = _steps(stage, again)
    assert [text for text, step in steps.items() if step.done] == ["side", "start"]
    carried = steps["send"]  # a person repeats a write that has happened: under a new key
    assert (carried.status, carried.generation) == (StepStatus.RUNNING, 2)
    assert (carried.attempts, carried.value) == ((), None)


def test_writes_that_would_happen_again_are_told_beforehand(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.start()
    _done(stage, run, "start", "read", "send", "side", "last")
    _end(stage, run, "SUCCEEDED")
    runs = stage.assembly.runs
    again = runs.writes_again(stage.scope, run.id, from_node=NodeKey("read"))
    assert [key.text for key in again] == ["send"]
    assert not runs.writes_again(stage.scope, run.id, from_node=NodeKey("last"))


def test_what_is_repeated_counts_as_a_write_again_what_is_assumed_done_does_not(
    stage: Stage, doubtful: Run
) -> None:
    runs = stage.assembly.runs
    again = runs.writes_again(stage.scope, doubtful.id, repeat={"send"})
    assert [key.text for key in again] == ["send"]
    assert not runs.writes_again(stage.scope, doubtful.id, assume_done={"send": 1})


def test_an_unknown_node_is_refused_with_the_choices(stage: Stage, failed: Run) -> None:
    with pytest.raises(BadInput, match=r"no node 'x' to replay from.*last, read, send"):
        stage.assembly.runs.replay(stage.scope, failed.id, from_node=NodeKey("x"))


def test_an_open_run_and_a_foreign_one_are_not_replayed(stage: Stage) -> None:
    stage.publish(LINE)
    run = stage.start()
    with pytest.raises(Conflict, match="is running: it does not allow 'replay'"):
        stage.assembly.runs.replay(stage.scope, run.id)
    with pytest.raises(NotFound):
        stage.assembly.runs.replay(FOREIGN, run.id)


def test_a_newer_version_keeps_what_is_unchanged_and_has_only_kept_ancestors(
    stage: Stage, failed: Run
) -> None:
    changed: dict[str, str | JsonObject] = {
        **NODES,
        "read": {"type": "data.set", "parameters": {"value": 2}},
    }
    stage.publish(graph(changed, EDGES))
    again = stage.assembly.runs.replay(stage.scope, failed.id, version=2)
    assert again.version == 2
    assert sorted(_steps(stage, again)) == ["side", "start"]
    same = stage.assembly.runs.replay(stage.scope, failed.id)
    assert same.version == 1


def test_a_node_with_a_new_predecessor_runs_again(stage: Stage, failed: Run) -> None:
    stage.publish(graph(NODES, [*EDGES, "side read"]))
    again = stage.assembly.runs.replay(stage.scope, failed.id, version=2)
    assert sorted(_steps(stage, again)) == ["side", "start"]


def test_a_version_without_the_runs_trigger_is_refused(stage: Stage, failed: Run) -> None:
    stage.publish(graph({"begin": "trigger"}))
    with pytest.raises(BadInput, match="no trigger 'start'"):
        stage.assembly.runs.replay(stage.scope, failed.id, version=2)


@pytest.fixture
def doubtful(stage: Stage) -> Run:
    """A run that failed because `send` may have happened."""
    stage.publish(LINE)
    run = stage.start()
    _done(stage, run, "start", "read", "side")
    _uncertain(stage, run, "send")
    _end(stage, run)
    return stage.run(run)


def test_a_step_that_may_have_happened_needs_a_persons_word(stage: Stage, doubtful: Run) -> None:
    with pytest.raises(BadInput, match="may have happened: send") as refused:
        stage.assembly.runs.replay(stage.scope, doubtful.id)
    assert "assume_done" in refused.value.remedy
    assert "repeat" in refused.value.remedy
    assert len(stage.assembly.runs.list(stage.scope).items) == 1


def test_what_is_assumed_to_be_done_does_not_run(stage: Stage, doubtful: Run) -> None:
    again = stage.assembly.runs.replay(stage.scope, doubtful.id, assume_done={"send": {"id": 7}})
    step = _steps(stage, again)["send"]
    assert (step.status, step.port) == (StepStatus.SUCCEEDED, "out")
    assert stage.value(step.value) == {"id": 7}


def test_what_is_repeated_runs_under_a_new_idempotency_key(stage: Stage, doubtful: Run) -> None:
    again = stage.assembly.runs.replay(stage.scope, doubtful.id, repeat={"send"})
    step = _steps(stage, again)["send"]
    assert (step.status, step.generation, step.attempts) == (StepStatus.RUNNING, 2, ())
    _end(stage, again)
    third = stage.assembly.runs.replay(stage.scope, again.id)
    assert _steps(stage, third)["send"].generation == 2


@pytest.mark.parametrize(
    ("assume", "repeat", "message"),
    [
        ({"nothing": 1}, set(), "cannot be assumed to be done: nothing. Those that can are: send"),
        ({"read": 1}, set(), "cannot be assumed to be done: read"),
        ({}, {"nothing"}, "cannot be repeated: nothing. Those that can are: read, send, side"),
        ({"send": 1}, {"read"}, "are recorded and do not run again: read"),
    ],
)
def test_words_about_other_steps_are_refused(
    stage: Stage, doubtful: Run, assume: dict[str, JsonValue], repeat: set[str], message: str
) -> None:
    with pytest.raises(BadInput) as refused:
        stage.assembly.runs.replay(stage.scope, doubtful.id, assume_done=assume, repeat=repeat)
    assert message in refused.value.message


def test_a_crash_at_any_call_of_a_replay_leaves_no_run_half_recorded() -> None:
    crashes = 0
    for at in range(1, 12):
        case = Stage()
        case.publish(LINE)
        run = case.start()
        _done(case, run, "start", "read")
        _end(case, run)
        try:
            Assembly.of(fragile(case.world, Power(at))).runs.replay(case.scope, run.id)
        except Crash:
            crashes += 1
        case.clock.advance(minutes=5)
        case.assembly.sweeper.sweep(case.scope)
        for found in case.assembly.runs.list(case.scope).items:
            assert found.execution in case.executions.started
            assert {"start", "read"} <= set(_steps(case, found))
    assert crashes == 7


LOOPS: dict[str, str | JsonObject] = {
    "start": "trigger",
    "each": "flow.for_each",
    "get": {"type": "data.set", "parent": "each"},
    "put": {"type": "mail.send", "parent": "each"},
    "end": "data.set",
}
LOOP = graph(LOOPS, ["start each", "get put", "each end"])


def _loop_run(stage: Stage, drawn: Graph = LOOP) -> Run:
    """A run whose loop of three items has done the first, failed in the second."""
    stage.publish(drawn)
    run = stage.start()
    _done(stage, run, "start")
    stage.write(
        run,
        "each",
        StepStatus.RUNNING,
        size=3,
        attempts=(Attempt(started=stage.clock.now()),),
        input=stage.keep({"items": [1, 2, 3]}),
    )
    for index in range(3):
        stage.write_scope(run, "each", index, item=index)
    _done(stage, run, "get", "put", path="each[0]")
    _done(stage, run, "get", path="each[1]")
    stage.fail(run, "put", path="each[1]")
    stage.write(run, "each@chunk0", type="chunk")
    stage.write(run, "end@gate", type="gate")
    _end(stage, run)
    return run


def test_a_loop_goes_on_with_its_recorded_items_where_it_failed(stage: Stage) -> None:
    again = stage.assembly.runs.replay(stage.scope, _loop_run(stage).id)
    steps = _steps(stage, again)
    assert sorted(text for text, step in steps.items() if step.done) == [
        "each[0].get",
        "each[0].put",
        "each[1].get",
        "start",
    ]
    loop = steps["each"]
    assert (loop.status, loop.size, loop.attempts) == (StepStatus.RUNNING, 3, ())
    assert stage.value(loop.input) == {"items": [1, 2, 3]}
    assert [stage.value(steps[f"each[{n}].each"].value) for n in range(3)] == [0, 1, 2]
    assert not any("@" in text for text in steps)


def test_from_a_node_in_a_loop_it_runs_again_for_every_item(stage: Stage) -> None:
    again = stage.assembly.runs.replay(stage.scope, _loop_run(stage).id, from_node=NodeKey("put"))
    steps = _steps(stage, again)
    assert sorted(text for text, step in steps.items() if step.done) == [
        "each[0].get",
        "each[1].get",
        "start",
    ]
    assert steps["each[0].put"].generation == 2


def test_from_the_loop_itself_nothing_of_it_is_kept(stage: Stage) -> None:
    again = stage.assembly.runs.replay(stage.scope, _loop_run(stage).id, from_node=NodeKey("each"))
    steps = _steps(stage, again)
    assert sorted(steps) == ["each[0].put", "start"]
    assert steps["each[0].put"].generation == 2


def test_a_loop_whose_items_are_made_otherwise_is_not_kept(stage: Stage) -> None:
    run = _loop_run(stage)
    changed: JsonObject = {"type": "flow.for_each", "parameters": {"items": "{{ $input }}"}}
    stage.publish(graph({**LOOPS, "each": changed}, ["start each", "get put", "each end"]))
    again = stage.assembly.runs.replay(stage.scope, run.id, version=2)
    assert not any(step.done for text, step in _steps(stage, again).items() if "each" in text)


def test_a_changed_body_is_entered_again_with_what_is_unchanged(stage: Stage) -> None:
    stage.publish(LOOP)
    run = stage.start()
    _done(stage, run, "start", "each", "end")
    stage.write_scope(run, "each", 0, item=1)
    _done(stage, run, "get", "put", path="each[0]")
    _end(stage, run, "SUCCEEDED")
    more: dict[str, str | JsonObject] = {**LOOPS, "new": {"type": "data.set", "parent": "each"}}
    stage.publish(graph(more, ["start each", "get put", "each end", "put new"]))
    steps = _steps(stage, stage.assembly.runs.replay(stage.scope, run.id, version=2))
    assert sorted(text for text, step in steps.items() if step.done) == [
        "each[0].get",
        "each[0].put",
        "start",
    ]
    assert steps["each"].status is StepStatus.RUNNING


def test_a_failed_item_is_whole_again_when_its_loop_goes_on(stage: Stage) -> None:
    run = _loop_run(stage)
    scope = stage.step(run, "each", "each[1]")
    now = stage.clock.now()
    failed = {"status": StepStatus.FAILED, "attempts": (Attempt(started=now, ended=now),)}
    stage.world.journal.write(stage.scope, scope.model_copy(update=failed))
    again = stage.assembly.runs.replay(stage.scope, run.id)
    copied = stage.step(again, "each", "each[1]")
    assert (copied.status, copied.attempts) == (StepStatus.RUNNING, ())


def test_a_failed_item_stays_so_where_its_loop_is_done(stage: Stage) -> None:
    stage.publish(LOOP)
    run = stage.start()
    _done(stage, run, "start", "each")
    stage.write(run, "each", StepStatus.FAILED, path="each[0]", type="scope")
    stage.fail(run, "get", path="each[0]")
    stage.fail(run, "end")
    _end(stage, run)
    again = stage.assembly.runs.replay(stage.scope, run.id)
    assert stage.step(again, "each", "each[0]").status is StepStatus.FAILED
    assert stage.step(again, "each").done


WHILES: dict[str, str | JsonObject] = {
    "start": "trigger",
    "loop": "flow.while",
    "a": {"type": "data.set", "parent": "loop"},
    "b": {"type": "data.set", "parent": "loop"},
}
WHILE = graph(WHILES, ["start loop", "a b"])


def _while_run(stage: Stage, passes: int = 3) -> Run:
    """A run whose while loop failed in the last of its passes, at `b`."""
    stage.publish(WHILE)
    run = stage.start()
    _done(stage, run, "start")
    stage.write(run, "loop", StepStatus.RUNNING, attempts=(Attempt(started=stage.clock.now()),))
    for index in range(passes):
        path = f"loop[{index}]"
        stage.write(run, "loop", StepStatus.RUNNING, path=path, type="scope", port="again")
        _done(stage, run, "a", path=path)
        if index < passes - 1:
            _done(stage, run, "b", path=path)
    stage.fail(run, "b", path=f"loop[{passes - 1}]")
    _end(stage, run)
    return run


def test_a_while_goes_on_in_the_pass_that_failed(stage: Stage) -> None:
    steps = _steps(stage, stage.assembly.runs.replay(stage.scope, _while_run(stage).id))
    assert {text for text, step in steps.items() if step.done and ".loop" not in text} == {
        "start",
        "loop[0].a",
        "loop[0].b",
        "loop[1].a",
        "loop[1].b",
        "loop[2].a",
    }
    assert steps["loop[2].loop"].port == "again"


def test_behind_a_pass_that_runs_again_no_pass_is_kept(stage: Stage) -> None:
    again = stage.assembly.runs.replay(stage.scope, _while_run(stage).id, from_node=NodeKey("b"))
    assert sorted(_steps(stage, again)) == ["loop", "loop[0].a", "loop[0].loop", "start"]


def test_a_while_that_is_done_is_kept_as_it_is(stage: Stage) -> None:
    stage.publish(graph({**WHILES, "end": "data.set"}, ["start loop", "a b", "loop end"]))
    run = stage.start()
    _done(stage, run, "start", "loop")
    stage.write(run, "loop", StepStatus.RUNNING, path="loop[0]", type="scope", port="out")
    stage.fail(run, "end")
    _end(stage, run)
    again = stage.assembly.runs.replay(stage.scope, run.id)
    assert {"start", "loop", "loop[0].loop"} == set(_steps(stage, again))


def test_a_while_cut_off_between_two_passes_keeps_them_all(stage: Stage) -> None:
    stage.publish(WHILE)
    run = stage.start()
    _done(stage, run, "start")
    stage.write(run, "loop", StepStatus.RUNNING, attempts=(Attempt(started=stage.clock.now()),))
    stage.write(run, "loop", StepStatus.RUNNING, path="loop[0]", type="scope", port="again")
    _done(stage, run, "a", "b", path="loop[0]")
    stage.assembly.runs.cancel(stage.scope, run.id)
    again = stage.assembly.runs.replay(stage.scope, run.id)
    assert {"loop[0].a", "loop[0].b", "loop[0].loop"} <= set(_steps(stage, again))


def test_due_times_are_kept_a_persons_only_while_some_is_left(stage: Stage) -> None:
    nodes = {
        "start": "trigger",
        "wait": "flow.wait",
        "ask": "input.approval",
        "old": "input.approval",
    }
    stage.publish(graph(nodes, ["start wait", "start ask", "start old"]))
    run = stage.start()
    _done(stage, run, "start")
    now = stage.clock.now()
    past, ahead = now - timedelta(days=1), now + timedelta(days=1)
    for node, due in (("wait", past), ("ask", ahead), ("old", past)):
        stage.write(run, node, StepStatus.WAITING, due=due, input=stage.keep({"x": 1}))
    stage.assembly.runs.cancel(stage.scope, run.id)
    steps = _steps(stage, stage.assembly.runs.replay(stage.scope, run.id))
    assert (steps["wait"].due, steps["ask"].due) == (past, ahead)
    assert stage.value(steps["ask"].input) == {"x": 1}
    assert "old" not in steps


def test_a_type_that_is_gone_is_neither_a_wait_nor_a_write(stage: Stage) -> None:
    stage.publish(graph({"start": "trigger", "odd": "no.such"}, ["start odd"]))
    run = stage.start()
    _done(stage, run, "start", "odd")
    stage.assembly.runs.cancel(stage.scope, run.id)
    again = stage.assembly.runs.replay(stage.scope, run.id, from_node=NodeKey("odd"))
    assert sorted(_steps(stage, again)) == ["start"]


def test_pinned_versions_are_kept_and_new_sub_workflows_pinned(stage: Stage) -> None:
    call: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "one"}}
    one = stage.publish(graph({"c": "called"}), slug="one")
    two = stage.publish(graph({"c": "called"}), slug="two")
    stage.publish(graph({"start": "trigger", "call": call}, ["start call"]))
    run = stage.start()
    _end(stage, run)
    stage.publish(graph({"c": "called"}), slug="one")
    other: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "two"}}
    stage.publish(graph({"start": "trigger", "call": call, "other": other}, ["start call"]))
    again = stage.assembly.runs.replay(stage.scope, run.id, version=2)
    assert again.pinned_versions == {one: 1, two: 1}
