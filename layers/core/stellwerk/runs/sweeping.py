"""The sweeper: completes what a crash or a lost event has left undone. Repairs may be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import partial

from stellwerk.kernel.errors import StellwerkError
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.finishing import Ended, Endings
from stellwerk.runs.jobs import Job
from stellwerk.runs.model import HumanTask, Run, RunStatus
from stellwerk.runs.rerunning import Rerunning
from stellwerk.runs.retiring import Retiring
from stellwerk.runs.starting import Starting
from stellwerk.runs.tasks import TaskService
from stellwerk.runs.waking import over
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version

GRACE = timedelta(minutes=2)
"""How long the regular way has before the sweeper steps in."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Before every run. Whoever goes on from there has been through the tasks."""
_TICK = timedelta(milliseconds=1)
"""How exactly the store knows when a run has started."""
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
    tended: int = 0
    """What others have asked for: messages sent, runs removed."""
    failed: int = 0
    told: int = 0
    """Tasks of which people were told: that they wait, reminders, escalation."""
    rest: datetime | None = field(default=None, compare=False, kw_only=True)
    """The start of the first run that was not looked at; None: all were."""

    def counts(self) -> JsonObject:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in KINDS}


KINDS = tuple(one.name for one in fields(Swept) if one.name != "rest")
"""The names of the counts."""


@dataclass(frozen=True)
class _Repair:
    """Something to look at. `after` is from where to go on when it was the last."""

    act: Callable[[], str | None]
    after: datetime | None


class Sweeper:
    """Repairs what nobody else will."""

    def __init__(
        self,
        world: World,
        starting: Starting,
        endings: Endings,
        tasks: TaskService,
        rerunning: Rerunning,
    ) -> None:
        self._world = world
        self._starting = starting
        self._endings = endings
        self._tasks = tasks
        self._rerunning = rerunning
        self._retiring = Retiring(world, world.machines) if world.machines else None

    def sweep(
        self,
        scope: Scope,
        *,
        limit: int = 100,
        since: datetime | None = None,
        deadline: Deadline | None = None,
    ) -> Swept:
        """Make up to `limit` repairs and return how many of which kind.

        With `since`, what another call has left as its `rest`. After each look it may be the end:
        by the limit, or because the time is over.
        """
        counts: Counter[str] = Counter()
        for repair in self._candidates(scope, self._world.clock.now() - GRACE, since):
            done = _done(repair)
            if done:
                counts[done] += 1
            if counts.total() >= limit or (deadline and deadline.remaining <= 0):
                return _swept(counts, rest=repair.after)
        return _swept(counts)

    def _candidates(
        self, scope: Scope, before: datetime, since: datetime | None
    ) -> Iterator[_Repair]:
        if since is None:
            yield from self._before_runs(scope, before)
        yield from self._of_runs(scope, before, since)
        if self._retiring is not None:
            for version in self._retiring.due(scope):
                yield _Repair(partial(self._retire, self._retiring, scope, version), None)
        for chore in self._world.chores:
            for act in chore.due(scope):
                yield _Repair(partial(_tended, act), None)

    def _before_runs(self, scope: Scope, before: datetime) -> Iterator[_Repair]:
        for task in self._world.tasks.unanswered(scope):
            yield _Repair(partial(self._answer, scope, task), EARLIEST)
        for task in self._world.due.overdue(scope, self._world.clock.now()):
            yield _Repair(partial(self._attend, scope, task, before), EARLIEST)
        for job in self._rerunning.unfinished(scope):
            yield _Repair(partial(self._rerun, scope, job), EARLIEST)

    def _of_runs(self, scope: Scope, before: datetime, since: datetime | None) -> Iterator[_Repair]:
        queues: set[str] = set()
        for run in self._world.runs.open_runs(scope, since=since):
            if run.queue and run.queue in queues:
                continue
            queues.add(run.queue)
            look = partial(self._look_after, scope, run, before)
            yield _Repair(look, run.started + _TICK)

    def _rerun(self, scope: Scope, job: Job) -> str | None:
        return None if self._rerunning.advance(scope, job.id) == job else "started"

    def _answer(self, scope: Scope, task: HumanTask) -> str:
        self._tasks.answer(scope, task)
        return "answered"

    def _attend(self, scope: Scope, task: HumanTask, before: datetime) -> str | None:
        """Tell what is due of a task, or end it where its state's timeout seems to be lost."""
        overdue = task.due is not None and task.due <= before
        if not self._world.runs.get(scope, task.run).status.open:
            self._endings.closing.close_task(scope, task)
        elif overdue:
            self._tasks.expire(scope, task.id, self._world.clock.now())
        else:
            return "told" if self._tasks.tell(scope, task) else None
        return "expired"

    def _retire(self, retiring: Retiring, scope: Scope, version: Version) -> str:
        retiring.remove(scope, version)
        return "retired"

    def _look_after(self, scope: Scope, run: Run, before: datetime) -> str | None:
        if over(run):
            return self._finish(scope, run, before)
        if run.status is RunStatus.QUEUED:
            return "started" if self._endings.turns.urge(scope, run) else None
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


def _tended(act: Callable[[], object]) -> str:
    act()
    return "tended"


def _swept(counts: Counter[str], *, rest: datetime | None = None) -> Swept:
    return Swept(*(counts[name] for name in KINDS), rest=rest)


def _done(repair: _Repair) -> str | None:
    """Return which kind of repair was made, `failed` where it could not be, None if none."""
    try:
        return repair.act()
    except StellwerkError:
        return "failed"
