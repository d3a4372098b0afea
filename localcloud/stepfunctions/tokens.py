"""Task tokens: who holds one may end a waiting Task, once.

moto searches every running execution for a token, meets executions that are still being parsed,
and forgets why a task failed. Here one table knows the open tokens.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field

from localcloud.stepfunctions.errors import InvalidToken, TaskTimedOut

_PREFIX = "AQCAAAAAKgAAAAMA"
"""Begins every token, so that a token that was never given out is told from a spent one."""


@dataclass(frozen=True)
class Success:
    """The task's result, a JSON text."""

    output: str


@dataclass(frozen=True)
class Failure:
    """The task's error, as its sender named it."""

    error: str | None
    cause: str | None


@dataclass
class Pending:
    """A Task that waits for its token."""

    token: str
    answered: threading.Event = field(default_factory=threading.Event)
    beaten: threading.Event = field(default_factory=threading.Event)
    outcome: Success | Failure | None = None


class Tokens:
    """The open tokens of a cloud."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Pending] = {}

    def issue(self) -> Pending:
        """Return a new open token."""
        pending = Pending(_PREFIX + uuid.uuid4().hex + uuid.uuid4().hex)
        with self._lock:
            self._open[pending.token] = pending
        return pending

    def withdraw(self, pending: Pending) -> None:
        """Close a token that nobody waits for any more; a late answer is refused."""
        with self._lock:
            self._open.pop(pending.token, None)

    def answer(self, token: str, outcome: Success | Failure) -> None:
        """End the Task of `token`.

        Raises TaskTimedOut if it has ended before, InvalidToken for what never was a token.
        """
        with self._lock:
            pending = self._open.pop(token, None)
            if pending is not None:
                pending.outcome = outcome
        self._known(pending, token).answered.set()

    def beat(self, token: str) -> None:
        """Show that the work on the Task of `token` goes on."""
        with self._lock:
            pending = self._open.get(token)
        self._known(pending, token).beaten.set()

    def open_count(self) -> int:
        """How many Tasks wait for a token."""
        return len(self._open)

    def _known(self, pending: Pending | None, token: str) -> Pending:
        if pending is not None:
            return pending
        if token.startswith(_PREFIX):
            raise TaskTimedOut("Task Timed Out: 'Provided task does not exist anymore'")
        raise InvalidToken("Invalid Token: 'Invalid token'")
