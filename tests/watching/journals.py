"""Journals as they come to be: all looks at the entries of one run, in the order of writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.runs.model import Attempt, Failure, Run, RunStatus, Step, StepStatus
from stellwerk.watching.projecting import Look, RunLook
from tests.contracts.records import RUN, START
from tests.contracts.records import run as new_run

LOST = Failure(type="ServiceUnavailable", message="no answer")
PORTS = {StepStatus.SUCCEEDED: "out"}


def at(seconds: float) -> datetime:
    """Return a moment of the run."""
    return START + timedelta(seconds=seconds)


@dataclass
class Entry:
    """One entry, written again and again."""

    node: str
    path: Path = ROOT
    kind: str = "data.set"

    def __post_init__(self) -> None:
        self._step = Step(
            run=RUN,
            path=self.path,
            node=NodeKey(self.node),
            type=self.kind,
            status=StepStatus.RUNNING,
        )

    def begin(self, seconds: float, status: StepStatus = StepStatus.RUNNING) -> Step:
        """Begin an attempt."""
        attempts = (*self._step.attempts, Attempt(started=at(seconds)))
        return self._write(status=status, attempts=attempts)

    def retry(self, seconds: float) -> Step:
        """End the attempt with an error; another one follows."""
        return self._write(attempts=self._ended(seconds, LOST))

    def renew(self) -> Step:
        """Write the entry without any news."""
        return self._write(token=f"t-{self._step.revision}")

    def end(self, seconds: float, status: StepStatus = StepStatus.SUCCEEDED) -> Step:
        """End the attempt for good."""
        error = None if status is StepStatus.SUCCEEDED else LOST
        attempts = self._ended(seconds, error)
        return self._write(status=status, attempts=attempts, port=PORTS.get(status))

    def skip(self) -> Step:
        """Skip the node."""
        return self._write(status=StepStatus.SKIPPED)

    def _ended(self, seconds: float, error: Failure | None) -> tuple[Attempt, ...]:
        last = self._step.attempts[-1].model_copy(update={"ended": at(seconds), "error": error})
        return (*self._step.attempts[:-1], last)

    def _write(self, **changes: object) -> Step:
        revision = self._step.revision + 1
        self._step = self._step.model_copy(update={**changes, "revision": revision})
        return self._step


def run(status: RunStatus = RunStatus.RUNNING, order: int = 1) -> RunLook:
    """Return a look at the run."""
    ended = None if status.open else at(99)
    error = LOST if status is RunStatus.FAILED else None
    stored: Run = new_run().model_copy(
        update={"status": status, "ended": ended, "error": error, "revision": order}
    )
    return RunLook(stored, f"{order:09d}")


def story() -> Sequence[Look]:
    """Return a run that retries, waits, loops and skips."""
    check, ask, loop, late = Entry("check"), Entry("ask"), Entry("lines"), Entry("late")
    looks: list[Look] = [run(), check.begin(1), check.retry(2), check.begin(3), check.end(4)]
    looks += [ask.begin(5, StepStatus.WAITING), run(RunStatus.PAUSED, 2), ask.renew()]
    looks += [run(RunStatus.RUNNING, 3), ask.end(6), loop.begin(7)]
    for index in range(3):
        path = Path(f"lines[{index}]")
        book = Entry("book", path)
        looks += [
            Entry("lines", path, "scope").begin(8),
            book.begin(9 + index),
            book.end(9.5 + index, StepStatus.FAILED if index == 1 else StepStatus.SUCCEEDED),
        ]
    return [*looks, loop.end(20), late.skip(), run(RunStatus.COMPLETED, 4)]
