"""Secrets of machines, kept in the directory: for an issuer of our own, without a user pool."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import NotFound, Unauthenticated
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.model import MachineSecret, User
from stellwerk.tenancy.ports import Credentials, Members


class KeptSecrets:
    """Implements `ports.Registry`: a machine's client id is its user id, its secret a hash."""

    def __init__(self, members: Members, clock: Clock) -> None:
        self._members = members
        self._clock = clock

    def register(self, client: UserId, name: str) -> Credentials:
        """Return credentials of a new machine."""
        return self._new(client, revision=0)

    def renew(self, client: UserId, name: str, client_id: str) -> Credentials:
        """Return credentials that replace those before at once."""
        kept = self._members.secret(client)
        return self._new(client, revision=kept.revision if kept else 0)

    def withdraw(self, client: UserId, client_id: str) -> None:
        """Do nothing: a machine that is not active is refused."""

    def machine(self, client_id: str, secret: str) -> User:
        """Return the machine that these credentials are of; raises Unauthenticated."""
        user, kept = self._known(UserId(client_id))
        given = _hash(secret)
        if not hmac.compare_digest(given, kept.sha256 if kept else "") or user is None:
            raise Unauthenticated("the client id or the secret is wrong")
        if not user.active or (user.expires and user.expires <= self._clock.now()):
            raise Unauthenticated(f"client {client_id} was revoked or has expired")
        return user

    def _known(self, client: UserId) -> tuple[User | None, MachineSecret | None]:
        try:
            return self._members.user(client), self._members.secret(client)
        except NotFound:
            return None, None

    def _new(self, client: UserId, *, revision: int) -> Credentials:
        secret = secrets.token_urlsafe(32)
        created = self._clock.now()
        kept = MachineSecret(user=client, sha256=_hash(secret), created=created, revision=revision)
        self._members.write_secret(kept)
        return Credentials(client, secret)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
