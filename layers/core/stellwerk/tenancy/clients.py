"""Machines that sign in with client credentials: principals with roles, expiry and revocation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import RoleId, UserId, new_id
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.model import User, UserMandate
from stellwerk.tenancy.ports import MACHINES, Directory, Registry
from stellwerk.tenancy.reach import require_reach
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import Scope, at_mandate, require
from stellwerk.tenancy.wording import named

TABLE = "clients"


class ClientService:
    """Creates, lists, renews and revokes the machines of a mandate.

    A machine holds roles of the mandate; those of an instance it gets there, like a person.
    """

    def __init__(
        self, directory: Directory, registry: Registry, *, audit: Audit, clock: Clock, issuer: str
    ) -> None:
        self._directory = directory
        self._members = directory.members
        self._registry = registry
        self._audit = audit
        self._clock = clock
        self._issuer = issuer

    def create(
        self, scope: Scope, name: str, roles: Iterable[RoleId], expires: datetime | None = None
    ) -> tuple[User, str]:
        """Create a machine; the secret is shown now and never again. The client id is its subject.

        Raises Forbidden, also for roles beyond what the user holds; NotFound for foreign roles;
        BadInput for a name that cannot be used or a moment that is over.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "client.create") as act:
            require(scope, TABLE, Verb.CREATE)
            held, now = self._checked(scope, roles), self._clock.now()
            label = named(name, "name")
            if expires is not None and expires <= now:
                raise BadInput(f"{expires.isoformat()} is over", remedy="Give a later moment.")
            client = UserId(f"{MACHINES}{new_id(now)}")
            act.object(f"client:{client}")
            credentials = self._registry.register(client, label)
            user = User(
                id=client,
                kind="machine",
                issuer=self._issuer,
                subject=credentials.client_id,
                name=label,
                expires=expires,
                created=now,
            )
            written = self._members.write_user(user)
            member = UserMandate(mandate=scope.mandate, user=client, roles=held, expires=expires)
            self._members.write_membership(scope, member)
            act.after(written)
            return written, credentials.secret

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[User]:
        """Return a page of the mandate's machines, the oldest first."""
        scope = at_mandate(scope)
        with noted(self._audit, scope, "client.list"):
            require(scope, TABLE, Verb.READ)
        page = self._members.members(scope, cursor=cursor, limit=limit, ids=MACHINES)
        users = self._members.users([member.user for member in page.items])
        known = [users[member.user] for member in page.items if member.user in users]
        return Page(known, page.cursor)

    def rotate(self, scope: Scope, client: UserId) -> tuple[User, str]:
        """Give a machine another secret; the one before opens nothing any more.

        Raises Forbidden, NotFound.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "client.rotate", f"client:{client}") as act:
            require(scope, TABLE, Verb.UPDATE)
            stored = self._machine(scope, client)
            act.before(stored)
            credentials = self._registry.renew(client, stored.name, stored.subject)
            changed = stored
            if credentials.client_id != stored.subject:
                moved = stored.model_copy(update={"subject": credentials.client_id})
                changed = self._members.write_user(moved, stored)
            act.after(changed)
            return changed, credentials.secret

    def revoke(self, scope: Scope, client: UserId) -> None:
        """Refuse a machine and its tokens from now on, and take it from the mandate.

        Raises Forbidden, NotFound.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "client.revoke", f"client:{client}") as act:
            require(scope, TABLE, Verb.DELETE)
            stored = self._machine(scope, client)
            act.before(stored)
            if stored.active:
                resting = stored.model_copy(update={"active": False})
                stored = self._members.write_user(resting, stored)
            self._registry.withdraw(client, stored.subject)
            self._members.remove_membership(scope, client)
            act.after(stored)

    def _machine(self, scope: Scope, client: UserId) -> User:
        member = self._members.standing(scope, client).membership
        user = self._members.user(client) if member else None
        if user is None or user.kind != "machine":
            raise NotFound(f"there is no machine {client}", remedy="Look at the list of machines.")
        return user

    def _checked(self, scope: Scope, roles: Iterable[RoleId]) -> tuple[RoleId, ...]:
        held = tuple(dict.fromkeys(roles))
        for role in held:
            require_reach(scope, self._directory.roles.role(scope, role).rules)
        return held
