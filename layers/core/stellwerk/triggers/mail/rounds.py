"""All mailboxes that are watched, each for itself: a broken or slow one holds up no other."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.tenancy.scope import of_platform
from stellwerk.triggers.mail.model import Watched
from stellwerk.triggers.mail.polling import Poller
from stellwerk.triggers.mail.ports import Mailboxes

LOG = logging.getLogger(__name__)
TOGETHER = 8
"""Mailboxes that are read at once."""


class MailRounds:
    """Goes round all watched mailboxes of all mandates."""

    def __init__(self, mailboxes: Mailboxes, poller: Poller) -> None:
        self._mailboxes = mailboxes
        self._poller = poller

    def go(self, deadline: Deadline, *, request: str = "") -> JsonObject:
        """Read all mailboxes; return how many there were, and how many mails went on.

        They come in another order each time, so that none is always the one for which no time is
        left.
        """
        found = list(self._mailboxes.everywhere(of_platform(request=request)))
        random.shuffle(found)
        with ThreadPoolExecutor(TOGETHER, "mailbox") as pool:
            handed = list(pool.map(self._polling(deadline, request), found))
        return {
            "mailboxes": sum(one is not None for one in handed),
            "mails": sum(one or 0 for one in handed),
        }

    def _polling(self, deadline: Deadline, request: str) -> Callable[[Watched], int | None]:
        def poll(watched: Watched) -> int | None:
            if deadline.remaining <= 0:
                return None
            scope = of_platform(watched.mandate, request=request).at(watched.instance)
            try:
                return self._poller.poll(scope, watched.box, deadline)
            except Exception:
                LOG.exception("mailbox %s of mandate %s", watched.box[:12], watched.mandate)
                return None

        return poll
