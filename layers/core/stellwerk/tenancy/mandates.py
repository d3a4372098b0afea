"""Mandates, as those administrate them who run the installation or one of them."""

from __future__ import annotations

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import MandateId, RoleId, new_id
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Level, Place, Priority, Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.founding import found_mandate
from stellwerk.tenancy.model import Mandate, UserMandate
from stellwerk.tenancy.people import People
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.principals import administrates
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import (
    NO_INSTANCE,
    SYSTEM,
    Scope,
    at_mandate,
    of_platform,
    permitted,
    require,
)
from stellwerk.tenancy.wording import named

TABLE = "mandates"


class MandateService:
    """Creates, lists and changes mandates."""

    def __init__(self, directory: Directory, *, audit: Audit, clock: Clock) -> None:
        self._directory = directory
        self._people = People(directory.members, clock)
        self._audit = audit
        self._clock = clock

    def create(self, scope: Scope, label: str, admin: str) -> Mandate:
        """Create a mandate with copies of the system's roles, administrated by `admin`.

        The scope is the platform's of a system administrator; `admin` the id of a user, or the
        address of a person, who is invited if need be. Raises Forbidden, BadInput, NotFound.
        """
        with self._audit.act(scope, "mandate.create") as act:
            if scope.mandate != SYSTEM:
                raise Forbidden("Mandates are created outside of all mandates.")
            require(scope, TABLE, Verb.CREATE)
            name, now = named(label, "label"), self._clock.now()
            first = self._people.invited(admin) if "@" in admin else self._people.find(admin)
            if first is None:
                raise NotFound(f"there is no user {admin}", remedy="Give a mail address.")
            mandate = Mandate(
                id=MandateId(f"m-{new_id(now)}"), label=name, created_by=scope.user, created=now
            )
            act.object(f"mandate:{mandate.id}")
            stored = found_mandate(
                self._directory, mandate, first.id, new_id=lambda _: RoleId(f"r-{new_id(now)}")
            )
            act.after(stored)
            return stored

    def get(self, scope: Scope) -> Mandate:
        """Return the scope's mandate."""
        scope = at_mandate(scope)
        with noted(self._audit, scope, "mandate.read", f"mandate:{scope.mandate}"):
            require(scope, TABLE, Verb.READ)
        return self._directory.mandates.mandate(scope)

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Mandate]:
        """Return a page of all mandates to system administrators, to others those they belong to.

        The scope is the user's outside of all mandates.
        """
        if scope.mandate == SYSTEM and permitted(scope, TABLE, Verb.READ).level is Level.ALL:
            return self._directory.mandates.mandates(scope, cursor=cursor, limit=limit)
        belongs = self._directory.members.places(scope.user)
        own = [
            Place(one.mandate, NO_INSTANCE)
            for one in belongs
            if isinstance(one, UserMandate) and one.active
        ]
        found = self._directory.mandates.at(of_platform(), own).values()
        return Page([one for one in found if isinstance(one, Mandate) and one.active])

    def update(
        self,
        scope: Scope,
        revision: int,
        *,
        label: str | None = None,
        active: bool | None = None,
        guests: bool | None = None,
        open_runs: int | None = None,
    ) -> Mandate:
        """Change the scope's mandate; what is None stays.

        `active` and `open_runs`, its share, are changed only by a global role. Raises Forbidden,
        BadInput; Conflict where `revision` is not what is stored.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "mandate.update", f"mandate:{scope.mandate}") as act:
            require(scope, TABLE, Verb.UPDATE)
            stored = self._directory.mandates.mandate(scope)
            if active not in (None, stored.active) or open_runs not in (None, stored.open_runs):
                _require_global(scope)
            act.before(stored)
            changed = stored.model_copy(
                update={
                    "revision": revision,
                    "label": stored.label if label is None else named(label, "label"),
                    "active": stored.active if active is None else active,
                    "guests": stored.guests if guests is None else guests,
                    "open_runs": open_runs or stored.open_runs,
                }
            )
            written = self._directory.mandates.write_mandate(scope, changed)
            act.after(written)
            return written


def _require_global(scope: Scope) -> None:
    if not administrates(scope.principal, scope.table(TABLE), scope.place, Priority.GLOBAL):
        raise Forbidden(
            "Only who administrates the installation may let a mandate rest, wake it, or change "
            "its share.",
            remedy="Ask a system administrator.",
        )
