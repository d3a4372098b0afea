"""The projector: keeps the event log of a run behind its journal.

It is told what was written to the journal: late, twice, or out of order between steps. It appends
what follows from that and was not told yet, under the condition that nobody else has appended
meanwhile. When the run is over it looks at the whole journal once more, so the last event is the
last indeed and nothing is missing before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import RunId
from stellwerk.runs.model import Run, Step
from stellwerk.runs.ports import Journal, Runs
from stellwerk.tenancy.scope import Scope
from stellwerk.watching import history
from stellwerk.watching.history import BLOCK, Counted
from stellwerk.watching.memory import Memory, block_of, page_of, totals_of
from stellwerk.watching.model import Happening, RunEvent
from stellwerk.watching.ports import EventLog, LogState

TOGETHER = 200
"""Looks that one append takes in at most."""
PAGES = 60
"""Pages that one append changes at most: a transaction has room for a hundred items."""
TRIES = 20


@dataclass(frozen=True)
class RunLook:
    """The run as it was once; `order` is the place of that in the stream."""

    run: Run
    order: str


Look: TypeAlias = Step | RunLook


class Projector:
    """Appends to event logs what journals say."""

    def __init__(self, log: EventLog, journal: Journal, runs: Runs, clock: Clock) -> None:
        self._log = log
        self._journal = journal
        self._runs = runs
        self._clock = clock

    def project(self, scope: Scope, run: RunId, looks: Sequence[Look]) -> Sequence[RunEvent]:
        """Take in what was written of a run, in the order in which it was; return what it tells."""
        told: list[RunEvent] = []
        for some in _together(look for look in looks if _tells(look)):
            told += self._append(scope, run, [look for look in some if not _is_end(look)])
            ended = [look for look in some if _is_end(look)]
            if ended:
                told += self._finish(scope, run, ended[-1:])
        return told

    def complete(self, scope: Scope, run: Run) -> None:
        """Tell all of a run that is over, from its journal alone; nothing where that is told."""
        if not run.status.open and not self._log.state(scope, run.id, ()).head.closed:
            self._finish(scope, run.id, [RunLook(run, "")])

    def _finish(self, scope: Scope, run: RunId, end: Sequence[Look]) -> list[RunEvent]:
        if self._log.state(scope, run, ()).head.closed:
            return []
        told: list[RunEvent] = []
        one_by_one: list[Step] = []
        for some in _together(self._counted(scope, run, one_by_one)):
            told += self._append(scope, run, some)
        ordered = sorted(one_by_one, key=_moment)
        for some in _together(ordered):
            told += self._append(scope, run, some)
        return [*told, *self._append(scope, run, end)]

    def _counted(self, scope: Scope, run: RunId, others: list[Step]) -> Iterator[Step]:
        """Yield the journal's steps that are counted; the others, which are fewer, are kept."""
        for step in self._journal.steps(scope, run):
            if history.told_of(step):
                if history.counted(step.path) is not None:
                    yield step
                else:
                    others.append(step)

    def _append(self, scope: Scope, run: RunId, looks: Sequence[Look]) -> Sequence[RunEvent]:
        """Append what the looks tell; again from what is there if somebody else was faster."""
        if not looks:
            return ()
        names = sorted({name for look in looks for name in _pages(look)})
        for _ in range(TRIES):
            before = self._log.state(scope, run, names)
            if before.head.closed:
                return ()
            tale = _Tale(Memory(before.head, before.pages), self._clock.now())
            known = self._known(scope, run, looks) if not before.head.started else None
            for look in looks:
                tale.take(look, known)
            events = tale.numbered(before)
            if not events:
                return ()
            try:
                self._log.append(scope, run, before, tale.after(before, len(events)), events)
            except Conflict:
                continue
            return events
        raise ServiceUnavailable(f"the event log of run {run} is appended to by too many")

    def _known(self, scope: Scope, run: RunId, looks: Sequence[Look]) -> Run | None:
        """Return the run, which has begun; None if only that is there with which it begins."""
        if isinstance(looks[0], RunLook):
            return looks[0].run
        try:
            return self._runs.get(scope, run)
        except NotFound:
            return None


