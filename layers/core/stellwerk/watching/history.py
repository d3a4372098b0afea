"""From the journal's entries to events: pure, and indifferent to duplicates and to order.

An entry carries all its attempts, so whatever was missed before follows from a later look at it;
what was told already is remembered per entry, so nothing is told twice. Steps of passes beyond the
first hundred of a loop are counted, each once, and not told one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.ids import Path
from stellwerk.runs.model import Attempt, Failure, Run, RunStatus, Step, StepKey, StepStatus
from stellwerk.runs.names import CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE
from stellwerk.watching.model import Happening, Problem, RunEvent
from stellwerk.workflows.graph import enclosing

TOLD_ONE_BY_ONE = 100
"""Passes of a loop whose steps are events of their own; those of later passes are counted."""
BLOCK = 2000
"""Passes whose counted steps are remembered together."""
QUEUED = "queued"
"""The status of a run that waits for its turn."""
_LONGEST = 500
_MECHANISM = {CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE}
_ENDS = {
    StepStatus.SUCCEEDED: Happening.NODE_SUCCEEDED,
    StepStatus.FAILED: Happening.NODE_FAILED,
    StepStatus.UNCERTAIN: Happening.NODE_FAILED,
    StepStatus.SKIPPED: Happening.NODE_SKIPPED,
    StepStatus.CANCELLED: Happening.NODE_CANCELLED,
}
_RUN_ENDS = {
    RunStatus.COMPLETED: Happening.RUN_COMPLETED,
    RunStatus.FAILED: Happening.RUN_FAILED,
    RunStatus.CANCELLED: Happening.RUN_CANCELLED,
}


@dataclass(frozen=True)
class Told:
    """What was told of one entry: up to which revision, how many attempts, and its status."""

    revision: int = 0
    begun: int = 0
    ended: int = 0
    status: str = ""


@dataclass(frozen=True)
class Counted:
    """Where a step is counted: which loop, the number of its pass."""

    loop: StepKey
    index: int

    @property
    def block(self) -> int:
        """Which block of passes it is in."""
        return self.index // BLOCK


def told_of(step: Step) -> bool:
    """Whether events tell of the entry: not of passes, chunks and gates."""
    return step.type not in _MECHANISM


def counted(path: Path) -> Counted | None:
    """Return where steps at `path` are counted; None: they are told one by one."""
    for loop, index, place in enclosing(path):
        if index >= TOLD_ONE_BY_ONE:
            return Counted(StepKey(path=Path(place.rpartition(".")[0]), node=loop), index)
    return None


def directly_in(path: Path, where: Counted) -> bool:
    """Whether `path` is a pass of the counted loop itself, not of a loop inside it."""
    return path == f"{where.loop.text}[{where.index}]"


def over(step: Step) -> bool:
    """Whether the entry is at an end."""
    return step.status in _ENDS


def step_events(told: Told, step: Step, now: datetime) -> tuple[Told, list[RunEvent]]:
    """Return what is to be told of an entry after what was, in order, and what is told then."""
    if step.revision <= told.revision:
        return told, []
    events = [*_of_attempts(told, step), *_of_status(told, step, now)]
    return Told(
        revision=step.revision,
        begun=max(told.begun, len(step.attempts)),
        ended=max(told.ended, sum(each.ended is not None for each in step.attempts)),
        status=step.status,
    ), events


def run_begun(status: str, run: Run, now: datetime) -> RunEvent | None:
    """Return what tells of a run whose start was not told; None for one that still is in a queue.

    `status` is what was told: `queued`, or "" for nothing.
    """
    queued = run.status == QUEUED
    if queued and status == QUEUED:
        return None
    kind = Happening.RUN_QUEUED if queued else Happening.RUN_STARTED
    at = now if status == QUEUED else run.started
    return RunEvent(kind=kind, at=at, type=run.trigger.kind)


def run_event(status: str, run: Run, now: datetime) -> RunEvent | None:
    """Return what tells that a run stands otherwise than `status`, which was told; None: nothing.

    `status` is "" before anything but its start was told.
    """
    before = RunStatus.RUNNING if status in {"", QUEUED} else status
    if run.status in {before, QUEUED}:
        return None
    if run.status is RunStatus.RUNNING:
        return RunEvent(kind=Happening.RUN_RESUMED, at=now)
    if run.status is RunStatus.PAUSED:
        return RunEvent(kind=Happening.RUN_PAUSED, at=now)
    error = _problem(run.error) if run.error else None
    return RunEvent(kind=_RUN_ENDS[run.status], at=run.ended or now, error=error)


def _of_attempts(told: Told, step: Step) -> Iterator[RunEvent]:
    last = len(step.attempts) - 1
    for number, attempt in enumerate(step.attempts):
        if number >= told.begun and step.recorded_from is None:
            yield _event(step, Happening.NODE_STARTED, attempt.started, attempt=number + 1)
        again = number < last or step.status is StepStatus.RUNNING
        if number >= told.ended and again and attempt.ended is not None and attempt.error:
            yield _retrying(step, number, attempt, attempt.error)


def _retrying(step: Step, number: int, attempt: Attempt, failure: Failure) -> RunEvent:
    at = attempt.ended or attempt.started
    event = _event(step, Happening.NODE_RETRYING, at, attempt=number + 1)
    return event.model_copy(update={"error": _problem(failure)})


def _of_status(told: Told, step: Step, now: datetime) -> Iterator[RunEvent]:
    if step.status == told.status and len(step.attempts) <= told.begun:
        return
    last = step.attempts[-1] if step.attempts else None
    if step.status is StepStatus.WAITING:
        at = last.started if last else now
        yield _event(step, Happening.NODE_WAITING, at, due=step.due)
    elif step.status in _ENDS:
        at = last.ended if last and last.ended else now
        attempt = len(step.attempts) or None
        event = _event(step, _ENDS[step.status], at, attempt=attempt, port=step.port)
        failed = event.kind is Happening.NODE_FAILED and last is not None and last.error
        yield event.model_copy(
            update={
                "error": _problem(failed) if failed else None,
                "uncertain": step.status is StepStatus.UNCERTAIN,
                "recorded": step.recorded_from is not None,
            }
        )


def _event(
    step: Step,
    kind: Happening,
    at: datetime,
    *,
    attempt: int | None = None,
    port: str | None = None,
    due: datetime | None = None,
) -> RunEvent:
    return RunEvent(
        kind=kind, at=at, step=step.key.text, type=step.type, attempt=attempt, port=port, due=due
    )


def _problem(failure: Failure) -> Problem:
    return Problem(type=failure.type, message=failure.message[:_LONGEST], node=failure.node)
