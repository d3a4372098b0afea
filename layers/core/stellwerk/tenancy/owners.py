"""What owners of workflows may do at this moment: who has no token acts by what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Forbidden
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.ports import Directory, Standing
from stellwerk.tenancy.principals import Present, Principals, belonging_at, instance_entered
from stellwerk.tenancy.scope import Scope, of_principal


class Owners:
    """Makes scopes of owners as they stand now, and remembers nothing between two. Requests: 2.

    Roles of the mandate and the instance count. Global ones do not: they are kept with the user,
    who belongs to no mandate, and what runs workflows reads nothing outside of its mandate.
    """

    def __init__(self, directory: Directory, clock: Clock) -> None:
        self._members = directory.members
        self._principals = Principals(directory)
        self._clock = clock

    def acting(self, scope: Scope, user: UserId) -> Scope:
        """Return the scope of `user` at the scope's place, with the roles that it holds there now.

        Raises Forbidden, with the reason, for one who may not come in there, or no longer.
        """
        standing = self._members.standing(scope, user)
        for reason in _closed(standing, self._clock.now()):
            raise _refusal(user, reason)
        principal = self._principals.principal(user, belonging_at(scope.place, standing))
        instance = instance_entered(Present(standing, principal), scope.place)
        if instance is None:
            raise _refusal(user, "has no access to the instance")
        return of_principal(
            principal,
            scope.mandate,
            scope.instance,
            feature=instance.feature,
            request=scope.request,
        )


def _closed(standing: Standing, now: datetime) -> Iterator[str]:
    """Yield what keeps a user out whatever its roles are."""
    mandate, membership, instance = standing.mandate, standing.membership, standing.instance
    if mandate is None or not mandate.active:
        yield "acts in a mandate that is not active"
    if membership is None or not membership.active:
        yield "is no active member of the mandate"
    elif not membership.counts(now):
        yield "belonged to the mandate until a moment that is over"
    if instance is None or not instance.active:
        yield "acts in an instance that is not active"


def _refusal(user: UserId, reason: str) -> Forbidden:
    return Forbidden(
        f"'{user}' {reason}.", remedy="Ask an administrator of the mandate to let the user in."
    )
