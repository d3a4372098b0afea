"""The passes of loops in the journal: their scopes, their values, and the loop's value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.calls import Call
from stellwerk.runs.failures import last_failure, reported
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.runs.values import list_text, object_text
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import inside
from stellwerk.workflows.values import exact_json

Entries = Mapping[StepKey, Step]
AGAIN = "again"
TOGETHER = 500
"""Passes whose entries are in memory at once."""


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
        for start in range(0, len(items), TOGETHER):
            scopes = [
                self.opened(start + index, item)
                for index, item in enumerate(items[start : start + TOGETHER])
            ]
            self.world.journal.fill(self.scope, self.call.run.id, scopes)

    def value(self, entries: Entries, index: int) -> JsonValue:
        """Return the value of pass `index`: its live end node's, or an object of several."""
        live = self._live(entries, index)
        values: JsonObject = {step.node: self._load(step) for step in live}
        return values if len(live) > 1 else next(iter(values.values()), None)

    def collected(self, size: int) -> Stored:
        """Keep the value of a `for_each` over `size` items, in their order.

        It is put together as text: so many values are never in memory as objects.
        """
        items: list[str] = []
        errors: list[str] = []
        for start in range(0, size, TOGETHER):
            for item, error in self._results(range(start, min(start + TOGETHER, size))):
                items.append(item)
                errors.append(error)
        text = object_text({"items": list_text(items), "errors": list_text(errors)})
        return self.world.values.keep_text(self.scope, self.call.run.id, text)

    def _results(self, span: range) -> Iterator[tuple[str, str]]:
        """Yield the JSON of each item's value and of its error."""
        keys = [key for index in span for key in (self.key(index), *self.ends(index))]
        entries = self.world.journal.read(self.scope, self.call.run.id, keys)
        for index in span:
            scope = entries.get(self.key(index))
            if scope is not None and scope.status is StepStatus.FAILED:
                yield "null", exact_json(reported(last_failure(scope)))
            else:
                yield self._text(entries, index), "null"

    def _text(self, entries: Entries, index: int) -> str:
        live = self._live(entries, index)
        values: dict[str, str] = {
            step.node: self.world.values.load_text(self.scope, step.value) for step in live
        }
        return object_text(values) if len(values) > 1 else next(iter(values.values()), "null")

    def _live(self, entries: Entries, index: int) -> list[Step]:
        found = (entries[key] for key in self.ends(index) if key in entries)
        return [step for step in found if self.blueprint.is_end(step)]

    def _load(self, step: Step) -> JsonValue:
        return None if step.value is None else self.world.values.load(self.scope, step.value)


def chunks_of(size: int, chunk_size: int) -> int:
    """Return how many chunks of at most `chunk_size` passes make up `size`."""
    return -(-size // chunk_size) if chunk_size else 0
