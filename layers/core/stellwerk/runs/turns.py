"""Whose turn it is: a run is recorded with the slots that it needs, waits for them, or is not.

A queue is first in, first out. Whoever queues looks at the pool once more afterwards, and whoever
ends a run gives its slots back before it looks at the queue: one of the two sees the other. What a
crash leaves between the two, the sweeper starts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from stellwerk.kernel.errors import Conflict, StellwerkError
from stellwerk.runs.closing import CancelRun
from stellwerk.runs.launching import Launching
from stellwerk.runs.limits import ConcurrencyReached, Full, Limit, Queued, limits_of
from stellwerk.runs.model import Run, RunStatus, Step
from stellwerk.runs.states import RunEvent, run_after
from stellwerk.runs.waking import over
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope, of_run
from stellwerk.workflows.model import Concurrency, Overflow

LOG = logging.getLogger(__name__)
_REPLACED = 50
"""How many runs at most are cancelled for one that takes their place."""


class Turns:
    """Lets runs in, as many at once as their limits allow."""

    def __init__(self, world: World, cancel: CancelRun) -> None:
        self._world = world
        self._cancel = cancel
        self._launching = Launching(world)

    def enter(
        self,
        scope: Scope,
        run: Run,
        entries: Sequence[Step] = (),
        concurrency: Concurrency | None = None,
    ) -> Run:
        """Write `entries`, then the run: a run on record is complete. Return the run on record.

        That is another one if its delivery has started it; a queued one where no slot is free and
        the policy is to wait. Raises ConcurrencyReached where it is to skip.
        """
        if entries:
            self._world.journal.fill(scope, run.id, entries)
        limits = self._limits(scope, run, concurrency)
        holding = run.model_copy(update={"slots": tuple(limit.pool for limit in limits)})
        try:
            return self._world.runs.create(scope, holding, limits)
        except Full as full:
            return self._beyond(scope, run, full.limit)

    def freed(self, scope: Scope, run: Run) -> None:
        """Let in whoever waits for the slots that `run`, which is over, has held.

        What is wrong with those that wait is not the matter of the run that has ended: the sweeper
        tries them again.
        """
        for pool in run.slots:
            try:
                self.next(scope, pool)
            except StellwerkError:
                LOG.exception("the queue of %s does not go on by itself", pool)

    def next(self, scope: Scope, pool: str) -> int:
        """Start those that wait for the pool, the oldest first, while there are slots: how many."""
        started = 0
        for waiting in self._world.runs.waiting(scope, pool):
            there = of_run(scope.mandate, waiting.instance, scope.user, request=scope.request)
            admitted = self._admitted(there, waiting, pool)
            if admitted is None:
                break
            if admitted.status is RunStatus.RUNNING:
                started += 1
                self._launching.launch(there, admitted)
        return started

    def urge(self, scope: Scope, run: Run, policy: Overflow | None = None) -> int:
        """Go on with the queue in which `run` waits; if it may replace others, make room for it.

        Return how many runs have started. Without `policy` that of the workflow today counts.
        """
        started = self.next(scope, run.queue)
        if (policy or self._policy(scope, run)) is not Overflow.REPLACE:
            return started
        for _ in range(_REPLACED):
            now = self._world.runs.get(scope, run.id)
            oldest = self._world.runs.holder(scope, run.queue)
            if now.status is not RunStatus.QUEUED or now.queue != run.queue or oldest is None:
                break
            self._cancel(scope, oldest, cause=f"Run {run.id} takes its place.")
            started += self.next(scope, run.queue)
        return started

    def _beyond(self, scope: Scope, run: Run, limit: Limit) -> Run:
        if limit.policy is Overflow.SKIP:
            raise ConcurrencyReached(
                f"{limit.most} of '{run.title}' are open, and it does not start beyond that.",
                remedy="Wait until one is over or cancel one, or change the limit or its policy.",
            )
        waiting = {"status": RunStatus.QUEUED, "queue": limit.pool}
        queued = self._world.runs.create(scope, run.model_copy(update=waiting))
        if queued.status is RunStatus.QUEUED:
            self.urge(scope, queued, limit.policy)
        return self._world.runs.get(scope, queued.id)

    def _admitted(self, scope: Scope, waiting: Queued, pool: str) -> Run | None:
        """Return the run, running if it has got its slots; None: none of the pool's is free."""
        run = self._world.runs.get(scope, waiting.run)
        if over(run) or run.queue != pool:
            return run
        run_after(run, RunEvent.ADMIT)
        limits = self._limits(scope, run, None)
        try:
            return self._world.runs.admit(scope, run, limits)
        except Full as full:
            if full.limit.pool == pool:
                return None
            return self._moved(scope, run, full.limit.pool)
        except Conflict:  # another process has let it in, or cancelled it
            return run

    def _moved(self, scope: Scope, run: Run, pool: str) -> Run:
        """Let the run wait for another pool of its own, at its old place."""
        try:
            moved = self._world.runs.requeue(scope, run, pool)
        except Conflict:
            return run
        self.next(scope, pool)
        return moved

    def _limits(self, scope: Scope, run: Run, concurrency: Concurrency | None) -> Sequence[Limit]:
        if run.mode != "live" or run.parent is not None:
            return ()
        known = concurrency or self._world.versions.workflow(scope, run.workflow).concurrency
        share = self._world.shares.share(scope) if self._world.shares is not None else None
        return limits_of(run, known, share)

    def _policy(self, scope: Scope, run: Run) -> Overflow | None:
        limits = self._limits(scope, run, None)
        return next((limit.policy for limit in limits if limit.pool == run.queue), None)
