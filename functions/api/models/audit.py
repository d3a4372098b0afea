"""The audit: who did what."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from api.models.base import PageOf, Shown
from stellwerk.tenancy import audit, evidence

Outcome = Literal["begun", "done", "failed", "denied"]


class AuditRecord(Shown):
    """One record of a mandate's chain, as it is stored: `hash` covers all else."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "01kb2c3d4e5f6g7h8j9k0m1n2p",
                "mandate": "m-demo",
                "day": "2026-12-01",
                "number": 17,
                "at": "2026-12-01T08:15:00Z",
                "user": "u-demo",
                "instance": "i-demo",
                "action": "version.publish",
                "object": "version:01kb2c3d4e5f6g7h8j9k0m1n2a/3",
                "outcome": "done",
                "begun": 16,
                "begun_day": "2026-12-01",
                "before": "",
                "after": "9f86d081884c7d659a2feaa0c55ad015",
                "reason": "",
                "request": "01kb2c3d4e5f6g7h8j9k0m1n2q",
                "previous": "60303ae22b998861bce3b28f33eec1be",
                "previous_day": None,
                "hash": "fd61a03af4f77d870fc21e05e7e80678",
            }
        }
    )

    id: str
    mandate: str
    day: str
    number: int
    at: datetime
    user: str
    instance: str
    action: str
    object: str
    outcome: Outcome
    begun: int | None = Field(description="Of an ending: the number of its beginning")
    begun_day: str | None
    before: str = Field(description="SHA-256 of what the object was")
    after: str = Field(description="SHA-256 of what it became")
    reason: str
    request: str = Field(description="X-Request-Id")
    previous: str = Field(description="The hash of the record before")
    previous_day: str | None
    hash: str

    @classmethod
    def of(cls, record: evidence.AuditRecord) -> AuditRecord:
        """Show a record."""
        return cls.model_validate(record.model_dump(mode="json"))


class AuditPage(PageOf[AuditRecord]):
    """A page of records, the newest first."""


class AuditFault(Shown):
    """One thing that is wrong with the chain."""

    day: str
    place: str
    kind: str
    message: str


class Verification(Shown):
    """What was looked at, and what is wrong with it."""

    days: int
    records: int
    faults: list[AuditFault]

    @classmethod
    def of(cls, found: audit.Verification) -> Verification:
        """Show what was found."""
        return cls(
            days=found.days,
            records=found.records,
            faults=[
                AuditFault(
                    day=fault.day, place=fault.place, kind=fault.kind.value, message=fault.message
                )
                for fault in found.faults
            ],
        )
