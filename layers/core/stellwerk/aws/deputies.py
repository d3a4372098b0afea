"""Who stands in for whom: an entry below each of the two, written and removed together.

| item (of a mandate, no instance) | pk | sk |
|---|---|---|
| deputy whom someone has named | deputies | of#user#deputy |
| for whom a deputy was named | deputies | by#deputy#user |
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.expressions import Delete, Put
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.deputies import Deputy
from stellwerk.tenancy.scope import NO_INSTANCE, Scope


class DynamoDeputies:
    """Deputies on the table `platform`. Requests: 1 each."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def of(self, scope: Scope, user: UserId) -> Sequence[Deputy]:
        """Return whom `user` has named."""
        return self._below(scope, _of(scope, user))

    def by(self, scope: Scope, deputy: UserId) -> Sequence[Deputy]:
        """Return for whom `deputy` was named."""
        return self._below(scope, _by(scope, deputy))

    def write(self, scope: Scope, deputy: Deputy) -> Deputy:
        """Write both entries; those of another mandate are refused."""
        if deputy.mandate != scope.mandate:
            raise NotFound(f"mandate {deputy.mandate} is not the one of this place")
        item = self._bodies.item(scope, deputy, "deputies")
        places = _places(scope, deputy.user, deputy.deputy)
        self._items.transact([Put(place, item) for place in places])
        return deputy.model_copy(update={"revision": deputy.revision + 1})

    def remove(self, scope: Scope, user: UserId, deputy: UserId) -> None:
        """Remove both entries."""
        self._items.transact([Delete(place) for place in _places(scope, user, deputy)])

    def _below(self, scope: Scope, begin: Key) -> Sequence[Deputy]:
        found = self._items.query(Range(begin.pk, prefix=begin.sk))
        return [self._bodies.record(scope, item, Deputy) for item in found]


def _places(scope: Scope, user: UserId, deputy: UserId) -> tuple[Key, Key]:
    return (
        _of(scope, user, deputy),
        _by(scope, deputy, user),
    )


def _of(scope: Scope, user: UserId, deputy: str = "") -> Key:
    return Key(_partition(scope), f"of#{user}#{deputy}")


def _by(scope: Scope, deputy: UserId, user: str = "") -> Key:
    return Key(_partition(scope), f"by#{deputy}#{user}")


def _partition(scope: Scope) -> str:
    return f"{scope.mandate}#{NO_INSTANCE}#deputies"
