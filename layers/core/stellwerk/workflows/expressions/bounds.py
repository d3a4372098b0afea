"""What an expression may spend: two seconds of computing, a depth, and a size, whatever it does.

The time is that of its thread: a busy machine does not make an expression fail.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 2.0
DEPTH = 1_000
CHARACTERS = 16_000_000
ENTRIES = 1_000_000
_thread = threading.local()


class Halt(BaseException):
    """Ends an evaluation. No `Exception`, because the library catches those."""

    def __init__(self, message: str, *, remedy: str = "", absent: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.absent = absent
        """Whether the reason is the value of a node that did not run."""


class Bounds:
    """Counts what one evaluation spends; as a context manager it is its thread's current one."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._deadline = time.thread_time() + seconds
        self._depth = 0

    def __enter__(self) -> Bounds:
        self._outer: Bounds | None = getattr(_thread, "bounds", None)
        _thread.bounds = self
        return self

    def __exit__(self, *_: object) -> None:
        _thread.bounds = self._outer

    @property
    def remaining(self) -> float:
        """Seconds left, always positive."""
        return max(0.001, self._deadline - time.thread_time())

    def check(self, *_: object) -> None:
        """Raise Halt when the time is over. Takes what Python hands to a profile function."""
        if time.thread_time() > self._deadline:
            raise self.too_slow()

    def too_slow(self) -> Halt:
        """Return the error that says that the time is over."""
        return Halt(
            f"takes longer than {self._seconds:g} s",
            remedy="Check it for a function that never ends, or let it work on less data.",
        )

    def enter(self) -> None:
        """Note that the evaluation goes one level deeper."""
        self._depth += 1
        if self._depth > DEPTH:
            raise too_deep()
        self.check()

    def leave(self, result: object) -> None:
        """Note that a level ended with `result`."""
        self._depth -= 1
        if isinstance(result, str) and len(result) > CHARACTERS:
            raise too_large()
        if isinstance(result, list) and len(result) > ENTRIES:
            raise too_large()

    def weigh(self, value: object) -> None:
        """Raise Halt if `value` has too many entries, shared parts counted each time."""
        waiting, entries = [value], 0
        while waiting:
            part = waiting.pop()
            inner = list(part.values()) if isinstance(part, dict) else part
            if isinstance(inner, list):
                entries += len(inner)
                waiting.extend(inner)
            if entries > ENTRIES:
                raise too_large()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Check the time at every call inside: for functions that never come back to us."""
        outer = sys.getprofile()
        sys.setprofile(self.check)
        try:
            yield
        finally:
            sys.setprofile(outer)


def current() -> Bounds:
    """Return the bounds of the evaluation that runs in this thread, fresh ones outside of any."""
    found: Bounds | None = getattr(_thread, "bounds", None)
    return found if found is not None else Bounds()


def too_deep() -> Halt:
    """Return the error for an evaluation that nests too deeply."""
    return Halt(
        "nests too deeply",
        remedy="Check it for a function that calls itself for ever, or let it work on less data.",
    )


def too_large() -> Halt:
    """Return the error for a value that no expression may make."""
    return Halt(
        f"makes a value of more than {ENTRIES} entries or {CHARACTERS} characters",
        remedy="Let it work on less data, or split the work into a loop.",
    )
