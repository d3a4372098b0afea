"""What nodes ask of mailboxes: may the run use one, and wait for a mail there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from stellwerk.kernel.ids import UserId
from stellwerk.runs.platform import Actors
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.kinds import MAILBOXES
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind
from stellwerk.triggers.mail.waits import MailWaits


class Usable(Protocol):
    """Knows who may use what; see `toolboxes.accounts`."""

    def usable(self, scope: Scope, connection: ConnectionId, kinds: Collection[Kind]) -> Connection:
        """Return a connection that the scope's user may use now; raises what is in the way."""


@dataclass(frozen=True)
class MailDesk:
    """Both."""

    actors: Actors
    accounts: Usable
    waits: MailWaits

    def check(self, scope: Scope, user: str, connection: str) -> None:
        """Raise what keeps `user`, in whose name a run acts, from the connection's mailbox."""
        acting = self.actors.acting(scope, UserId(user))
        self.accounts.usable(acting, ConnectionId(connection), MAILBOXES)
