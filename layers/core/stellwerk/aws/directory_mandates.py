"""Mandates and their feature instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stellwerk.aws import keys, listing
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.aws.revisions import unchanged, written
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Place
from stellwerk.tenancy.model import FeatureInstance, Mandate
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope


class DynamoMandates:
    """Mandates on the table `platform`. Requests: 1 each; a page of mandates 2."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def mandate(self, scope: Scope) -> Mandate:
        """Return the scope's mandate; raises NotFound."""
        item = self._items.get(keys.mandate(scope.mandate))
        if item is None:
            raise NotFound(f"there is no mandate {scope.mandate}")
        return self._bodies.record(scope, item, Mandate)

    def mandates(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[Mandate]:
        """Return a page of all mandates, by id; only for the platform's scope, else empty."""
        listed = Range(keys.mandate_entries(scope))
        found = listing.entries(self._items, listed, cursor=cursor, limit=limit)
        places = [keys.mandate(MandateId(str(entry["sk"]))) for entry in found.items]
        items = self._items.batch(places)
        whole = [self._bodies.record(scope, items[key], Mandate) for key in places if key in items]
        return Page(whole, found.cursor)

    def ids(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        """Return ids of mandates from the entries that list them."""
        partition = keys.mandate_entries(scope)
        begin = None if after is None else {"pk": partition, "sk": after}
        found = self._items.query(Range(partition, after=begin), limit=limit)
        return [MandateId(str(entry["sk"])) for entry in found]

    def write_mandate(self, scope: Scope, mandate: Mandate) -> Mandate:
        """Write a mandate, if new with the entry that lists it."""
        if mandate.id != scope.mandate:
            raise NotFound(f"there is no mandate {mandate.id}")
        item = self._bodies.item(scope, mandate, "mandate")
        writes = [Put(keys.mandate(mandate.id), item, when=unchanged(mandate))]
        if mandate.revision == 0:
            writes.append(Put(keys.mandate_entry(mandate.id), {}))
        try:
            self._items.transact(writes)
        except Refused as refused:
            raise _changed(f"mandate {mandate.id}") from refused
        return written(mandate)

    def instance(self, scope: Scope, instance: InstanceId) -> FeatureInstance:
        """Return an instance of the scope's mandate; raises NotFound."""
        item = self._items.get(keys.instance(scope.mandate, instance))
        if item is None:
            raise NotFound(f"there is no instance {instance}")
        return self._bodies.record(scope, item, FeatureInstance)

    def instances(self, scope: Scope) -> Sequence[FeatureInstance]:
        """Return all instances of the scope's mandate, by id."""
        partition = Range(keys.instance(scope.mandate, NO_INSTANCE).pk)
        found = self._items.query(partition)
        return [self._bodies.record(scope, item, FeatureInstance) for item in found]

    def write_instance(self, scope: Scope, instance: FeatureInstance) -> FeatureInstance:
        """Write an instance of the scope's mandate."""
        if instance.mandate != scope.mandate:
            raise NotFound(f"there is no instance {instance.id}")
        item = self._bodies.item(scope, instance, "instance")
        key = keys.instance(scope.mandate, instance.id)
        try:
            self._items.put(Put(key, item, when=unchanged(instance)))
        except Refused as refused:
            raise _changed(f"instance {instance.id}") from refused
        return written(instance)

    def at(
        self, scope: Scope, places: Sequence[Place]
    ) -> Mapping[Place, Mandate | FeatureInstance]:
        """Return what exists of these mandates and instances; for others than the platform none."""
        if scope.mandate != SYSTEM:
            return {}
        items = self._items.batch([_key(place) for place in places])
        known = [(place, items[_key(place)]) for place in places if _key(place) in items]
        return {place: self._record(scope, place, item) for place, item in known}

    def _record(self, scope: Scope, place: Place, item: Item) -> Mandate | FeatureInstance:
        if place.instance == NO_INSTANCE:
            return self._bodies.record(scope, item, Mandate)
        return self._bodies.record(scope, item, FeatureInstance)


def _key(place: Place) -> Key:
    if place.instance == NO_INSTANCE:
        return keys.mandate(place.mandate)
    return keys.instance(place.mandate, place.instance)


def _changed(what: str) -> Conflict:
    return Conflict(f"{what} has changed meanwhile", remedy="Read it again and repeat the change.")
