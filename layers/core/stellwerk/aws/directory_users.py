"""Users, found by id, token and address, and the secrets of machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stellwerk.aws import keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Put, Write, absent, equals
from stellwerk.aws.items import Items
from stellwerk.aws.revisions import unchanged, written
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.model import MachineSecret, User
from stellwerk.tenancy.scope import of_platform

_PLATFORM = of_platform()


class DynamoUsers:
    """Users on the table `platform`. Requests: 1 each; by address 2."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def user(self, user: UserId) -> User:
        """Return a user; raises NotFound."""
        item = self._items.get(keys.user(user))
        if item is None:
            raise NotFound(f"there is no user {user}")
        return self._bodies.record(_PLATFORM, item, User)

    def users(self, users: Sequence[UserId]) -> Mapping[UserId, User]:
        """Return those users that exist."""
        places = {user: keys.user(user) for user in users}
        items = self._items.batch(list(places.values()))
        return {
            user: self._bodies.record(_PLATFORM, items[key], User)
            for user, key in places.items()
            if key in items
        }

    def by_subject(self, issuer: str, subject: str) -> User | None:
        """Return the user of a token."""
        item = self._items.get(keys.subject(issuer, subject))
        return None if item is None else self._bodies.record(_PLATFORM, item, User)

    def by_email(self, email: str) -> User | None:
        """Return the user with this address."""
        entry = self._items.get(keys.email(email))
        return None if entry is None else self.user(UserId(str(entry["user"])))

    def write_user(self, user: User, before: User | None = None) -> User:
        """Write a user and what finds it, at once.

        The entry of its token repeats the record: each request of the API begins with it.
        """
        item = self._bodies.item(_PLATFORM, user, "users")
        writes: list[Write] = [Put(keys.user(user.id), item, when=unchanged(user))]
        writes += _by_subject(user, before, {**item, "user": user.id})
        writes += _by_email(user, before)
        try:
            self._items.transact(writes)
        except Refused as refused:
            raise Conflict(
                f"user {user.id} has changed meanwhile, or another has this address or token",
                remedy="Read it again and repeat the change.",
            ) from refused
        return written(user)

    def secret(self, user: UserId) -> MachineSecret | None:
        """Return what is kept of a machine's secret."""
        item = self._items.get(keys.secret(user))
        return None if item is None else self._bodies.record(_PLATFORM, item, MachineSecret)

    def write_secret(self, secret: MachineSecret) -> MachineSecret:
        """Write what is kept of a machine's secret."""
        item = self._bodies.item(_PLATFORM, secret, "users")
        try:
            self._items.put(Put(keys.secret(secret.user), item, when=unchanged(secret)))
        except Refused as refused:
            raise Conflict(
                f"the secret of {secret.user} has changed meanwhile", remedy="Renew it again."
            ) from refused
        return written(secret)


def _by_subject(user: User, before: User | None, item: Mapping[str, str | int]) -> Iterator[Write]:
    old = (before.issuer, before.subject) if before and before.subject else None
    new = (user.issuer, user.subject) if user.subject else None
    mine = (equals("user", user.id),)
    if new:
        yield Put(keys.subject(*new), item, when=mine if new == old else (absent(),))
    if old and old != new:
        yield Delete(keys.subject(*old), when=mine)


def _by_email(user: User, before: User | None) -> Iterator[Write]:
    old = keys.email(before.email) if before and before.email else None
    new = keys.email(user.email) if user.email else None
    if new and new != old:
        yield Put(new, {"user": user.id}, when=(absent(),))
    if old and old != new:
        yield Delete(old, when=(equals("user", user.id),))
