"""The process ends at every store call of every phase in turn; then the call is repeated.

What comes of it is what would have come without: same ports, same values, one task, one child run.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stellwerk.kernel.errors import StillRunning
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import StepStatus
from tests.handlers.floor import Died, Floor

Phase = tuple[str, str, JsonObject]
"""Node, path, and what the payload holds besides."""
ASK: JsonObject = {"assignees": ["user:anna"], "due": "P3D"}


def once(node: str, path: str = "", **more: JsonValue) -> Phase:
    return (node, path, more)


def _step(floor: Floor) -> list[Phase]:
    fields: JsonObject = {"fields": {"x": "{{ $input }}"}}
    return _with(floor, {"type": "data.set", "parameters": fields}, [once("node")])


def _delay(floor: Floor) -> list[Phase]:
    node: JsonObject = {"type": "flow.wait", "parameters": {"duration": "PT1H"}}
    return _with(floor, node, [once("node", phase="open"), once("node", phase="close")])


def _expired(floor: Floor) -> list[Phase]:
    parameters: JsonObject = {**ASK, "on_expire": "default", "default": 7}
    return _with(floor, {"type": "input.approval", "parameters": parameters}, _waits())


def _each(floor: Floor) -> list[Phase]:
    items: JsonObject = {"items": "{{ [$input, $input + 1] }}"}
    node: JsonObject = {"type": "flow.for_each", "parameters": items}
    body: JsonObject = {
        "type": "data.transform",
        "parent": "node",
        "parameters": {"expression": "$item"},
    }
    phases = [
        once("node", phase="open"),
        once("body", "node[0]"),
        once("body", "node[1]"),
        once("node", phase="close"),
    ]
    return _with(floor, node, phases, body=body)


def _chunked(floor: Floor) -> list[Phase]:
    node: JsonObject = {"type": "flow.for_each", "parameters": {"items": "{{ [$input] }}"}}
    body: JsonObject = {"type": "data.set", "parent": "node"}
    phases = [
        once("node", phase="open", chunk_size=1),
        once("node", phase="chunk", chunk=0, chunk_size=1, token="t"),
        once("body", "node[0]"),
        once("node", phase="close"),
    ]
    return _with(floor, node, phases, body=body)


def _while(floor: Floor) -> list[Phase]:
    node: JsonObject = {"type": "flow.while", "parameters": {"condition": "$input < 6"}}
    body: JsonObject = {
        "type": "data.transform",
        "parent": "node",
        "parameters": {"expression": "$input + 1"},
    }
    phases = [
        once("node", phase="check", index=0),
        once("body", "node[0]"),
        once("node", phase="check", index=1),
    ]
    return _with(floor, node, phases, body=body)


def _child(floor: Floor) -> list[Phase]:
    floor.publish({"begin": {"type": "trigger.called"}}, slug="child")
    node: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}
    return _with(floor, node, _waits())


def _waits() -> list[Phase]:
    return [
        once("node", phase="open"),
        once("node", phase="wait", token="t"),
        once("node", phase="close"),
    ]


def _with(floor: Floor, node: JsonObject, phases: list[Phase], **more: JsonObject) -> list[Phase]:
    floor.publish({"start": {"type": "trigger.manual"}, "node": node, **more}, ["start node"])
    floor.start(5)
    floor.call("start")
    return phases


def perform(floor: Floor, phase: Phase) -> JsonObject:
    """Call until nothing is at work any more, as a state machine does."""
    node, path, more = phase
    if more.get("phase") == "close":
        _outside(floor)
    try:
        return floor.call(node, path, **more)
    except StillRunning:
        floor.clock.advance(seconds=40)
        return floor.call(node, path, **more)


def _outside(floor: Floor) -> None:
    """Let a child run end, if there is one."""
    step = floor.find("node")
    if step is not None and step.child and not step.done:
        run = floor.assembly.runs.get(floor.scope, RunId(step.child))
        floor.assembly.endings.execution_ended(floor.scope, run, Ended("SUCCEEDED"))


def outcome(floor: Floor) -> JsonValue:
    """Return what has come of the run, without times."""
    steps = floor.assembly.runs.steps(floor.scope, floor.run.id)
    entries = sorted((s.key.text, s.status.value, s.port or "", s.type) for s in steps)
    run = floor.assembly.runs.get(floor.scope, floor.run.id)
    value = floor.value("node")
    if isinstance(value, dict):
        value.pop("at", None)
    started = len(floor.executions.started)
    return {
        "entries": [[*entry] for entry in entries],
        "value": value,
        "waits": run.waits,
        "status": run.status.value,
        "tasks": [task.status.value for task in floor.tasks()],
        "started": started,
    }


KINDS = [_step, _delay, _expired, _each, _chunked, _while, _child]


@pytest.mark.parametrize("begin", KINDS, ids=lambda found: found.__name__)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_repeated_call_completes_what_a_dead_process_began(
    begin: Callable[[Floor], list[Phase]], after: bool
) -> None:
    undisturbed = Floor()
    calls: list[int] = []
    for phase in begin(undisturbed):
        undisturbed.meter.calls.clear()
        perform(undisturbed, phase)
        calls.append(len(undisturbed.meter.calls))
    assert undisturbed.step("node").status is StepStatus.SUCCEEDED
    assert min(calls) >= 1
    for number, count in enumerate(calls):
        for at in range(1, count + 1):
            disturbed = Floor()
            for index, phase in enumerate(begin(disturbed)):
                if index == number:
                    _die(disturbed, phase, at=at, after=after)
                perform(disturbed, phase)
            assert outcome(disturbed) == outcome(undisturbed), (number, at)


def _die(floor: Floor, phase: Phase, *, at: int, after: bool) -> None:
    floor.meter.calls.clear()
    floor.meter.die_at, floor.meter.after = at, after
    with pytest.raises(Died):
        perform(floor, phase)
    floor.meter.die_at = 0
