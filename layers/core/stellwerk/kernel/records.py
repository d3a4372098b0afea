"""What stores keep: records with a revision, and values in a row or, when large, by reference."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.errors import Conflict


class Record(BaseModel):
    """A stored thing. `revision` counts its writes; a write names the revision that it replaces."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: int = 0


class Stale(Conflict):
    """Whoever changes a record has not seen it as it stands: `current` is what is stored."""

    def __init__(self, message: str, current: Record, seen: int) -> None:
        super().__init__(message, remedy="Look at it as it is now, and repeat your change on it.")
        self.current = current
        self.seen = seen
        """The revision that the caller had seen."""


class ValueRef(BaseModel):
    """A value too large for a journal row: an object in S3, with its size in bytes and SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    size: int
    sha256: str


class Stored(BaseModel):
    """A value as the journal keeps it: exact JSON text in the row, or a reference."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = None
    ref: ValueRef | None = None
