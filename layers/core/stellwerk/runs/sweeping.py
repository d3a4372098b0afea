"""The sweeper: completes what a crash or a lost event has left undone. Repairs may be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial

from stellwerk.kernel.errors import StellwerkError
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.finishing import Ended, Endings
from stellwerk.runs.model import HumanTask, Run
from stellwerk.runs.retiring import Retiring
from stellwerk.runs.starting import Starting
from stellwerk.runs.tasks import TaskService
from stellwerk.runs.waking import over
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version

GRACE = timedelta(minutes=2)
"""How long the regular way has before the sweeper steps in."""
_GONE = "GONE"
_ALIVE = {"RUNNING", "PENDING_REDRIVE"}


@dataclass(frozen=True)
class Swept:
    """How many repairs there were of which kind; `failed` ones are tried again next time."""

    answered: int = 0
    started: int = 0
    ended: int = 0
    expired: int = 0
    retired: int = 0
    failed: int = 0

    def counts(self) -> JsonObject:
        """Return the counts by name."""
        return asdict(self)


class Sweeper:
    """Repairs what nobody else will."""

    def __init__(
        self, world: World, starting: Starting, endings: Endings, tasks: TaskService
    ) -> None:
        self._world = world
        self._starting = starting
        self._endings = endings
        self._tasks = tasks
        self._retiring = Retiring(world, world.machines) if world.machines else None

    def sweep(self, scope: Scope, *, limit: int = 100) -> Swept:
        """Make up to `limit` repairs and return how many of which kind."""
        counts: Counter[str] = Counter()
        for repair in self._candidates(scope, self._world.clock.now() - GRACE):
            try:
                done = repair()
            except StellwerkError:
                done = "failed"
            if done:
                counts[done] += 1
            if counts.total() >= limit:
                break
        return Swept(**counts)

    def _candidates(self, scope: Scope, before: datetime) -> Iterator[Callable[[], str | None]]:
        for task in self._world.tasks.unanswered(scope):
            yield partial(self._answer, scope, task)
        for task in self._world.due.overdue(scope, before):
            yield partial(self._expire, scope, task)
        for run in self._world.runs.open_runs(scope):
            yield partial(self._look_after, scope, run, before)
        if self._retiring is not None:
            for version in self._retiring.due(scope):
                yield partial(self._retire, self._retiring, scope, version)

    def _answer(self, scope: Scope, task: HumanTask) -> str:
        self._tasks.answer(scope, task)
        return "answered"

    def _expire(self, scope: Scope, task: HumanTask) -> str:
        if self._world.runs.get(scope, task.run).status.open:
            self._tasks.expire(scope, task.id, self._world.clock.now())
        else:
            self._endings.closing.close_task(scope, task)
        return "expired"

    def _retire(self, retiring: Retiring, scope: Scope, version: Version) -> str:
        retiring.remove(scope, version)
        return "retired"

    def _look_after(self, scope: Scope, run: Run, before: datetime) -> str | None:
        if over(run):
            return self._finish(scope, run, before)
        if not run.execution:
            return self._start(scope, run, before)
        status, error, cause = self._world.executions.status(scope, run.execution)
        if status in _ALIVE:
            return None
        if status == _GONE:
            self._starting.restart(scope, run.id)
            return "started"
        self._endings.execution_ended(scope, run, Ended(status, error, cause))
        return "ended"

    def _finish(self, scope: Scope, run: Run, before: datetime) -> str | None:
        if run.ended is None or run.ended > before:
            return None
        self._endings.finish(scope, run)
        return "ended"

    def _start(self, scope: Scope, run: Run, before: datetime) -> str | None:
        if run.started > before:
            return None
        self._starting.launch(scope, run)
        return "started"
