"""Reading the audit: pages for people, the whole for machines, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import chain

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Forbidden
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord
from stellwerk.tenancy.ports import AuditLog
from stellwerk.tenancy.scope import Scope, require
from stellwerk.tenancy.verification import (
    AuditFault,
    DayReport,
    between_days,
    ends_and_beginnings,
    read_day,
)

TABLE = "audit"


@dataclass(frozen=True)
class Verification:
    """What was looked at, and what is wrong with it, in order."""

    days: int
    records: int
    faults: Sequence[AuditFault]


class AuditService:
    """The audit of the scope's mandate, for those whose roles let them read it."""

    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def page(
        self,
        scope: Scope,
        wanted: AuditFilter | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[AuditRecord]:
        """Return a page of records, the newest first; who may read `my` gets his own acts.

        However few match, a page costs the same: it may be short, even empty, and still go on.
        Raises Forbidden; BadInput for a day that is none.
        """
        wanted = wanted or AuditFilter()
        _check_days(wanted.since, wanted.until)
        if require(scope, TABLE, Verb.READ) is Level.MY:
            if wanted.user not in {"", scope.user}:
                return Page([])
            wanted = replace(wanted, user=scope.user)
        return self._log.page(scope, wanted, cursor=cursor, limit=limit)

    def verify(self, scope: Scope, days: Sequence[str] | None = None) -> Verification:
        """Look at days of the chain, or all of it. Raises Forbidden; BadInput for no day."""
        _require_all(scope)
        _check_days(*(days or ()))
        chosen = sorted(set(days)) if days is not None else self._log.days(scope)
        inspected = _Inspection(self._log, scope)
        now = self._clock.now()
        reports = [inspected.day(day, now) for day in chosen]
        faults = list(chain.from_iterable(faults for _, faults in reports))
        return Verification(len(reports), sum(records for records, _ in reports), faults)

    def export(self, scope: Scope, since: str = "", until: str = "") -> Iterator[str]:
        """Return all records of these days as JSON Lines, the oldest first, each line with its end.

        What cannot be read as a record is left out: `verify` tells of it. Raises as `verify`, and
        at once.
        """
        _require_all(scope)
        _check_days(since, until)
        return self._lines(scope, since, until)

    def _lines(self, scope: Scope, since: str, until: str) -> Iterator[str]:
        for day in self._log.days(scope):
            if since <= day and (not until or day <= until):
                for entry in self._log.entries(scope, day):
                    if entry.record is not None:
                        yield entry.record.model_dump_json() + "\n"


class _Inspection:
    """Reads each day once, though it is looked at beside the days before and after it."""

    def __init__(self, log: AuditLog, scope: Scope) -> None:
        self._log = log
        self._scope = scope
        self._read: dict[str, DayReport] = {}

    def day(self, day: str, now: datetime) -> tuple[int, Sequence[AuditFault]]:
        """Return how many records a day has, and what is wrong with them."""
        report = self._report(day)
        known = self._log.day_before(self._scope, day)
        yesterday, tomorrow = (self._report(_shifted(day, by)) for by in (-1, 1))
        before = self._report(known) if known else None
        faults = [
            *report.faults,
            *between_days(report, before),
            *ends_and_beginnings(report, yesterday, tomorrow, now),
        ]
        self._forget({day, yesterday.day, tomorrow.day})
        return report.records, faults

    def _report(self, day: str) -> DayReport:
        if day not in self._read:
            entries = self._log.entries(self._scope, day)
            self._read[day] = read_day(self._scope.mandate, day, entries)
        return self._read[day]

    def _forget(self, kept: set[str]) -> None:
        self._read = {day: report for day, report in self._read.items() if day in kept}


def _require_all(scope: Scope) -> None:
    if require(scope, TABLE, Verb.READ) is Level.MY:
        raise Forbidden(
            "You may read your own acts in the audit, not those of all.",
            remedy="Ask an administrator of the mandate for a role that allows it.",
        )


def _check_days(*days: str) -> None:
    wrong = [day for day in days if day and not _is_day(day)]
    if wrong:
        named = ", ".join(f"'{day}'" for day in wrong)
        raise BadInput(f"{named}: not a day", remedy="Write days like 2026-12-01.")


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
