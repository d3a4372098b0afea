"""What watching needs from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stellwerk.kernel.ids import RunId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.memory import Head, Page
from stellwerk.watching.model import RunEvent


@dataclass(frozen=True)
class LogState:
    """Where a log stands: its head, and the pages that were asked for."""

    head: Head = field(default_factory=Head)
    pages: Mapping[str, Page] = field(default_factory=dict)


class EventLog(Protocol):
    """The event logs of runs."""

    def state(self, scope: Scope, run: RunId, pages: Sequence[str]) -> LogState:
        """Return where the log stands, with those of its pages that exist, in one batch read."""

    def append(
        self,
        scope: Scope,
        run: RunId,
        before: LogState,
        after: LogState,
        events: Sequence[RunEvent],
    ) -> None:
        """Write events, the head and the pages of `after` that differ, all or nothing.

        Raises Conflict where the log does not stand as in `before`: somebody else has appended.
        """

    def read(self, scope: Scope, run: RunId, *, after: int, limit: int) -> Sequence[RunEvent]:
        """Return up to about `limit` events behind `after`, in order."""
