"""A file as stored: what is known of it, beside its content."""

from __future__ import annotations

from datetime import datetime
from typing import NewType

from stellwerk.kernel.ids import UserId
from stellwerk.kernel.records import Record

FileId = NewType("FileId", str)


class File(Record):
    """A file of an instance. It never changes: another content is another file."""

    id: FileId
    name: str
    type: str
    """The media type that whoever uploaded it gave: `application/pdf`."""
    size: int
    """Bytes."""
    sha256: str
    created_by: UserId
    created: datetime
