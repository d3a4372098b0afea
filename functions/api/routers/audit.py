"""The audit of a mandate: read, export, verify."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InMandate
from api.models.audit import AuditPage, AuditRecord, Outcome, Verification
from api.models.base import Day
from api.operations import operations
from api.paging import Paged
from api.rendering import shown
from stellwerk.kernel.errors import BadInput
from stellwerk.tenancy.evidence import AuditFilter
from stellwerk.tenancy.evidence import Outcome as Ending

router = operations("/mandates/{mandate}/audit", tags=["audit"])
LARGEST = 5 * 1024 * 1024
"""Bytes of an export: what Lambda can hand over."""
Since = Annotated[Day | None, Query(description="The first day")]
Until = Annotated[Day | None, Query(description="The last day")]
_PLAIN = r"^[\x20-\x7e]*$"


@router.get("", response_model=AuditPage)
def list_audit_records(
    scope: InMandate,
    here: Here,
    page: Paged,
    user: Annotated[str | None, Query(pattern=ID)] = None,
    action: Annotated[str, Query(max_length=60, pattern=_PLAIN, examples=["version.publish"])] = "",
    object: Annotated[str, Query(max_length=200, pattern=_PLAIN)] = "",
    outcome: Annotated[Outcome | None, Query()] = None,
    since: Since = None,
    until: Until = None,
) -> Response:
    """List records, the newest first. All filters hold together; a page may be short."""
    wanted = AuditFilter(
        user=user or "",
        action=action,
        object=object,
        outcome=Ending(outcome) if outcome else None,
        since=_day(since),
        until=_day(until),
    )
    found = here.administration.audit.page(scope, wanted, cursor=page.cursor, limit=page.limit)
    items = [AuditRecord.of(record) for record in found.items]
    return shown(AuditPage(items=items, cursor=found.cursor))


@router.get(
    "/export",
    response_class=Response,
    responses={
        200: {
            "description": "The records, the oldest first, one in each line",
            "content": {"application/jsonl": {"schema": {"type": "string"}}},
        }
    },
)
def export_audit(
    scope: InMandate, here: Here, since: Since = None, until: Until = None
) -> Response:
    """Export the records of some days as JSON Lines."""
    lines = _within_limit(here.administration.audit.export(scope, _day(since), _day(until)))
    name = f"audit-{scope.mandate}.jsonl"
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return Response(lines, 200, headers, "application/jsonl")


@router.get("/verify", response_model=Verification)
def verify_audit(
    scope: InMandate,
    here: Here,
    day: Annotated[
        list[Day] | None,
        Query(max_length=31, description="Days to look at; none named: all of them"),
    ] = None,
) -> Response:
    """Verify the chain: tell of every record that is missing, changed or out of place."""
    days = None if day is None else [one.isoformat() for one in day]
    return shown(Verification.of(here.administration.audit.verify(scope, days)))


def _day(day: date | None) -> str:
    return day.isoformat() if day else ""


def _within_limit(lines: Iterable[str]) -> bytes:
    """Return the lines as one; raises BadInput where they are too many for one answer."""
    parts: list[bytes] = []
    size = 0
    for line in lines:
        parts.append(line.encode())
        size += len(parts[-1])
        if size > LARGEST:
            raise BadInput(
                f"The records of these days have more than {LARGEST} bytes.",
                remedy="Export fewer days at once.",
            )
    return b"".join(parts)
