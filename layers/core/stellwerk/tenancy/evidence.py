"""Audit records: who did what, chained so that a gap or an edit shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.kernel.json import digest


class Outcome(StrEnum):
    """How an act stands."""

    BEGUN = "begun"  # written before it happens: without it, it does not happen
    DONE = "done"
    FAILED = "failed"  # it ended with an error, which the reason names
    DENIED = "denied"  # access rules refused it


class AuditRecord(BaseModel):
    """One record of a mandate's day; `number` counts from 1, `hash` covers all else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """Tells two records apart that are equal in all else."""
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
    """The hash of the record before, "" for the mandate's very first."""
    previous_day: str | None = None
    """Of the first of a day: the day of the record before."""
    hash: str = ""

    def sealed(self) -> AuditRecord:
        """Return the record with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """Return the hash that the record must carry."""
        return digest(self.model_dump(mode="json", exclude={"hash"}))


@dataclass(frozen=True)
class Entry:
    """What is stored at a place of a day; `record` None: it cannot be read as a record."""

    place: str
    record: AuditRecord | None


def place_of(number: int) -> str:
    """Return where the record of that number is stored in its day; places sort like numbers."""
    return f"{number:010d}"


@dataclass(frozen=True)
class AuditFilter:
    """Which records someone looks for; "" and None look for any. Days are like `2026-12-01`."""

    user: str = ""
    action: str = ""
    object: str = ""
    outcome: Outcome | None = None
    since: str = ""
    """The first day."""
    until: str = ""
    """The last day."""

    def matches(self, record: AuditRecord) -> bool:
        """Return whether the record is one of these."""
        return (
            self.user in {"", record.user}
            and self.action in {"", record.action}
            and self.object in {"", record.object}
            and self.outcome in {None, record.outcome}
            and self.since <= record.day
            and (not self.until or record.day <= self.until)
        )
