"""Wait until a mail comes."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.arriving import Expected, arrival
from stellwerk.handlers.mails import MailParameters, MailValue
from stellwerk.handlers.moments import moment_of
from stellwerk.handlers.work import Work
from stellwerk.toolboxes.model import ConnectionId
from stellwerk.triggers.mail.model import BoxKey


class CheckMail(MailParameters):
    """Parameters."""

    due: str | None = Field(
        default=None,
        description="Until when: a duration (ISO 8601) or a moment with its time zone; "
        "365 days if empty",
        examples=["P3D", "2026-12-24T18:00:00+01:00"],
    )


@arrival(title="Wait for a mail", result=MailValue, connection="mailbox")
def handler(parameters: CheckMail, work: Work) -> Expected:
    """Wait for the first mail that fits and comes from now on; `expired` if none does in time."""
    box = BoxKey(ConnectionId(parameters.connection), parameters.folder)
    now = work.execution.site.now
    due = None if parameters.due is None else moment_of(parameters.due, now)
    return Expected(box, parameters.filter, due)
