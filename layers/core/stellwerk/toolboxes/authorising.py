"""Consent: its owner is sent to the service, and comes back with a code, once."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, require
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind, Pending, Status
from stellwerk.toolboxes.oauth import Grants
from stellwerk.toolboxes.ports import Connections, Secrets
from stellwerk.toolboxes.rights import TABLE, check_change

LASTS = timedelta(minutes=10)
"""How long somebody may take to consent."""


class Authorising:
    """Sends owners of Microsoft accounts to consent, and takes what they bring back."""

    def __init__(
        self,
        store: Connections,
        kept: Secrets,
        grants: Grants,
        audit: Audit,
        clock: Clock,
        *,
        redirects: Collection[str],
    ) -> None:
        self._store = store
        self._kept = kept
        self._grants = grants
        self._audit = audit
        self._clock = clock
        self._redirects = redirects

    def begin(self, scope: Scope, connection: ConnectionId, redirect: str) -> str:
        """Return the address at which the scope's user consents, within ten minutes.

        Raises BadInput for a `redirect` that the operator has not named, or a kind that asks for no
        consent; Forbidden for one who does not own the connection: it would become his account.
        """
        found = self._checked(scope, connection)
        if redirect not in self._redirects:
            raise BadInput(
                "Nobody is sent back there after consenting.",
                remedy=f"Name one of: {', '.join(self._redirects)}.",
            )
        state, verifier = secrets.token_urlsafe(32), self._grants.verifier()
        url = self._grants.consent(found, state, verifier, redirect)
        pending = Pending(
            connection=connection,
            verifier=verifier,
            redirect=redirect,
            expires=self._clock.now() + LASTS,
        )
        with self._audit.act(scope, "connection.ask_consent", f"connection:{connection}"):
            self._store.ask(scope, state, pending)
        return url

    def finish(self, scope: Scope, state: str, code: str) -> Connection:
        """Take the code that came back with `state`; return the connection, which is active now.

        Raises NotFound for a state that this user was not given here, or that came before;
        Conflict after ten minutes; ConnectionRejected for a code that is not taken.
        """
        require(scope, TABLE, Verb.READ)
        try:
            pending = self._store.answered(scope, state)
        except NotFound as unknown:
            refusal = Forbidden("A consent came back that this user was not asked for, or twice.")
            raise NotFound(unknown.message, remedy=unknown.remedy) from refusal
        if pending.expires <= self._clock.now():
            raise Conflict(
                "The consent took longer than ten minutes.", remedy="Begin to authorise anew."
            )
        found = self._checked(scope, pending.connection)
        with self._audit.act(scope, "connection.authorise", f"connection:{found.id}") as act:
            act.before(found)
            secret = self._kept.get(scope, found.id)
            secret = self._grants.redeem(found, secret, code, pending.verifier, pending.redirect)
            self._kept.put(scope, found.id, secret)
            fresh = {"status": Status.ACTIVE, "problem": "", "checked": self._clock.now()}
            written = self._store.write(scope, found.model_copy(update=fresh))
            act.after(written)
        return written

    def _checked(self, scope: Scope, connection: ConnectionId) -> Connection:
        found = self._store.get(scope, connection)
        check_change(scope, found)
        if found.owner != scope.user:
            raise Forbidden(
                "Only its owner consents for a connection.", remedy="Make one of your own."
            )
        if found.kind is not Kind.MICROSOFT:
            raise BadInput(
                f"A connection of kind {found.kind} asks nobody for consent.",
                remedy="Only `microsoft` connections are authorised.",
            )
        if found.status is Status.REVOKED:
            raise Conflict("A revoked connection stays so.", remedy="Make another one.")
        return found
