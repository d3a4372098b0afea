"""Access tokens of Microsoft accounts, renewed ahead of their end, one at a time.

Whoever finds a token about to end takes the lock, looks once more, and renews. Others use the
token that is still good, or wait until the new one is there.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import ConnectionRejected, ServiceUnavailable
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.connections import note
from stellwerk.toolboxes.model import Connection, Status
from stellwerk.toolboxes.oauth import Grants, expires_of, rejected
from stellwerk.toolboxes.ports import Connections, Secrets

AHEAD = timedelta(minutes=5)
"""A token is renewed so long before it ends."""
USABLE = timedelta(seconds=30)
"""While another renews, a token is still used that ends no sooner."""
LOOKS = 100
PAUSE = 0.2
"""How often to look whether another has renewed, and how many seconds apart."""


class AccessTokens:
    """Hands out tokens that are good for a while."""

    def __init__(
        self,
        store: Connections,
        kept: Secrets,
        grants: Grants,
        clock: Clock,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._kept = kept
        self._grants = grants
        self._clock = clock
        self._pause = pause

    def token(self, scope: Scope, connection: Connection, *, refused: str = "") -> str:
        """Return an access token, which is another one than `refused`, the service's last word.

        Raises ConnectionRejected where the owner must consent again, and marks the connection;
        ServiceUnavailable where the token can be had later.
        """
        secret = self._kept.get(scope, connection.id)
        if self._good(secret, AHEAD, refused):
            return str(secret["access_token"])
        holder = secrets.token_hex(8)
        for _ in range(LOOKS):
            if self._store.lock(scope, connection.id, now=self._clock.now(), holder=holder):
                return self._renewed(scope, connection, holder, refused)
            secret = self._kept.get(scope, connection.id)
            if self._good(secret, USABLE, refused):
                return str(secret["access_token"])
            self._check_active(scope, connection)
            self._pause(PAUSE)
        raise ServiceUnavailable(
            f"The token of connection '{connection.label}' is being renewed for too long.",
            remedy="Try again in a minute.",
        )

    def _renewed(self, scope: Scope, connection: Connection, holder: str, refused: str) -> str:
        try:
            secret = self._kept.get(scope, connection.id)
            if not self._good(secret, AHEAD, refused):
                secret = self._grants.renew(connection, secret)
                self._kept.put(scope, connection.id, secret)
        except ConnectionRejected as error:
            note(self._store, scope, connection.id, self._clock, error)
            raise
        finally:
            self._store.unlock(scope, connection.id, holder=holder)
        return str(secret["access_token"])

    def _good(self, secret: JsonObject, margin: timedelta, refused: str) -> bool:
        expires = expires_of(secret)
        if expires is None or secret["access_token"] == refused:
            return False
        return expires > self._clock.now() + margin

    def _check_active(self, scope: Scope, connection: Connection) -> None:
        """Wait for nobody who was refused meanwhile."""
        if self._store.get(scope, connection.id).status is not Status.ACTIVE:
            raise rejected(connection, "its consent is over")
