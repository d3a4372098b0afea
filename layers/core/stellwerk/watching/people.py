"""Who is meant by `user:ID`, `role:label` or an address, and where they are reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import NO_INSTANCE, Scope

_SERVICES = ("slack", "teams", "webhook")
_TOGETHER = 100


class KnownPeople:
    """Looks people up in the directory. Requests: 1, and for roles 2 and a page each of members."""

    def __init__(self, directory: Directory) -> None:
        self._roles = directory.roles
        self._members = directory.members

    def addresses(self, scope: Scope, to: Sequence[str]) -> Sequence[str]:
        """Return `mail:ADDRESS`, or `slack:URL` and the like, of all whom these name, each once."""
        users = list(dict.fromkeys(self._users(scope, to)))
        known = self._members.users(users) if users else {}
        mails = (
            f"mail:{known[user].email}"
            for user in users
            if user in known and known[user].active and known[user].email
        )
        others = (named for one in to for named in _named(one))
        return [*dict.fromkeys((*mails, *others))]

    def _users(self, scope: Scope, to: Sequence[str]) -> Iterator[UserId]:
        for one in to:
            kind, _, rest = one.partition(":")
            if kind == "user":
                yield UserId(rest)
            elif kind == "role":
                yield from self._holders(scope, rest)

    def _holders(self, scope: Scope, label: str) -> Iterator[UserId]:
        """Yield who holds a role of that label, at the instance or in its mandate."""
        for place in (scope, scope.at(NO_INSTANCE)):
            wanted = {role.id for role in self._roles.roles(place) if role.label == label}
            if not wanted:
                continue
            cursor = None
            while True:
                if place.instance:
                    accesses = self._members.accesses(place, cursor=cursor, limit=_TOGETHER)
                    yield from (one.user for one in accesses.items if wanted & {*one.roles})
                    cursor = accesses.cursor
                else:
                    members = self._members.members(place, cursor=cursor, limit=_TOGETHER)
                    yield from (
                        one.user for one in members.items if one.active and wanted & {*one.roles}
                    )
                    cursor = members.cursor
                if cursor is None:
                    break


def _named(one: str) -> Iterator[str]:
    """Yield the address that is named as such."""
    kind, _, _ = one.partition(":")
    if kind in _SERVICES:
        yield one
    elif "@" in one and kind not in {"user", "role"}:
        yield f"mail:{one.removeprefix('mail:')}"
