"""What comes in at the address of a trigger, and the run that it starts."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stellwerk.kernel.errors import Conflict, NotFound, PermanentError
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.firing import Firing
from stellwerk.runs.limits import ConcurrencyReached
from stellwerk.runs.model import Run
from stellwerk.runs.waking import over
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope, of_platform, of_run
from stellwerk.triggers.hookdesk import nothing_there
from stellwerk.triggers.hooks import Addresses, Hook, Hooks

LOG = logging.getLogger(__name__)
_LONGEST = 300
"""Characters of a delivery's id that are kept as they are: callers choose it."""


class Limits(Protocol):
    """Counts what somebody does."""

    def take(self, principal: UserId) -> None:
        """Count once; raises TooManyRequests."""


@dataclass(frozen=True)
class Opened:
    """A hook that somebody knows the token of, and the platform's scope where it is."""

    scope: Scope
    hook: Hook


class Doors:
    """Finds what a token leads to, and starts runs there."""

    def __init__(
        self,
        hooks: Hooks,
        addresses: Addresses,
        limits: Limits,
        firing: Firing,
        world: World,
    ) -> None:
        self._hooks = hooks
        self._addresses = addresses
        self._limits = limits
        self._firing = firing
        self._world = world

    def open(self, token: str, type_: str) -> Opened:
        """Return the armed hook of that type; NotFound, whatever the reason. Two reads, one count.

        Raises TooManyRequests where more comes than the token may bring in a minute.
        """
        address = self._addresses.find(of_platform(), token)
        if address is None:
            raise nothing_there()
        try:
            hook = self._hooks.get(address.scope, address.workflow, address.node)
        except NotFound:
            raise nothing_there() from None
        if hook.token != token or hook.type != type_ or not hook.armed:
            raise nothing_there()
        self._limits.take(UserId(f"hook-{address.workflow}-{address.node}"))
        return Opened(address.scope, hook)

    def fire(self, opened: Opened, delivery: str, payload: Callable[[], JsonValue]) -> Run:
        """Start the run of a delivery, or return the one that it has started already.

        `payload` is asked for only where the delivery is new. Raises Conflict where as many runs
        are open as may be and it is to be left out; NotFound where the workflow may not be started
        now, for whatever other reason: that is its owner's business, and logged.
        """
        scope, hook, delivery = opened.scope, opened.hook, _short(delivery)
        known = self._world.runs.delivered(scope, hook.workflow, delivery)
        if known is not None and (known.execution or over(known)):
            return known
        handed = payload() if known is None else None
        try:
            return self._firing.fire(
                scope, hook.workflow, trigger=hook.node, delivery=delivery, payload=handed
            )
        except ConcurrencyReached as full:
            raise Conflict(
                "As many runs are at work as may be: this one was left out.",
                remedy="Send it again later.",
            ) from full
        except PermanentError as refusal:
            self._log(scope, hook, refusal)
            raise nothing_there() from refusal

    def run(self, opened: Opened, run: Run) -> Run:
        """Return the run as it stands now."""
        return self._world.runs.get(opened.scope, run.id)

    def result(self, opened: Opened, run: Run) -> JsonValue:
        """Return what a run has come to; None where it has not."""
        return self._world.values.load(opened.scope, run.output) if run.output else None

    def owner(self, opened: Opened) -> Scope:
        """Return the scope in which files that come along are kept: the workflow's owner's."""
        scope = opened.scope
        owner = self._world.versions.workflow(scope, opened.hook.workflow).created_by
        return of_run(scope.mandate, scope.instance, owner, request=scope.request)

    def _log(self, scope: Scope, hook: Hook, refusal: PermanentError) -> None:
        level = logging.INFO if isinstance(refusal, Conflict) else logging.WARNING
        LOG.log(
            level,
            "workflow %s of mandate %s was not started by %s: %s",
            hook.workflow,
            scope.mandate,
            hook.node,
            refusal,
        )


def _short(delivery: str) -> str:
    if len(delivery) <= _LONGEST:
        return delivery
    digest = hashlib.sha256(delivery.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{delivery[:100]}…{digest}"
