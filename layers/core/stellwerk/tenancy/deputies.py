"""Deputies: for a period, someone decides in a mandate what waits for somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Forbidden, NotFound
from stellwerk.kernel.ids import MandateId, UserId
from stellwerk.kernel.records import Record
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.ports import PEOPLE, Members
from stellwerk.tenancy.principals import is_member
from stellwerk.tenancy.scope import Scope, at_mandate

LONGEST = timedelta(days=366)
MOST = 20
"""Deputies that someone has at a time, and people for whom one may stand in."""


class Deputy(Record):
    """That `deputy` stands in for `user`, from `since` until before `until`."""

    mandate: MandateId
    user: UserId
    deputy: UserId
    since: datetime
    until: datetime

    def counts(self, now: datetime) -> bool:
        """Say whether it holds at that moment."""
        return self.since <= now < self.until


class Deputies(Protocol):
    """Keeps who stands in for whom, in the scope's mandate. Errors as in `tenancy.ports`."""

    def of(self, scope: Scope, user: UserId) -> Sequence[Deputy]:
        """Return whom `user` has named, by deputy."""

    def by(self, scope: Scope, deputy: UserId) -> Sequence[Deputy]:
        """Return for whom `deputy` was named, by user."""

    def write(self, scope: Scope, deputy: Deputy) -> Deputy:
        """Write that someone stands in, over what was said of the two before.

        NotFound for one of another mandate than the scope's.
        """

    def remove(self, scope: Scope, user: UserId, deputy: UserId) -> None:
        """Remove that `deputy` stands in for `user`; nothing if there is no such thing."""


class DeputyService:
    """Names deputies of the scope's own user."""

    def __init__(self, deputies: Deputies, members: Members, *, audit: Audit, clock: Clock) -> None:
        self._deputies = deputies
        self._members = members
        self._audit = audit
        self._clock = clock

    def list(self, scope: Scope) -> Sequence[Deputy]:
        """Return whom the user has named, then for whom it was named; what is over is left out."""
        now = self._clock.now()
        named = self._deputies.of(scope, scope.user)
        found = [*named, *self._deputies.by(scope, scope.user)]
        return [one for one in found if now < one.until]

    def name(
        self, scope: Scope, deputy: UserId, *, until: datetime, since: datetime | None = None
    ) -> Deputy:
        """Let `deputy`, a member of the mandate, stand in for the user; `since` None is now.

        What was said of the two before holds no more. Raises BadInput for a period that cannot be,
        and for one who cannot stand in; Forbidden for machines, and who is no member himself.
        """
        now = self._clock.now()
        named = Deputy(
            mandate=scope.mandate,
            user=scope.user,
            deputy=deputy,
            since=since or now,
            until=until,
        )
        with self._audit.act(scope, "deputy.name", f"user:{scope.user}") as act:
            self._check(scope, named, now)
            written = self._deputies.write(scope, named)
            act.after(written)
        return written

    def remove(self, scope: Scope, deputy: UserId) -> None:
        """Let `deputy` stand in no more; raises NotFound where it did not."""
        with self._audit.act(scope, "deputy.remove", f"user:{scope.user}") as act:
            named = self._deputies.of(scope, scope.user)
            before = next((one for one in named if one.deputy == deputy), None)
            if before is None:
                raise NotFound(
                    f"'{deputy}' is no deputy of yours.",
                    remedy="Look at the list of your deputies.",
                )
            act.before(before)
            self._deputies.remove(scope, scope.user, deputy)

    def _check(self, scope: Scope, named: Deputy, now: datetime) -> None:
        if not scope.user.startswith(PEOPLE):
            raise Forbidden("Only people have deputies.")
        if not is_member(self._members.standing(at_mandate(scope), scope.user)):
            raise Forbidden("Only members of a mandate have deputies there.")
        if named.deputy == named.user:
            raise BadInput("You cannot stand in for yourself.", remedy="Name somebody else.")
        if not max(named.since, now) < named.until <= now + LONGEST:
            raise BadInput(
                "A deputy's period must end after its beginning, later than now, within a year.",
                remedy="Correct `since` and `until`.",
            )
        if not is_member(self._members.standing(at_mandate(scope), named.deputy)):
            raise BadInput(
                f"There is no user '{named.deputy}' in this mandate who could stand in.",
                remedy="Choose one of its members.",
            )
        others = {one.deputy for one in self.list(scope) if one.user == scope.user}
        if len(others | {named.deputy}) > MOST:
            raise BadInput(f"You have {MOST} deputies.", remedy="Remove one first.")
