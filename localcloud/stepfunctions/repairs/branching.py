"""Parallel and Map: frames that run side by side; the first failure ends the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from moto.stepfunctions.parser.api import HistoryEventType, MapIterationEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEventException,
)
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration import (
    inline_iteration_component,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_parallel.branches_decl import (
    BranchesDecl,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.eval.program_state import ProgramError
from moto.stepfunctions.parser.asl.eval.states import ItemData, MapData

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import Interrupted, RunEnvironment, of
from localcloud.stepfunctions.failures import failure, said
from localcloud.stepfunctions.history import HistoryFull

MENDED = Mended()

MAP_CONCURRENCY = 40
"""How many items of an inline Map run at once, whatever MaxConcurrency says."""

_Input = inline_iteration_component.InlineIterationComponentEvalInput
_Map = inline_iteration_component.InlineIterationComponent


@MENDED.of(BranchesDecl, "_eval_body")
def run_branches(self: BranchesDecl, env: Environment) -> None:
    """AWS ends the other branches, and their tokens, when one fails.

    moto leaves whatever they wait for running, and cannot hand on an error called `States.*`.
    """
    value = env.stack.pop()
    group = _Group(of(env), HistoryEventType.ExecutionFailed)
    frames = [group.opened(value) for _ in self.programs]
    _side_by_side(
        group.env,
        [partial(group.run, *pair) for pair in zip(self.programs, frames, strict=True)],
    )
    group.check()
    env.stack.append([group.closed(frame) for frame in frames])


@MENDED.of(_Map, "_eval_body")
def run_items(self: _Map, env: Environment) -> None:
    """AWS runs up to 40 items at once, in order of their start, and ends the rest at a failure.

    moto recurs once for each item, so 1,000 are too many, and lets running items go on.
    """
    given: _Input = env.stack.pop()
    items = _Items(of(env), self._get_iteration_program(), given)
    size = len(given.input_items)
    workers = min(given.max_concurrency or MAP_CONCURRENCY, MAP_CONCURRENCY, size)
    _side_by_side(items.group.env, [items.work] * workers)
    items.group.check()
    env.stack.append([items.outputs[index] for index in range(size)])


class _Group:
    """The frames of one Parallel or Map."""

    def __init__(self, env: RunEnvironment, kind: HistoryEventType) -> None:
        self.env = env
        self._kind = kind
        self._lock = threading.Lock()
        self._open: list[RunEnvironment] = []
        self._error: Exception | None = None

    @property
    def failed(self) -> bool:
        return self._error is not None

    def opened(self, value: object) -> RunEnvironment:
        frame = self.env.inner()
        frame.states.reset(input_value=value)
        with self._lock:
            self._open.append(frame)
            late = self.failed
        if late:
            _stop(frame)
        return frame

    def run(self, program: Program, frame: RunEnvironment) -> None:
        program.eval(frame)
        state = frame.program_state()
        if isinstance(state, ProgramError):
            details = state.error or {}
            self.fail(failure(self.env, details.get("error"), details.get("cause"), self._kind))

    def fail(self, error: Exception) -> None:
        """Keep the first error and end all frames."""
        with self._lock:
            if self.failed:
                return
            self._error = error
            others = list(self._open)
        for frame in others:
            _stop(frame)

    def closed(self, frame: RunEnvironment) -> Any:
        """Take the frame off the machine and return its output."""
        with self._lock:
            self._open.remove(frame)
        self.env.close_frame(frame)
        return frame.states.get_input()

    def check(self) -> None:
        """Raise the first failure, or Interrupted if all were ended from outside."""
        if self._error is not None:
            for frame in self._open:
                self.env.close_frame(frame)
            raise self._error
        if not self.env.is_running():
            raise Interrupted


class _Items:
    """The items of one Map, taken one after the other by several threads."""

    def __init__(self, env: RunEnvironment, program: Program, given: _Input) -> None:
        self.group = _Group(env, HistoryEventType.MapIterationFailed)
        self.outputs: dict[int, Any] = {}
        self._program = program
        self._given = given
        self._input = env.stack[-1]
        self._lock = threading.Lock()
        self._left: Iterator[tuple[int, Any]] = iter(enumerate(given.input_items))

    def work(self) -> None:
        while (taken := self._next()) is not None:
            try:
                self._run(*taken)
            except (FailureEventException, HistoryFull) as error:
                self.group.fail(error)

    def _next(self) -> tuple[int, Any] | None:
        with self._lock:
            if self.group.failed or not self.group.env.is_running():
                return None
            return next(self._left, None)

    def _run(self, index: int, item: object) -> None:
        frame = self.group.opened(item)
        frame.states.context_object.context_object_data["Map"] = MapData(
            Item=ItemData(Index=index, Value=item)
        )
        details = MapIterationEventDetails(name=self._given.state_name, index=index)
        started = said(mapIterationStartedEventDetails=details)
        _record(frame, HistoryEventType.MapIterationStarted, started)
        self._select(frame)
        self.group.run(self._program, frame)
        if frame.is_ended():
            succeeded = said(mapIterationSucceededEventDetails=details)
            _record(frame, HistoryEventType.MapIterationSucceeded, succeeded)
            self.outputs[index] = self.group.closed(frame)

    def _select(self, frame: RunEnvironment) -> None:
        selector = self._given.item_selector or self._given.parameters
        if selector is not None:
            frame.states.reset(input_value=self._input)
            selector.eval(frame)
            frame.states.reset(input_value=frame.stack.pop())


def _record(frame: RunEnvironment, kind: HistoryEventType, details: EventDetails) -> None:
    frame.event_manager.add_event(
        context=frame.event_history_context,
        event_type=kind,
        event_details=details,
        update_source_event_id=kind == HistoryEventType.MapIterationStarted,
    )


def _stop(frame: RunEnvironment) -> None:
    frame.set_stop(datetime.now(UTC), None, None)


def _side_by_side(env: RunEnvironment, jobs: Sequence[Callable[[], None]]) -> None:
    """Run all jobs, the last in this thread, and return when all have ended."""
    if not jobs:
        return
    countdown = _Countdown(len(jobs))
    for job in jobs[:-1]:
        if not env.runtime.workers.run(partial(countdown.count, job)):
            countdown.count(_nothing)
    countdown.count(jobs[-1])
    countdown.over.wait()


class _Countdown:
    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()
        self.over = threading.Event()

    def count(self, job: Callable[[], None]) -> None:
        try:
            job()
        finally:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self.over.set()


def _nothing() -> None:
    """What is run of a job when the cloud is being stopped."""
