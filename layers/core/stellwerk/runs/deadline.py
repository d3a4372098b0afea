"""Until when a step may work: asked by its handler, enforced where that can be done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import FrameType
from typing import NoReturn

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import DeadlineExceeded


@dataclass(frozen=True)
class Deadline:
    """The moment `until` on a clock, and the `seconds` that were given in all."""

    clock: Clock
    until: datetime
    seconds: float

    @classmethod
    def within(cls, clock: Clock, seconds: float) -> Deadline:
        """Return the deadline that is `seconds` away."""
        return cls(clock, clock.now() + timedelta(seconds=seconds), seconds)

    def no_later_than(self, seconds: float) -> Deadline:
        """Return this deadline, or the one that is `seconds` away if that comes first."""
        return Deadline.within(self.clock, min(seconds, self.remaining))

    @property
    def remaining(self) -> float:
        """Seconds left; zero once it is over."""
        return max(0.0, (self.until - self.clock.now()).total_seconds())

    def check(self) -> None:
        """Raise DeadlineExceeded if the time is over. Long loops call it once per round."""
        if self.remaining <= 0:
            self._exceeded()

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Interrupt what runs inside when the time is over, even if it never asks.

        Only the main thread can be interrupted, which is where Lambda runs handlers; elsewhere a
        handler must ask by itself.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGALRM, self._on_alarm)
        signal.setitimer(signal.ITIMER_REAL, max(self.remaining, 0.001))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        self._exceeded()

    def _exceeded(self) -> NoReturn:
        raise DeadlineExceeded(
            f"The step did not end within its {self.seconds:g} s.",
            remedy="Raise the node's timeout, or give it less to do at once.",
        )
