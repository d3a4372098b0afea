"""Finding people by id or mail address, and inviting those who are not known yet."""

from __future__ import annotations

import re

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import UserId, new_id
from stellwerk.tenancy.model import User
from stellwerk.tenancy.ports import PEOPLE, Members
from stellwerk.tenancy.wording import named

_ADDRESS = re.compile(r"[^@\s]{1,64}@[^@\s]+\.[^@\s.]+")
LONGEST_ADDRESS = 254


class People:
    """The people whom all mandates share; each is one user, wherever he belongs."""

    def __init__(self, members: Members, clock: Clock) -> None:
        self._members = members
        self._clock = clock

    def find(self, who: str) -> User | None:
        """Return the user with this id or address."""
        if "@" in who:
            return self._members.by_email(who)
        return self._members.users([UserId(who)]).get(UserId(who)) if who else None

    def invited(self, address: str, name: str = "") -> User:
        """Return the person with this address, who can sign in from now on.

        Raises BadInput for what is no address.
        """
        found = self._members.by_email(_checked(address))
        return found or self._invite(address.strip(), name)

    def _invite(self, address: str, name: str) -> User:
        now = self._clock.now()
        new = User(
            id=UserId(f"{PEOPLE}{new_id(now)}"),
            email=address,
            name=named(name or address.partition("@")[0], "name"),
            created=now,
        )
        try:
            return self._members.write_user(new)
        except Conflict:
            other = self._members.by_email(address)
            if other is None:
                raise
            return other  # who was invited by someone else in this moment


def _checked(address: str) -> str:
    if len(address) > LONGEST_ADDRESS or not _ADDRESS.fullmatch(address.strip()):
        raise BadInput(
            f"'{address[:80]}' is no mail address", remedy="Give one like 'anna@example.org'."
        )
    return address
