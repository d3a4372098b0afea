"""Audit records: who did what, chained so that a gap or an edit shows."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.kernel.json import digest


class Outcome(StrEnum):
    """How an act stands."""

    BEGUN = "begun"  # written before it happens: without it, it does not happen
    DONE = "done"
    FAILED = "failed"  # it was tried and did not happen
    DENIED = "denied"  # access rules refused it


class AuditRecord(BaseModel):
    """One record of a mandate's day; `number` counts from 1, `hash` covers all else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mandate: MandateId
    day: str
    number: int
    at: datetime
    user: UserId
    instance: InstanceId
    action: str
    """Noun and verb: `workflow.publish`."""
    object: str = ""
    """What it was done to: kind and id, `workflow:01j...`."""
    outcome: Outcome
    begun: int | None = None
    """Of an ending: the number of its beginning (on the day of that, `begun_day`)."""
    begun_day: str | None = None
    before: str = ""
    """SHA-256 of the object's canonical JSON before the act, "" if there was none."""
    after: str = ""
    reason: str = ""
    request: str = ""
    previous: str = ""
    """The hash of the record before, "" for the first of the day."""
    hash: str = ""

    def sealed(self) -> AuditRecord:
        """Return the record with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """Return the hash that the record must carry."""
        return digest(self.model_dump(mode="json", exclude={"hash"}))
