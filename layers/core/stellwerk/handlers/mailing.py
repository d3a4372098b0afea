"""The edge of the Lambda that reads mailboxes at a rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stellwerk.bootstrap import Services, services
from stellwerk.bootstrap.mailing import mail_rounds
from stellwerk.handlers.session import LambdaContext
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.mail.rounds import MailRounds


@dataclass(frozen=True)
class MailRoundHandler:
    """A Lambda's entry point: `act` gets what goes round, and the occasion."""

    act: Callable[[MailRounds, Occasion], JsonObject]

    def __call__(self, event: JsonValue, context: LambdaContext) -> JsonObject:
        """Handle an invocation at a rate; its event says nothing."""
        return self.serve(context, services())

    def serve(self, context: LambdaContext, running: Services) -> JsonObject:
        """Handle an invocation with the given services."""
        return self.act(mail_rounds(running), Occasion.of(context))


def mail_round(act: Callable[[MailRounds, Occasion], JsonObject]) -> MailRoundHandler:
    """Make a function the entry point."""
    return MailRoundHandler(act)
