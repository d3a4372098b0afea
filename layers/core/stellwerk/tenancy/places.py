"""All mandates and their instances, for what the platform does everywhere by itself."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.tenancy.ports import Mandates
from stellwerk.tenancy.scope import Scope


class KnownPlaces:
    """What the directory knows. Requests: 1 for mandates, 2 for the instances of one."""

    def __init__(self, mandates: Mandates) -> None:
        self._mandates = mandates

    def mandates(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        """Return ids of mandates in their order; only for the platform's scope, else none."""
        return self._mandates.ids(scope, after=after, limit=limit)

    def instances(self, scope: Scope) -> Sequence[InstanceId]:
        """Return the instances of the scope's mandate by id; none where it is not active."""
        if not self._mandates.mandate(scope).active:
            return []
        return [instance.id for instance in self._mandates.instances(scope)]
