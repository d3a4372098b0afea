"""At a rate: what is new in the mailboxes that somebody watches goes to who watches."""

from __future__ import annotations

from stellwerk.handlers.mailing import mail_round
from stellwerk.handlers.system import Occasion
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.triggers.mail.rounds import MailRounds

RESERVE = 60.0
"""Seconds that a mailbox may take which is being read when the time is over."""


@mail_round
def handler(rounds: MailRounds, occasion: Occasion) -> JsonObject:
    """Go round the mailboxes; return how many there were, and how many mails went on."""
    deadline = Deadline.within(SystemClock(), occasion.seconds - RESERVE)
    return rounds.go(deadline, request=occasion.request)