@dataclass
class _Tale:
    """What one append tells, and what is remembered of it."""

    memory: Memory
    now: datetime
    events: list[RunEvent] = field(default_factory=list)
    _progress: dict[str, Counted] = field(default_factory=dict)

    def begin(self, run: Run | None) -> None:
        """Tell that the run has started, or waits for its turn."""
        event = history.run_begun(self.memory.head.status, run, self.now) if run else None
        if event is not None:
            self.events.append(event)
            queued = event.kind is Happening.RUN_QUEUED
            self._head(started=not queued, status=history.QUEUED if queued else "")

    def take(self, look: Look, known: Run | None) -> None:
        """Tell what follows from a look; of the run as it is `known` that it has begun."""
        if not self.memory.head.started:
            self.begin(look.run if isinstance(look, RunLook) else known)
        if isinstance(look, RunLook):
            self._take_run(look)
        elif (where := history.counted(look.path)) is not None:
            self._count(look, where)
        else:
            before = self.memory.told(look.key)
            told, events = history.step_events(before, look, self.now)
            if told != before:
                self.events += events
                self.memory.tell(look.key, told)

    def numbered(self, before: LogState) -> list[RunEvent]:
        """Return the events with their numbers."""
        return [
            event.model_copy(update={"seq": number})
            for number, event in enumerate(self._all(), before.head.last + 1)
        ]

    def after(self, before: LogState, more: int) -> LogState:
        """Return how the log stands with so many more events."""
        changes = {"revision": before.head.revision + 1, "last": before.head.last + more}
        return LogState(self.memory.headed(**changes), self.memory.pages)

    def _all(self) -> list[RunEvent]:
        """All events, the counts before the one that ends the run."""
        ends = 1 if self.events and self.events[-1].kind.final else 0
        cut = len(self.events) - ends
        return [*self.events[:cut], *self._counts(), *self.events[cut:]]

    def _take_run(self, look: RunLook) -> None:
        head = self.memory.head
        if look.run.status.open and look.order <= head.order:
            return
        event = history.run_event(head.status, look.run, self.now)
        if event is not None:
            self.events.append(event)
            self._head(
                status=str(look.run.status),
                order=max(look.order, head.order),
                closed=event.kind.final,
            )

    def _count(self, step: Step, where: Counted) -> None:
        if not history.over(step) or not history.directly_in(step.path, where):
            return
        name, bit = block_of(where), where.index % BLOCK
        page = self.memory.page(name)
        if page.has_seen(step.node, bit):
            return
        totals = self.memory.page(totals_of(where)).adding(step.node, str(step.status))
        self.memory.put(name, page.seeing(step.node, bit))
        self.memory.put(totals_of(where), totals)
        self._progress[where.loop.text] = where

    def _counts(self) -> Iterator[RunEvent]:
        for name, where in sorted(self._progress.items()):
            totals = self.memory.page(totals_of(where)).totals
            yield RunEvent(kind=Happening.LOOP_PROGRESS, at=self.now, step=name, counts=totals)

    def _head(self, **changes: object) -> None:
        self.memory.head = self.memory.head.model_copy(update=changes)


def _tells(look: Look) -> bool:
    return isinstance(look, RunLook) or history.told_of(look)


def _is_end(look: Look) -> bool:
    return isinstance(look, RunLook) and not look.run.status.open


def _pages(look: Look) -> tuple[str, ...]:
    if isinstance(look, RunLook):
        return ()
    return page_of(look.path, history.counted(look.path))


def _together(looks: Iterable[Look]) -> Iterator[list[Look]]:
    some: list[Look] = []
    pages: set[str] = set()
    for look in looks:
        some.append(look)
        pages.update(_pages(look))
        if len(some) >= TOGETHER or len(pages) >= PAGES:
            yield some
            some, pages = [], set()
    if some:
        yield some


def _moment(step: Step) -> tuple[bool, str, str]:
    """Order entries as they began; those that never did come last."""
    began = step.attempts[0].started.isoformat() if step.attempts else ""
    return (not began, began, step.key.text)
