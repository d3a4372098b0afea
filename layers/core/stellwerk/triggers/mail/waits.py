"""Nodes that wait for a mail: the first that fits wakes them, and is what they have waited for."""

from __future__ import annotations

from datetime import datetime, timedelta

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.contention import settle
from stellwerk.runs.model import Step, StepStatus
from stellwerk.runs.waking import over, resumed
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.mail.model import BoxKey, MailFilter, Watcher, wait_id
from stellwerk.triggers.mail.ports import Mailboxes

AWAITED = "mail"
GRACE = timedelta(hours=1)
"""How long after its time a step may still withdraw what it watched for."""


class MailWaits:
    """Lets steps wait for mail, and wakes them. A token only wakes: what came is on record."""

    def __init__(self, world: World, mailboxes: Mailboxes) -> None:
        self._world = world
        self._mailboxes = mailboxes

    def open(self, scope: Scope, step: Step, key: BoxKey, wanted: MailFilter, token: str) -> None:
        """Let `step` wait under `token`, and its run with it.

        A retry replaces the token; where something has come already, the token is answered.
        """
        settle(lambda: self._wait(scope, step, token))
        identity = wait_id(step.run, step.key, step.generation)
        before = self._mailboxes.watcher(scope, key.id, identity)
        now = self._world.clock.now()
        watcher = Watcher(
            id=identity,
            since=before.since if before else now,
            filter=wanted,
            run=step.run,
            path=step.path,
            node=step.node,
            token=token,
            due=step.due,
        )
        self._mailboxes.watch(scope, key, watcher, now)
        found = self._mailboxes.watcher(scope, key.id, identity)
        if found is not None and found.mail is not None:
            self.wake(scope, found)

    def close(self, scope: Scope, step: Step, key: BoxKey) -> JsonValue:
        """Return the mail for which `step` has waited; None where its time is over before."""
        identity = wait_id(step.run, step.key, step.generation)
        mail = self._mailboxes.withdraw(scope, key.id, identity)
        settle(lambda: resumed(self._world, scope, step.run, step.key))
        return None if mail is None else self._world.values.load(scope, mail)

    def arrived(self, scope: Scope, box: str, watcher: Watcher, mail: JsonValue) -> None:
        """Hand a mail to a step that waits; it counts if it is the first."""
        assert watcher.run is not None
        kept: Stored = self._world.values.keep(scope, watcher.run, mail)
        noted = self._mailboxes.arrive(scope, box, watcher.id, kept)
        if noted is not None:
            self.wake(scope, noted)

    def wake(self, scope: Scope, watcher: Watcher) -> None:
        """Answer the token of a step for which something has come; may be repeated."""
        run = watcher.run
        assert run is not None
        if watcher.step in self._world.journal.read(scope, run, [watcher.step]):
            settle(lambda: resumed(self._world, scope, run, watcher.step))
        self._world.executions.succeed(scope, watcher.token, {})

    def gone(self, scope: Scope, watcher: Watcher, now: datetime) -> bool:
        """Say whether nothing waits any more: the step went on, or its run is over."""
        if watcher.run is None:
            return False
        try:
            if over(self._world.runs.get(scope, watcher.run)):
                return True
        except NotFound:
            return True
        step = self._world.journal.read(scope, watcher.run, [watcher.step]).get(watcher.step)
        if step is not None and step.done:
            return True
        return watcher.mail is None and watcher.due is not None and watcher.due < now - GRACE

    def _wait(self, scope: Scope, step: Step, token: str) -> Step:
        stored = self._world.journal.read(scope, step.run, [step.key]).get(step.key)
        now = stored or step
        if now.done:
            return now
        changes = {"status": StepStatus.WAITING, "token": token, "awaits": AWAITED}
        waiting = now.model_copy(update=changes)
        if now.status is StepStatus.WAITING:
            return self._world.journal.write(scope, waiting)
        return self._world.waits.open(scope, waiting)
