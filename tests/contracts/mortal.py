"""A process that may die at any write, before it or after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

T = TypeVar("T")


class Died(BaseException):
    """The process has ended here. Nothing of the product may catch it."""


@dataclass
class Mortal:
    """Counts writes and dies at the one called `lives`."""

    lives: int
    after: bool

    def write(self, change: Callable[..., object], *given: object, **named: object) -> object:
        """Do a write, unless this is the end."""
        self.lives -= 1
        if self.lives == 0 and not self.after:
            raise Died
        done = change(*given, **named)
        if self.lives == 0:
            raise Died
        return done

    def around(self, store: T, *writes: str) -> T:
        """Return `store` with these methods counted as writes."""
        return cast("T", _Watched(store, self, writes))


class _Watched:
    def __init__(self, store: object, mortal: Mortal, writes: tuple[str, ...]) -> None:
        self._store = store
        self._mortal = mortal
        self._writes = writes

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._store, name)
        if name not in self._writes:
            return method
        return lambda *given, **named: self._mortal.write(method, *given, **named)
