"""What is new in a mailbox goes to all who watch for it: at least once, made once by a delivery id.

The mark is written after the mails of a page were handed on. A process that dies before comes to
them again, as do two that read at once: a run is known by the mail's id, a step takes the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from stellwerk.kernel.errors import NotFound, PermanentError, StellwerkError
from stellwerk.kernel.ids import UserId
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.firing import Firing
from stellwerk.runs.world import World
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.connections import note
from stellwerk.toolboxes.mail import Mail, Mailbox
from stellwerk.toolboxes.model import Connection, Status
from stellwerk.toolboxes.ports import Connections
from stellwerk.toolboxes.rights import check_use
from stellwerk.triggers.mail.handing import Handing
from stellwerk.triggers.mail.model import SKEW, Box, Watcher
from stellwerk.triggers.mail.ports import Mailboxes
from stellwerk.triggers.mail.waits import MailWaits

LOG = logging.getLogger(__name__)
PAGES = 20
"""Pages of a mailbox that are read in one go."""
OVERLAP = timedelta(minutes=10)
"""What is read again where a mailbox has lost the mark."""
LONGEST_PAUSE = timedelta(hours=1)
"""For which a mailbox that does not work is left alone at most."""


@dataclass(frozen=True)
class Sorting:
    """Where mail goes to."""

    world: World
    firing: Firing
    waits: MailWaits
    handing: Handing


class Poller:
    """Reads mailboxes."""

    def __init__(
        self,
        mailboxes: Mailboxes,
        connections: Connections,
        opened: Callable[[Scope, Connection], Mailbox],
        sorting: Sorting,
    ) -> None:
        self._mailboxes = mailboxes
        self._connections = connections
        self._opened = opened
        self._sorting = sorting
        self._world = sorting.world

    def poll(self, scope: Scope, box: str, deadline: Deadline) -> int:
        """Read a mailbox to its end, or until the time is over; return how many mails went on.

        `scope` is the platform's, at the mailbox's instance. What is wrong with the mailbox is
        written on its connection, and it is left alone for a while, longer each time. Raises
        TransientError where a mail could not be handed on: the next time begins with it.
        """
        found = self._mailboxes.find(scope, box)
        if found is None:
            self._mailboxes.leave(scope, box, None)
            return 0
        state, watchers = found[0], [*self._present(scope, box, found[1])]
        if not watchers:
            self._mailboxes.leave(scope, box, state.joined)
            return 0
        now = self._world.clock.now()
        if state.retry_at is not None and state.retry_at > now:
            return 0
        return self._read(scope, state, watchers, deadline)

    def _present(self, scope: Scope, box: str, watchers: Sequence[Watcher]) -> Iterator[Watcher]:
        """Yield who still watches; wake again who was woken by a process that may have died."""
        now = self._world.clock.now()
        for watcher in watchers:
            if self._sorting.waits.gone(scope, watcher, now):
                self._mailboxes.unwatch(scope, box, watcher)
            elif watcher.mail is not None:
                self._sorting.waits.wake(scope, watcher)
            else:
                yield watcher

    def _read(
        self, scope: Scope, state: Box, watchers: Sequence[Watcher], deadline: Deadline
    ) -> int:
        handed, mailbox = 0, None
        for _ in range(PAGES):
            begun = self._world.clock.now()
            try:
                connection = self._connections.get(scope, state.connection)
                if connection.status is not Status.ACTIVE:
                    break
                mailbox = mailbox or self._opened(scope, connection)
                batch = mailbox.read(state.folder, state.mark, _since(state))
            except StellwerkError as error:
                self._failed(scope, state, error)
                break
            for mail in batch.mails:
                handed += self._hand_on(scope, state, connection, watchers, mail)
            checked = {} if batch.more else {"checked": begun}
            fresh = {"mark": batch.mark, "failures": 0, "retry_at": None, **checked}
            read = state.model_copy(update=fresh)
            if not self._mailboxes.read_to(scope, read):  # another has read on meanwhile
                break
            state = read.model_copy(update={"revision": read.revision + 1})
            if connection.problem:
                note(self._connections, scope, connection.id, self._world.clock, None)
            if not batch.more or deadline.remaining <= 0:
                break
        return handed

    def _hand_on(
        self,
        scope: Scope,
        state: Box,
        connection: Connection,
        watchers: Sequence[Watcher],
        mail: Mail,
    ) -> int:
        """Hand a mail to all who want it; what is wrong with one of them stays with that one."""
        handed = 0
        for watcher in watchers:
            try:
                if watcher.wants(mail):
                    self._hand_to(scope, state, connection, watcher, mail)
                    handed += 1
            except PermanentError as error:
                LOG.warning("mail for %s was not taken: %s", watcher.id, error.type)
        return handed

    def _hand_to(
        self, scope: Scope, state: Box, connection: Connection, watcher: Watcher, mail: Mail
    ) -> None:
        if watcher.workflow is not None:
            self._fire(scope, connection, watcher, mail)
            return
        assert watcher.run is not None
        owner = self._world.runs.get(scope, watcher.run).user
        payload = self._sorting.handing.payload(scope, mail, owner=owner, place=watcher.id)
        self._sorting.waits.arrived(scope, state.key.id, watcher, payload)

    def _fire(self, scope: Scope, connection: Connection, watcher: Watcher, mail: Mail) -> None:
        assert watcher.workflow is not None
        delivery = f"mail/{watcher.node}/{mail.id}"
        if self._world.runs.delivered(scope, watcher.workflow, delivery) is not None:
            return
        owner = self._world.versions.workflow(scope, watcher.workflow).created_by
        check_use(self._world.actors.acting(scope, owner), connection)
        payload = self._sorting.handing.payload(scope, mail, owner=owner, place=watcher.id)
        self._sorting.firing.fire(
            scope,
            watcher.workflow,
            trigger=watcher.node,
            delivery=delivery,
            payload=payload,
        )

    def _failed(self, scope: Scope, state: Box, error: StellwerkError) -> None:
        """Note what is wrong, leave the mailbox alone, tell its owner where he must act."""
        LOG.warning("mailbox of connection %s: %s", state.connection, error.type)
        failures = state.failures + 1
        pause = min(timedelta(minutes=2 ** min(failures, 6)), LONGEST_PAUSE)
        after = getattr(error, "retry_after", None)
        if isinstance(after, float):
            pause = max(pause, timedelta(seconds=after))
        retry_at = self._world.clock.now() + pause
        failed = state.model_copy(update={"failures": failures, "retry_at": retry_at})
        self._mailboxes.read_to(scope, failed)
        if isinstance(error, NotFound) and not self._is_there(scope, state):
            return
        noted = note(self._connections, scope, state.connection, self._world.clock, error)
        if noted is not None and noted.status is Status.EXPIRED:
            self._tell(scope, noted, noted.owner)

    def _is_there(self, scope: Scope, state: Box) -> bool:
        try:
            self._connections.get(scope, state.connection)
        except NotFound:
            return False
        return True

    def _tell(self, scope: Scope, connection: Connection, owner: UserId) -> None:
        if self._world.notices is None:
            return
        notice = Notice(
            kind="connection.expired",
            to=(f"user:{owner}",),
            subject=f"Connection '{connection.label}' does not work any more",
            text=f"{connection.problem}\n\nWorkflows that use it get no mail until it does again.",
            group=connection.id,
            link=f"/connections/{connection.id}",
            about={"connection": connection.id},
        )
        self._world.notices.notify(scope, notice)


def _since(state: Box) -> datetime:
    """Return from when on mail is read where the mailbox knows no mark, or not any more."""
    return state.since - SKEW if state.checked is None else state.checked - OVERLAP
