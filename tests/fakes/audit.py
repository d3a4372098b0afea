"""The audit log in memory. `ChainedAudit(FakeAuditLog(), FixedClock())` audits in a test."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator

from pydantic import ValidationError

from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import MandateId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord, Entry, place_of
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import at, paged


class FakeAuditLog:
    """Keeps texts by mandate, day and place, as the table does; `down`: it does not answer."""

    def __init__(self) -> None:
        self.stored: dict[tuple[MandateId, str], dict[str, str]] = defaultdict(dict)
        self.down = False
        self._lock = threading.Lock()

    def all(self, mandate: MandateId) -> list[AuditRecord]:
        """Return all records of a mandate, the oldest first."""
        return [
            record
            for (owner, day), places in sorted(self.stored.items())
            if owner == mandate
            for place in sorted(places)
            if (record := _record(places[place]))
        ]

    def last(self, scope: Scope, day: str) -> AuditRecord | None:
        places = self._day(scope, day)
        if not places:
            return None
        place = max(places)
        record = _record(places[place])
        if record is None or place != place_of(record.number):
            raise ServiceUnavailable("the audit is damaged")
        return record

    def append(self, scope: Scope, record: AuditRecord) -> None:
        if record.mandate != scope.mandate:
            raise NotFound(f"there is no audit of mandate '{record.mandate}' here")
        self._answer()
        text, place = record.model_dump_json(), place_of(record.number)
        with self._lock:
            if self.stored[scope.mandate, record.day].setdefault(place, text) != text:
                raise Conflict(f"audit record {record.number} of {record.day} is written already")

    def entries(self, scope: Scope, day: str) -> Iterator[Entry]:
        for place, text in sorted(self._day(scope, day).items()):
            yield Entry(place, _record(text))

    def page(
        self, scope: Scope, wanted: AuditFilter, *, cursor: str | None, limit: int
    ) -> Page[AuditRecord]:
        self._answer()
        found = [record for record in self.all(scope.mandate) if wanted.matches(record)]
        return paged(
            found, lambda item: at(item.at, place_of(item.number)), cursor=cursor, limit=limit
        )

    def days(self, scope: Scope) -> Iterator[str]:
        self._answer()
        with self._lock:
            found = [day for mandate, day in self.stored if mandate == scope.mandate]
        yield from sorted(found)

    def day_before(self, scope: Scope, day: str) -> str | None:
        return max((each for each in self.days(scope) if each < day), default=None)

    def _day(self, scope: Scope, day: str) -> dict[str, str]:
        self._answer()
        with self._lock:
            return dict(self.stored.get((scope.mandate, day), {}))

    def _answer(self) -> None:
        if self.down:
            raise ServiceUnavailable("the audit log does not answer")


def _record(text: str) -> AuditRecord | None:
    try:
        return AuditRecord.model_validate_json(text)
    except ValidationError:
        return None
