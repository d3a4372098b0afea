"""Whether an audit chain is whole: what was edited, removed, inserted, or never came to an end.

Hashes show what was done to records that others follow. Whoever rewrites a chain to its very end
leaves no trace in it: an export that is kept elsewhere shows that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from stellwerk.kernel.ids import MandateId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.evidence import AuditRecord, Entry, Outcome, place_of

LONGEST_ACT = timedelta(minutes=15)
"""No process of ours lives longer: what began before that has ended, or its process has."""


class FaultKind(StrEnum):
    """What is wrong with a chain."""

    UNREADABLE = "unreadable"  # what is stored is no record
    MISPLACED = "misplaced"  # it names another mandate, day or number than its place does
    EDITED = "edited"  # its content is not what its hash covers
    MISSING = "missing"  # numbers, or a day, are left out
    BROKEN = "broken"  # it does not follow the record before it
    UNMATCHED = "unmatched"  # it ends an act that did not begin, or had ended already
    UNKNOWN = "outcome unknown"  # an act began and nobody wrote how it ended


@dataclass(frozen=True)
class AuditFault:
    """One thing that is wrong, with the day and place of the record where it shows."""

    day: str
    place: str
    kind: FaultKind
    message: str

    def as_json(self) -> JsonObject:
        """Return it for machines."""
        return {
            "day": self.day,
            "place": self.place,
            "kind": self.kind.value,
            "message": self.message,
        }


@dataclass
class DayReport:
    """A day by itself: its faults, and what other days need to know of it."""

    day: str
    records: int = 0
    first: AuditRecord | None = None
    faults: list[AuditFault] = field(default_factory=list)
    hashes: set[str] = field(default_factory=set)
    begun: dict[int, AuditRecord] = field(default_factory=dict)
    ends: dict[tuple[str, int], AuditRecord] = field(default_factory=dict)

    def note(self, place: str, kind: FaultKind, message: str) -> None:
        """Note a fault."""
        self.faults.append(AuditFault(self.day, place, kind, message))

    def take(self, record: AuditRecord) -> None:
        """Note what other records may refer to."""
        self.records += 1
        self.hashes.add(record.hash)
        if record.number == 1:
            self.first = record
        if record.outcome is Outcome.BEGUN:
            self.begun[record.number] = record
        elif record.begun is not None:
            self._take_end(record, (record.begun_day or record.day, record.begun))

    def _take_end(self, record: AuditRecord, begun: tuple[str, int]) -> None:
        if begun in self.ends:
            message = f"the act begun as {begun[1]} of {begun[0]} had ended already"
            self.note(place_of(record.number), FaultKind.UNMATCHED, message)
        self.ends[begun] = record


def read_day(mandate: MandateId, day: str, entries: Iterable[Entry]) -> DayReport:
    """Look at all that is stored of a day, by place."""
    report = DayReport(day)
    expected, before = 1, ""
    for entry in entries:
        record = entry.record
        if record is None:
            report.note(entry.place, FaultKind.UNREADABLE, "what is stored here is no record")
            expected, before = _number(entry.place, expected) + 1, ""
            continue
        if _misplaced(record, mandate, day, entry.place):
            report.note(entry.place, FaultKind.MISPLACED, _belongs(record))
            continue
        if record.number != expected:
            report.note(entry.place, FaultKind.MISSING, _gap(expected, record.number))
        elif before and record.previous != before:
            message = "it does not carry the hash of the record before: one of them was replaced"
            report.note(entry.place, FaultKind.BROKEN, message)
        if record.hash != record.expected_hash():
            report.note(entry.place, FaultKind.EDITED, "its content does not match its hash")
        report.take(record)
        expected, before = record.number + 1, record.hash
    return report


def between_days(report: DayReport, before: DayReport | None) -> Iterator[AuditFault]:
    """Yield what is wrong between a day and the last one before that has records."""
    first = report.first
    if first is None:
        return
    place, known = place_of(1), before.day if before else None
    if first.previous_day is not None and first.previous_day != known:
        message = f"it follows a record of {first.previous_day}, where there is none any more"
        if known is not None and known > first.previous_day:
            message = f"it follows a record of {first.previous_day}: {known} was inserted"
        yield AuditFault(report.day, place, FaultKind.MISSING, message)
    elif first.previous_day is None and known is not None:
        message = f"it says that it is the very first, but {known} has records"
        yield AuditFault(report.day, place, FaultKind.BROKEN, message)
    elif before is not None and first.previous not in before.hashes:
        message = f"the record of {before.day} that it follows is gone or was replaced"
        yield AuditFault(report.day, place, FaultKind.BROKEN, message)


def ends_and_beginnings(
    report: DayReport, before: DayReport | None, after: DayReport | None, now: datetime
) -> Iterator[AuditFault]:
    """Yield acts of the day that did not end, on it or the day after, and ends without an act."""
    known = {(report.day, number) for number in report.begun}
    known |= {(before.day, number) for number in before.begun} if before else set()
    for begun, record in report.ends.items():
        if begun not in known:
            message = f"it ends an act begun as {begun[1]} of {begun[0]}, which is not there"
            place = place_of(record.number)
            yield AuditFault(report.day, place, FaultKind.UNMATCHED, message)
    ended = report.ends.keys() | (after.ends.keys() if after else set())
    for number, record in report.begun.items():
        if (report.day, number) not in ended and record.at < now - LONGEST_ACT:
            message = f"'{record.action}' on '{record.object}' by '{record.user}' began and"
            message += " nobody wrote how it ended: look whether it happened"
            yield AuditFault(report.day, place_of(number), FaultKind.UNKNOWN, message)


def _misplaced(record: AuditRecord, mandate: MandateId, day: str, place: str) -> bool:
    named = (record.mandate, record.day, place_of(record.number))
    return named != (mandate, day, place)


def _belongs(record: AuditRecord) -> str:
    return f"it says that it is number {record.number} of {record.day} of '{record.mandate}'"


def _gap(expected: int, found: int) -> str:
    if found == expected + 1:
        return f"record {expected} before it is gone"
    return f"records {expected} to {found - 1} before it are gone"


def _number(place: str, otherwise: int) -> int:
    return int(place) if place.isascii() and place.isdigit() else otherwise - 1
