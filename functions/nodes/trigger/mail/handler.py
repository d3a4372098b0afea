"""A run started by a mail."""

from __future__ import annotations

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.mails import MailParameters, MailValue
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work


class MailTrigger(MailParameters):
    """Parameters: texts, since a trigger has nothing that an expression could speak of."""


@step(title="Mail", kind=Kind.TRIGGER)
def handler(parameters: MailTrigger, work: Work) -> MailValue:
    """Start for each new mail that fits, once."""
    given = work.input
    if isinstance(given, dict) and given.keys() <= MailValue.model_fields.keys():
        return MailValue.model_validate(given)
    return MailValue(text=given) if isinstance(given, str) else MailValue()
