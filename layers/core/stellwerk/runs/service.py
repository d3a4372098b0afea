"""The service of runs: what the command line, the API, triggers and the local cloud call."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import NodeKey, RunId, UserId, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stored
from stellwerk.runs.comparing import Compared, compare
from stellwerk.runs.contention import settle
from stellwerk.runs.effects import as_closed
from stellwerk.runs.finishing import Endings
from stellwerk.runs.model import Mode, Run, RunStatus, Step, StepKey, StepStatus
from stellwerk.runs.partial import Partial
from stellwerk.runs.pinning import Pinned, find_workflow
from stellwerk.runs.ports import RunFilter
from stellwerk.runs.replay import Replays
from stellwerk.runs.rights import check_run, check_start, check_workflow, only_own
from stellwerk.runs.starting import Order, Starting
from stellwerk.runs.states import RunEvent, run_after
from stellwerk.runs.waking import over
from stellwerk.runs.wishes import Wish
from stellwerk.runs.world import World
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Workflow


class RunService:
    """Starts, shows, cancels, replays and continues runs, as far as a scope's roles allow."""

    def __init__(
        self, world: World, starting: Starting, endings: Endings, replays: Replays
    ) -> None:
        self._world = world
        self._starting = starting
        self._endings = endings
        self._replays = replays

    def start(
        self,
        scope: Scope,
        workflow: WorkflowId | str,
        *,
        trigger: NodeKey | None = None,
        payload: JsonValue = None,
        delivery: str | None = None,
        version: int | None = None,
        mode: Mode = "live",
        pinned: Mapping[NodeKey, JsonValue | Pinned] | None = None,
        partial: Partial | None = None,
    ) -> Run:
        """Start a run of a workflow, given by id or slug, at `trigger`, else at its first trigger.

        A known `delivery` returns the run that it started. Live runs take the published version,
        others the latest. `pinned` nodes have their values before the start and do not run; with
        `partial` nor does any other node outside of that part.
        """
        order = Order(
            workflow=workflow,
            payload=payload,
            trigger=trigger,
            delivery=delivery,
            version=version,
            mode=mode,
            pinned=pinned or {},
            partial=partial,
            source=self.get(scope, partial.source) if partial and partial.source else None,
        )
        found = find_workflow(self._world, scope, workflow)
        check_workflow(scope, found)
        return self._start(scope, found, order)

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return the run; raise NotFound if there is none that the scope may read."""
        found = self._world.runs.get(scope, run)
        check_run(scope, found)
        return found

    def list(
        self,
        scope: Scope,
        *,
        workflow: WorkflowId | None = None,
        version: int | None = None,
        status: RunStatus | None = None,
        trigger: str | None = None,
        user: UserId | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Run]:
        """Return a page of runs that the scope may read, the newest first: see `RunFilter`.

        A page may be short of `limit` though there are more: its cursor says so.
        """
        own = only_own(scope)
        if own is not None and user not in {None, own}:
            return Page([])
        wanted = RunFilter(workflow, version, status, trigger, user or own, since, until)
        return self._world.runs.list(scope, wanted, cursor=cursor, limit=limit)

    def count(self, scope: Scope, *, workflow: WorkflowId | None = None) -> dict[RunStatus, int]:
        """Return how many of the runs that the scope may read stand where."""
        return self._world.runs.count(scope, workflow=workflow, user=only_own(scope))

    def steps(self, scope: Scope, run: RunId) -> Sequence[Step]:
        """Return the run's journal in the order in which its steps began; the unbegun are last."""
        found = self.get(scope, run)
        steps = self._world.journal.steps(scope, run)
        return sorted((self._as_it_stands(scope, found, step) for step in steps), key=_begun)

    def page(
        self, scope: Scope, run: RunId, *, cursor: str | None = None, limit: int = 1000
    ) -> Page[Step]:
        """Return a page of the run's journal, of which all pages together are `steps`.

        Steps outside of loops come first; within a page they are in the order in which they began.
        """
        found = self.get(scope, run)
        page = self._world.journal.page(scope, run, cursor=cursor, limit=limit)
        steps = sorted((self._as_it_stands(scope, found, step) for step in page.items), key=_begun)
        return Page(steps, page.cursor)

    def compare(self, scope: Scope, one: RunId, other: RunId) -> Sequence[Compared]:
        """Return the steps of two runs beside each other: of long runs the first thousand each."""
        return compare(self.page(scope, one).items, self.page(scope, other).items)

    def step(self, scope: Scope, run: RunId, key: StepKey) -> Step:
        """Return an entry of the run's journal; raise NotFound if there is none."""
        found = self.get(scope, run)
        step = self._world.journal.read(scope, run, [key]).get(key)
        if step is None:
            raise NotFound(
                f"run {run} has no step '{key.text}'", remedy="Look at the list of its steps."
            )
        return self._as_it_stands(scope, found, step)

    def value(self, scope: Scope, stored: Stored) -> JsonValue:
        """Return a stored value."""
        return self._world.values.load(scope, stored)

    def cancel(self, scope: Scope, run: RunId) -> Run:
        """Stop a run with all that waits in it; raise Conflict if it is over."""
        return self._cancel(scope, self.get(scope, run))

    def replay(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: AbstractSet[str] = frozenset(),
        version: int | None = None,
    ) -> Run:
        """Start a new run from the record of one that is over: see `replay.Wish`."""
        wish = Wish(from_node, assume_done or {}, repeat, version)
        return self._replay(scope, self.get(scope, run), wish)

    def writes_again(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: AbstractSet[str] = frozenset(),
        version: int | None = None,
    ) -> tuple[StepKey, ...]:
        """Return the writes that such a replay would do again: to be confirmed first."""
        wish = Wish(from_node, assume_done or {}, repeat, version)
        return self._replays.writes_again(scope, self.get(scope, run), wish)

    def continue_(self, scope: Scope, run: RunId) -> Run:
        """Go on with an open run whose execution is lost: journal and tasks stay as they are."""
        found = self.get(scope, run)
        check_run(scope, found, Verb.UPDATE)
        run_after(found, RunEvent.CONTINUE)
        if over(found):
            return self._endings.finish(scope, found)
        return self._starting.restart(scope, run)

    def release_leases(self, scope: Scope, run: RunId) -> int:
        """End the leases of a run whose processes are all known to be dead; return how many."""
        held = [step for step in self._world.journal.steps(scope, run) if self._held(step)]
        for step in held:
            settle(functools.partial(self._release, scope, run, step.key))
        return len(held)

    def _start(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        check_start(scope)
        return self._starting.launch(scope, self._starting.record_of(scope, workflow, order))

    def _cancel(self, scope: Scope, run: Run) -> Run:
        check_run(scope, run, Verb.UPDATE)
        run_after(run, RunEvent.CANCEL)
        self._endings.cancel(scope, run.id, cause=f"{scope.user} cancelled the run.")
        return self._world.runs.get(scope, run.id)

    def _replay(self, scope: Scope, run: Run, wish: Wish) -> Run:
        check_start(scope)
        return self._replays.replay(scope, run, wish)

    def _as_it_stands(self, scope: Scope, run: Run, step: Step) -> Step:
        return step if run.status.open else as_closed(self._world, scope, step)

    def _held(self, step: Step) -> bool:
        now = self._world.clock.now()
        running = step.status is StepStatus.RUNNING
        return running and step.lease is not None and step.lease > now

    def _release(self, scope: Scope, run: RunId, key: StepKey) -> None:
        step = self._world.journal.read(scope, run, [key])[key]
        if self._held(step):
            now = self._world.clock.now()
            self._world.journal.write(scope, step.model_copy(update={"lease": now}))


def _begun(step: Step) -> tuple[bool, str, str]:
    started = step.attempts[0].started.isoformat() if step.attempts else ""
    return (not step.attempts, started, step.key.text)
