"""Audit records on the table `audit`: put where nothing stands, read, and never changed.

A record is its JSON text. What lists and filters it stands beside the text: the text alone is
evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from stellwerk.aws import keys, listing, tables
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put, absent, decoded
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord, Entry, place_of
from stellwerk.tenancy.scope import Scope

READS = 10
"""Pages that are read at most to fill one page of records that match."""
_LAST = "~"
"""Sorts after all that follows a day in the moments of that day."""


class DynamoAuditLog:
    """Audit records. Requests: append 1, last 1, day_before 1, page 2 for each of its reads."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def last(self, scope: Scope, day: str) -> AuditRecord | None:
        """Return the newest record of a day; raises ServiceUnavailable if nobody can read it."""
        wanted = Range(keys.audit_record(scope, day).pk, newest_first=True)
        newest = next(self._items.query(wanted, limit=1), None)
        if newest is None:
            return None
        record = _record(newest)
        if record is None or newest["sk"] != place_of(record.number):
            raise ServiceUnavailable(
                f"the audit of '{scope.mandate}' is damaged at its last record of {day}",
                remedy="The operator must look: `stellwerk audit verify` tells more.",
            )
        return record

    def append(self, scope: Scope, record: AuditRecord) -> None:
        """Put a record; raises Conflict where its number is taken by another one."""
        if record.mandate != scope.mandate:
            raise NotFound(f"there is no audit of mandate '{record.mandate}' here")
        put = _put(scope, record)
        try:
            if record.number == 1:
                mark = Put(keys.audit_day(scope, record.day), {})
                self._items.transact([put, mark])
            else:
                self._items.put(put)
        except Refused as refused:
            if _stands(refused, record):
                return
            raise Conflict(
                f"audit record {record.number} of {record.day} is written already"
            ) from refused

    def entries(self, scope: Scope, day: str) -> Iterator[Entry]:
        """Yield all that is stored of a day, by place."""
        for item in self._items.query(Range(keys.audit_record(scope, day).pk)):
            yield Entry(str(item["sk"]), _record(item))

    def page(
        self, scope: Scope, wanted: AuditFilter, *, cursor: str | None, limit: int
    ) -> Page[AuditRecord]:
        """Return a page, the newest first, from the index that leaves the fewest to pass over."""
        found: list[AuditRecord] = []
        listed = _range(scope, wanted)
        size = max(1, min(limit, 100))
        for _ in range(READS):
            part = listing.page(self._items, listed, cursor=cursor, limit=size - len(found))
            records = [record for item in part.items if (record := _record(item))]
            found += [record for record in records if wanted.matches(record)]
            cursor = part.cursor
            if records and records[-1].day < wanted.since:
                return Page(found)
            if cursor is None or len(found) == size:
                break
        return Page(found, cursor)

    def days(self, scope: Scope) -> Iterator[str]:
        """Yield the days that have records, the oldest first."""
        for mark in self._items.query(Range(keys.audit_day(scope).pk)):
            yield str(mark["sk"])

    def day_before(self, scope: Scope, day: str) -> str | None:
        """Return the last day before `day` that has records."""
        marks = Range(keys.audit_day(scope).pk, until=day, newest_first=True)
        days = (str(mark["sk"]) for mark in self._items.query(marks, limit=2))
        return next((each for each in days if each < day), None)


def _put(scope: Scope, record: AuditRecord) -> Put:
    place = place_of(record.number)
    item: Item = {
        "record": record.model_dump_json(),
        "in_mandate": keys.audit_of_mandate(scope),
        "in_user": keys.audit_of_user(scope, record.user),
        "listed_at": keys.listed_at(record.at, place),
    }
    if record.object:
        item["in_object"] = keys.audit_of_object(scope, record.object)
    return Put(keys.audit_record(scope, record.day, place), item, when=(absent(),))


def _range(scope: Scope, wanted: AuditFilter) -> Range:
    until = wanted.until + _LAST if wanted.until else None
    if wanted.object:
        partition, index = keys.audit_of_object(scope, wanted.object), tables.AUDIT_BY_OBJECT
    elif wanted.user:
        partition, index = keys.audit_of_user(scope, wanted.user), tables.AUDIT_BY_USER
    else:
        partition, index = keys.audit_of_mandate(scope), tables.AUDIT_BY_MANDATE
    return Range(partition, index=index, until=until, newest_first=True)


def _record(item: Item) -> AuditRecord | None:
    try:
        return AuditRecord.model_validate_json(str(item.get("record", "")))
    except ValidationError:
        return None


def _stands(refused: Refused, record: AuditRecord) -> bool:
    """Whether the record stands there already: it was written, and the answer was lost."""
    stored = refused.reasons[0].item
    return stored is not None and _record(decoded(stored)) == record
