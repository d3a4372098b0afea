"""What the platform knows by itself, in memory: actors, places, and the sweeper's mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.kernel.errors import Forbidden, ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.runs.platform import Mark
from stellwerk.tenancy.scope import Scope, of_run


@dataclass
class FakeActors:
    """Lets everybody in with all rights, but for those in `refused`."""

    refused: set[UserId] = field(default_factory=set)

    def acting(self, scope: Scope, user: UserId) -> Scope:
        if user in self.refused:
            raise Forbidden(f"'{user}' is no active member of the mandate.")
        return of_run(scope.mandate, scope.instance, user, request=scope.request)


class FakeMarks:
    """Keeps marks in a dict, by mandate."""

    def __init__(self) -> None:
        self._marks: dict[MandateId, Mark | None] = {}

    def read(self, scope: Scope) -> Mark | None:
        return self._marks.get(scope.mandate)

    def write(self, scope: Scope, mark: Mark | None) -> None:
        self._marks[scope.mandate] = mark


@dataclass
class FakePlaces:
    """Mandates with their instances; those in `broken` cannot be read."""

    known: Mapping[MandateId, Sequence[InstanceId]]
    broken: set[MandateId] = field(default_factory=set)

    def mandates(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        return [name for name in sorted(self.known) if after is None or name > after][:limit]

    def instances(self, scope: Scope) -> Sequence[InstanceId]:
        if scope.mandate in self.broken:
            raise ServiceUnavailable(f"{scope.mandate} cannot be read")
        return self.known[scope.mandate]
