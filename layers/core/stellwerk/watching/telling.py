"""Telling people: a notice is put into the outbox at once, and sent by whoever has the time."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict, StellwerkError
from stellwerk.kernel.ids import new_id
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.bundles import (
    GIVEN_UP,
    LEASE,
    WINDOW,
    Bundle,
    Message,
    Outbox,
    Sent,
    message_of,
    opened,
    pause,
)

LOG = logging.getLogger(__name__)


class Channel(Protocol):
    """A way to reach someone."""

    def send(self, address: str, message: Message) -> None:
        """Send; the same message id may come twice. Raises a StellwerkError where it cannot."""


class People(Protocol):
    """Finds where people are reached."""

    def addresses(self, scope: Scope, to: Sequence[str]) -> Sequence[str]:
        """Return `channel:address` of all whom these name, each once."""


class Outgoing:
    """The notices of a deployment: implements `tenancy.notices.Notices`."""

    def __init__(self, outbox: Outbox, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock

    def notify(self, scope: Scope, notice: Notice) -> None:
        """Put a notice into the outbox; what goes wrong is logged."""
        now = self._clock.now()
        try:
            self._outbox.add(scope, opened(notice, now, new_id(now)))
        except Exception:
            LOG.exception("nobody could be told: %s %s", notice.kind, notice.subject)


@dataclass(frozen=True)
class Postman:
    """Sends what is in the outbox."""

    outbox: Outbox
    people: People
    channels: Mapping[str, Channel]
    clock: Clock

    def due(self, scope: Scope) -> Iterator[partial[None]]:
        """Yield what is to be done at a place: sending what has waited for long enough."""
        for bundle in self.outbox.due(scope, self.clock.now()):
            yield partial(self.look_at, scope, bundle)

    def look_at(self, scope: Scope, name: str) -> None:
        """Send what a bundle has to tell, or close it; nothing while somebody else does."""
        bundle = self.outbox.find(scope, name)
        now = self.clock.now()
        if bundle is None or bundle.due is None or bundle.due > now:
            return
        if bundle.lease is not None and bundle.lease > now:
            return
        try:
            if bundle.news:
                self._send(scope, self._claimed(scope, bundle))
            else:
                closed = {"closed": True, "due": None, "lease": None}
                self.outbox.close(scope, bundle.model_copy(update=closed))
        except Conflict:  # somebody else is at it
            return

    def _claimed(self, scope: Scope, bundle: Bundle) -> Bundle:
        upto = bundle.upto if bundle.tries else bundle.count
        lease = self.clock.now() + LEASE
        return self.outbox.write(
            scope, bundle.model_copy(update={"lease": lease, "due": lease, "upto": upto})
        )

    def _send(self, scope: Scope, bundle: Bundle) -> None:
        message = message_of(bundle)
        reached = list(bundle.reached)
        errors: list[str] = []
        for address in self._addresses(scope, bundle, errors):
            if address in reached:
                continue
            try:
                self._to(address, message)
            except StellwerkError as error:
                errors.append(f"{shown(address)}: {error.message}")
            except Exception as error:
                LOG.exception("message %s could not be sent", message.id)
                errors.append(f"{shown(address)}: {type(error).__name__}")
            else:
                reached.append(address)
        self.outbox.write(
            scope,
            *(self._failed(bundle, reached, errors) if errors else self._done(bundle, reached)),
        )

    def _addresses(self, scope: Scope, bundle: Bundle, errors: list[str]) -> Sequence[str]:
        try:
            return self.people.addresses(scope, bundle.to)
        except StellwerkError as error:
            errors.append(error.message)
            return ()

    def _to(self, address: str, message: Message) -> None:
        kind, _, rest = address.partition(":")
        channel = self.channels.get(kind)
        if channel is None:
            raise BadInput(f"nobody can be told by '{kind}'")
        channel.send(rest, message)

    def _done(self, bundle: Bundle, reached: list[str]) -> tuple[Bundle, Sent]:
        return self._told(bundle), self._sent(bundle, reached)

    def _failed(
        self, bundle: Bundle, reached: list[str], errors: list[str]
    ) -> tuple[Bundle, Sent | None]:
        tries, error = bundle.tries + 1, "; ".join(errors)[:1000]
        if tries >= GIVEN_UP:
            LOG.error("message %s is given up: %s", bundle.message_id, error)
            lost = {"error": error, "given_up": True}
            return self._told(bundle), self._sent(bundle, reached).model_copy(update=lost)
        update = {
            "lease": None,
            "due": self.clock.now() + pause(tries),
            "tries": tries,
            "reached": tuple(reached),
            "error": error,
        }
        return bundle.model_copy(update=update), None

    def _told(self, bundle: Bundle) -> Bundle:
        """Return the bundle after its message: what comes within the next minutes is gathered."""
        now = self.clock.now()
        told = {"told": bundle.upto, "opened": now, "due": now + WINDOW}
        return bundle.model_copy(update={**told, **_AFRESH})

    def _sent(self, bundle: Bundle, reached: list[str]) -> Sent:
        return Sent(
            at=self.clock.now(),
            kind=bundle.kind,
            subject=bundle.subject,
            count=bundle.upto - bundle.told,
            reached=tuple(map(shown, reached)),
        )


_AFRESH: Mapping[str, object] = {"lease": None, "tries": 0, "reached": (), "error": ""}


def shown(address: str) -> str:
    """Return an address as it is shown: what follows a service's host is as good as a password."""
    kind, _, rest = address.partition(":")
    if "://" not in rest:
        return address
    scheme, _, place = rest.partition("://")
    return f"{kind}:{scheme}://{place.partition('/')[0]}/…"
