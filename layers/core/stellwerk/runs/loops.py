"""The passes of loops in the journal: their scopes, their values, and the loop's value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.calls import Call
from stellwerk.runs.failures import last_failure, reported
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import inside

Entries = Mapping[StepKey, Step]
AGAIN = "again"


@dataclass(frozen=True)
class Passes:
    """The passes of one loop of a run."""

    world: World
    scope: Scope
    blueprint: Blueprint
    call: Call

    def path(self, index: int) -> Path:
        """Return where the nodes of pass `index` run."""
        return inside(self.call.path, self.call.node, index)

    def key(self, index: int) -> StepKey:
        """Return where the scope of pass `index` is in the journal."""
        return StepKey(path=self.path(index), node=self.call.node)

    def ends(self, index: int) -> list[StepKey]:
        """Return where the end nodes of pass `index` are in the journal."""
        path = self.path(index)
        return [StepKey(path=path, node=end) for end in self.blueprint.ends(self.call.node)]

    def opened(self, index: int, value: JsonValue, *, port: str | None = None) -> Step:
        """Return the scope entry of pass `index`, which is given `value`."""
        return Step(
            run=self.call.run.id,
            path=self.path(index),
            node=self.call.node,
            type=SCOPE_TYPE,
            status=StepStatus.RUNNING,
            port=port,
            value=self.world.values.keep(self.scope, self.call.run.id, value),
            execution=self.call.run.execution,
        )

    def open_all(self, items: Sequence[JsonValue]) -> None:
        """Write the scope of every item; writing them again changes nothing."""
        if items:
            scopes = [self.opened(index, item) for index, item in enumerate(items)]
            self.world.journal.fill(self.scope, self.call.run.id, scopes)

    def value(self, entries: Entries, index: int) -> JsonValue:
        """Return the value of pass `index`: its live end node's, or an object of several."""
        found = (entries[key] for key in self.ends(index) if key in entries)
        live = [step for step in found if self.blueprint.is_end(step)]
        values: JsonObject = {step.node: self._load(step) for step in live}
        return values if len(live) > 1 else next(iter(values.values()), None)

    def collected(self, size: int) -> JsonObject:
        """Return the value of a `for_each` over `size` items, in their order."""
        keys = [key for index in range(size) for key in (self.key(index), *self.ends(index))]
        entries = self.world.journal.read(self.scope, self.call.run.id, keys) if keys else {}
        results = list(self._results(entries, size))
        return {"items": [item for item, _ in results], "errors": [error for _, error in results]}

    def _results(self, entries: Entries, size: int) -> Iterator[tuple[JsonValue, JsonValue]]:
        for index in range(size):
            scope = entries.get(self.key(index))
            if scope is not None and scope.status is StepStatus.FAILED:
                yield None, reported(last_failure(scope))
            else:
                yield self.value(entries, index), None

    def _load(self, step: Step) -> JsonValue:
        return None if step.value is None else self.world.values.load(self.scope, step.value)


def chunks_of(size: int, chunk_size: int) -> int:
    """Return how many chunks of at most `chunk_size` passes make up `size`."""
    return -(-size // chunk_size) if chunk_size else 0
