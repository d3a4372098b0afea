"""Threads of states, task tokens, and virtual time: each seed of the scheduler is another order.

A thread is a generator that hands back a `Pause` wherever others may go first; the scheduler picks
who goes on. Time passes only when nothing else can happen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from inspect import GEN_RUNNING, getgeneratorstate

from stellwerk.kernel.json import JsonValue

NEVER = datetime.max.replace(tzinfo=UTC)


class StateFailed(Exception):
    """A state has failed with an error name and its cause."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(f"{error}: {cause}")
        self.error, self.cause = error, cause


@dataclass
class Pause:
    """A thread waits until `ready`, or until the moment `until`; without either it can go on."""

    ready: Callable[[], bool] | None = None
    until: datetime | None = None


Running = Generator[Pause, None, JsonValue]


@dataclass
class Thread:
    """One sequence of states at work."""

    work: Running
    pause: Pause = field(default_factory=Pause)
    over: bool = False
    result: JsonValue = None
    failure: StateFailed | None = None

    def advance(self) -> None:
        """Go on to the next pause, or to the end."""
        try:
            self.pause = next(self.work)
        except StopIteration as end:
            self.over, self.result = True, end.value
        except StateFailed as failure:
            self.over, self.failure = True, failure
        if self.over:
            self.work.close()

    def end(self) -> None:
        """End where it is; a thread in the middle of a Lambda call ends after it."""
        self.over = True
        if getgeneratorstate(self.work) != GEN_RUNNING:
            self.work.close()


@dataclass
class Tokens:
    """Task tokens: open ones, and answers that nobody has taken yet."""

    opened: int = 0
    answers: dict[str, Callable[[], JsonValue] | None] = field(default_factory=dict)

    def open(self) -> str:
        """Return a new token."""
        self.opened += 1
        token = f"token-{self.opened}"
        self.answers[token] = None
        return token

    def answer(self, token: str, answer: Callable[[], JsonValue]) -> bool:
        """Answer a token with what gives its result or raises StateFailed; False if none waits."""
        if token not in self.answers or self.answers[token] is not None:
            return False
        self.answers[token] = answer
        return True


@dataclass
class Scheduler:
    """Threads and virtual time."""

    random: random.Random
    now: datetime = datetime(2026, 12, 1, tzinfo=UTC)
    threads: list[Thread] = field(default_factory=list)

    def spawn(self, work: Running) -> Thread:
        """Start a thread."""
        thread = Thread(work)
        self.threads.append(thread)
        return thread

    def kill(self, threads: Sequence[Thread]) -> None:
        """End threads where they are, and those that they started."""
        for thread in threads:
            thread.end()

    def step(self) -> bool:
        """Let one thread that can go on do so; False if none can."""
        self.threads = [thread for thread in self.threads if not thread.over]
        able = [thread for thread in self.threads if self._able(thread.pause)]
        if able:
            self.random.choice(able).advance()
        return bool(able)

    def pass_time(self, last: datetime = NEVER) -> bool:
        """Go to the next moment that a thread waits for; False if there is none until `last`."""
        moments = [t.pause.until for t in self.threads if not t.over and t.pause.until is not None]
        moment = min(moments, default=last)
        if not moments or moment > last:
            return False
        self.now = max(self.now, moment)
        return True

    def _able(self, pause: Pause) -> bool:
        if pause.until is not None and pause.until <= self.now:
            return True
        return pause.ready() if pause.ready is not None else pause.until is None
