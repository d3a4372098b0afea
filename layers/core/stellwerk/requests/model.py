"""What is kept of a request that creates something: its answer, under the key that it came with."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import UserId
from stellwerk.kernel.records import Record


class Answer(BaseModel):
    """An HTTP answer. `headers` are those that belong to it alone: Location, ETag."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: int
    headers: dict[str, str]
    body: str


class Repeat(Record):
    """A request under its idempotency key; `answer` None: it is under way, or its process died."""

    user: UserId
    key: str
    fingerprint: str
    """SHA-256 of method, path and body: what must be the same when the key comes again."""
    lease: datetime
    """Until when the request may be under way."""
    expires: datetime
    answer: Answer | None = None
