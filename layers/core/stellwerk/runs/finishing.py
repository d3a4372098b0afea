"""Ending runs: the outcome is recorded first and once, then all is closed, the end comes last.

While a run is open its ending is not complete, so a second delivery of the event, or the sweeper,
finds what a crash has left undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from stellwerk.kernel.ids import ROOT, RunId
from stellwerk.kernel.records import Stored
from stellwerk.runs.announcing import announce
from stellwerk.runs.causes import CANCELLED, cancelled, first_failure, from_execution
from stellwerk.runs.closing import Closing
from stellwerk.runs.contention import settle
from stellwerk.runs.entries import Entries
from stellwerk.runs.model import Failure, Run, Step, StepKey
from stellwerk.runs.outcome import end_entries, stop_entry, unreached
from stellwerk.runs.states import RunEvent, run_after
from stellwerk.runs.turns import Turns
from stellwerk.runs.values import object_text
from stellwerk.runs.waking import over, wake
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph

SUCCEEDED = "SUCCEEDED"
ABORTED = "ABORTED"
_TOGETHER = 500
"""Skipped entries that are written at once."""


@dataclass(frozen=True)
class Ended:
    """How an execution ended: `SUCCEEDED`, `FAILED`, `TIMED_OUT` or `ABORTED`, and why."""

    status: str
    error: str = ""
    cause: str = ""


class Endings:
    """Ends runs, each once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._closing = Closing(world, self.cancel)
        self._turns = Turns(world, self.cancel)
        self._followers: list[Callable[[Scope, Run], None]] = []

    @property
    def closing(self) -> Closing:
        """What closes scopes, also of runs that go on."""
        return self._closing

    @property
    def turns(self) -> Turns:
        """What lets runs in, as many at once as their limits allow."""
        return self._turns

    def follow(self, follower: Callable[[Scope, Run], None]) -> None:
        """Tell `follower` of every run that has ended; it raises nothing."""
        self._followers.append(follower)

    def execution_ended(self, scope: Scope, run: Run, ended: Ended) -> Run:
        """End `run`, whose present execution has ended; nothing changes if it is over already."""
        if not run.status.open:
            return run
        if over(run):
            return self.finish(scope, run)
        if ended.status == SUCCEEDED:
            output = self._output(scope, run)
            return self.finish(scope, self._record(scope, run, error=None, output=output))
        steps = self._world.journal.steps(scope, run.id)
        error = _error(ended, steps, self._world.graph(scope, run))
        return self.finish(scope, self._record(scope, run, error=error, output=None))

    def cancel(self, scope: Scope, run: RunId, *, cause: str) -> None:
        """End the run as cancelled; nothing happens if it is over."""
        found = self._world.runs.get(scope, run)
        if found.status.open:
            self.finish(scope, self._record(scope, found, error=cancelled(cause), output=None))

    def finish(self, scope: Scope, run: Run) -> Run:
        """Complete the ending of a run whose outcome is recorded; may be repeated."""
        cause = run.error.message if run.error else "the run is over"
        if run.execution and run.error is not None and run.error.type == CANCELLED:
            self._world.executions.stop(scope, run.execution, cause=cause)
        self._closing.close_all(scope, run, cause=cause)
        steps = Entries(self._world.journal, scope, run.id)
        if run.error is None:
            self._skip(scope, run, steps)
        wake(self._world, scope, run)
        announce(self._world, scope, run)
        if self._world.follower is not None:
            self._world.follower.ending(scope, run, steps)
        ended = settle(lambda: self._end(scope, run.id))
        if self._closing.close_tasks(scope, run.id, ROOT):  # opened while the run was ending
            self._closing.close_all(scope, run, cause=cause)
        self._turns.freed(scope, ended)
        for follower in self._followers:
            follower(scope, ended)
        return ended

    def _record(
        self, scope: Scope, run: Run, *, error: Failure | None, output: Stored | None
    ) -> Run:
        return settle(lambda: self._write_outcome(scope, run.id, error, output))

    def _write_outcome(
        self, scope: Scope, run_id: RunId, error: Failure | None, output: Stored | None
    ) -> Run:
        run = self._world.runs.get(scope, run_id)
        if over(run):
            return run
        outcome = {"ended": self._world.clock.now(), "error": error, "output": output}
        return self._world.runs.write(scope, run.model_copy(update=outcome))

    def _end(self, scope: Scope, run_id: RunId) -> Run:
        run = self._world.runs.get(scope, run_id)
        if not run.status.open:
            return run
        status = run_after(run, _event(run.error))
        return self._world.runs.end(scope, run.model_copy(update={"status": status}))

    def _skip(self, scope: Scope, run: Run, steps: Entries) -> None:
        graph = self._world.graph(scope, run)
        skipped = unreached(graph, steps, run.id, execution=run.generation)
        while together := list(islice(skipped, _TOGETHER)):
            self._world.journal.fill(scope, run.id, together)

    def _output(self, scope: Scope, run: Run) -> Stored:
        graph = self._world.graph(scope, run)
        top = [StepKey(path=ROOT, node=node.key) for node in graph.children[None]]
        entries = self._world.journal.read(scope, run.id, top)
        stop = stop_entry(graph, self._world.catalogue, entries)
        if stop is not None and stop.value is not None:
            return stop.value
        values = self._world.values
        ends: dict[str, str] = {
            step.node: values.load_text(scope, step.value) for step in end_entries(graph, entries)
        }
        return values.keep_text(scope, run.id, object_text(ends))


def _error(ended: Ended, steps: Iterable[Step], graph: Graph) -> Failure:
    if ended.status == ABORTED:
        return cancelled(ended.cause or "The execution was stopped.")
    if ended.error == CANCELLED:
        return cancelled(from_execution(ended.error, ended.cause).message)
    fallback = from_execution(ended.error or ended.status, ended.cause)
    return first_failure(steps, graph) or fallback


def _event(error: Failure | None) -> RunEvent:
    if error is None:
        return RunEvent.COMPLETE
    return RunEvent.CANCEL if error.type == CANCELLED else RunEvent.FAIL
