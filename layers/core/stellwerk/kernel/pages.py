"""Pages of a list: items and an opaque cursor for the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some items of a list; `cursor` continues it and is None at its end."""

    items: Sequence[T]
    cursor: str | None = None
