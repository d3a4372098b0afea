"""What watching mailboxes needs from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.mail.model import Box, BoxKey, Watched, Watcher


@dataclass(frozen=True)
class Watching:
    """What a trigger watches, and as whom."""

    box: BoxKey
    watcher: Watcher


class Mailboxes(Protocol):
    """The mailboxes that are watched, and who watches them."""

    def everywhere(self, scope: Scope) -> Iterator[Watched]:
        """Yield all that are watched, to the platform's own scope; others see none."""

    def find(self, scope: Scope, box: str) -> tuple[Box, Sequence[Watcher]] | None:
        """Return a mailbox with all who watch it."""

    def watch(self, scope: Scope, key: BoxKey, watcher: Watcher, now: datetime) -> None:
        """Let `watcher` watch, in place of what it watched for there before."""

    def unwatch(self, scope: Scope, box: str, watcher: Watcher) -> None:
        """Let it watch no more; nothing if it does not."""

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Mapping[NodeKey, Watching]:
        """Return what the triggers of a workflow watch."""

    def watcher(self, scope: Scope, box: str, watcher: str) -> Watcher | None:
        """Return who watches under that id."""

    def arrive(self, scope: Scope, box: str, watcher: str, mail: Stored) -> Watcher | None:
        """Note what has come for a step, unless something came before; None if it has gone."""

    def withdraw(self, scope: Scope, box: str, watcher: str) -> Stored | None:
        """Let a step for which nothing came watch no more; else return what came."""

    def read_to(self, scope: Scope, box: Box) -> bool:
        """Write how far it was read, at the revision that it carries; say whether that held."""

    def leave(self, scope: Scope, box: str, joined: int | None) -> None:
        """Forget a mailbox, unless somebody has joined since; None: there was none."""
