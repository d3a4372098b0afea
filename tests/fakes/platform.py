"""What the platform knows by itself, in memory: places, and where the sweeper has stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.runs.platform import Mark
from stellwerk.tenancy.scope import Scope


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
