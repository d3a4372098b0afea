"""What a step is given: `$input` by the meaning of tokens, and the names that its expressions use.

Which entries of the journal that takes is known beforehand, so that one batch read brings them all.
Values are loaded only where something names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from stellwerk.catalogue.model import Catalogue, Kind, NodeType
from stellwerk.kernel.ids import ROOT, NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.blueprints import Blueprint, Needs
from stellwerk.runs.calls import Call
from stellwerk.runs.model import Run, Step, StepKey
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.expressions.names import ABSENT, Known, Names
from stellwerk.workflows.graph import Node, enclosing

Entries = Mapping[StepKey, Step]


@dataclass(frozen=True)
class Plan:
    """Which entries a step needs, and which variables its expressions use."""

    blueprint: Blueprint
    call: Call
    declaration: NodeType
    catalogue: Catalogue

    @cached_property
    def node(self) -> Node:
        """The node that is called."""
        return self.blueprint.node(self.call.node)

    @cached_property
    def needs(self) -> Needs:
        """What the node reads in every call."""
        return self.blueprint.needs(self.call.node, self.declaration)

    @property
    def scope_key(self) -> StepKey | None:
        """The entry of the pass that the step runs in; its value is what the pass was given."""
        loop = self.node.parent
        return None if loop is None else StepKey(path=self.call.path, node=loop)

    @property
    def item_key(self) -> StepKey | None:
        """The entry of the pass of the nearest `for_each` around: its value is `$item`."""
        for loop, _, path in reversed(list(enclosing(self.call.path))):
            found = self.catalogue.find(self.blueprint.node(loop).type)
            if found is not None and found.kind is Kind.FOR_EACH:
                return StepKey(path=path, node=loop)
        return None

    def keys(self) -> Iterator[StepKey]:
        """Yield the keys of all entries that the step may need."""
        yield self.call.key
        needs = self.needs
        for source in needs.sources:
            yield StepKey(path=self.call.path, node=source)
        if not needs.sources and self.scope_key is not None:
            yield self.scope_key
        if "item" in needs.variables and self.item_key is not None:
            yield self.item_key
        if "trigger" in needs.variables:
            yield self.trigger_key
        for key in needs.nodes:
            place = self.place_of(key)
            if place is not None:
                yield place

    @property
    def trigger_key(self) -> StepKey:
        """The entry of the trigger that started the run."""
        return StepKey(path=ROOT, node=self.call.run.trigger)

    def place_of(self, key: NodeKey) -> StepKey | None:
        """Return the entry of node `key` that the step sees; None if it sees none."""
        if key not in self.blueprint.graph.by_key:
            return None
        path = self.blueprint.path_of(key, self.call.path)
        return None if path is None else StepKey(path=path, node=key)


@dataclass(frozen=True)
class Given:
    """What the journal holds for a step."""

    world: World
    scope: Scope
    plan: Plan
    entries: Entries

    @cached_property
    def run(self) -> Run:
        """The run's record: read only where its input or settings are asked for."""
        return self.world.runs.get(self.scope, self.plan.call.run.id)

    @cached_property
    def input(self) -> JsonValue:
        """`$input`: the payload, the pass's value, or what the live predecessors have made."""
        if self.plan.declaration.kind is Kind.TRIGGER:
            return self._load(self.run.input)
        if not self.plan.needs.sources:
            return self._value(self.plan.scope_key)
        inputs = self.inputs
        return next(iter(inputs.values())) if len(inputs) == 1 else inputs

    @cached_property
    def inputs(self) -> dict[str, JsonValue]:
        """The values of the live predecessors by key, sorted."""
        return {key.node: self._value(key) for key in self.live}

    @cached_property
    def live(self) -> tuple[StepKey, ...]:
        """The predecessors from which a live edge leads here, sorted by key."""
        edges = self.plan.blueprint.graph.incoming[self.plan.node.key]
        fired = {edge.source for edge in edges if self._port(edge.source) == edge.port}
        return tuple(StepKey(path=self.plan.call.path, node=key) for key in sorted(fired))

    def names(self) -> Names:
        """Return what the names in the node's expressions stand for, as far as any is used."""
        used = self.plan.needs.variables
        places = list(enclosing(self.plan.call.path))
        index: Known = places[-1][1] if places else ABSENT
        return Names(
            nodes=self._nodes(),
            input=self.input if "input" in used else None,
            trigger=self._value(self.plan.trigger_key) if "trigger" in used else None,
            run=self._run(),
            vars=self.run.vars if "vars" in used else {},
            item=self._item() if "item" in used else ABSENT,
            index=index,
        )

    def _nodes(self) -> dict[NodeKey, Known]:
        places = {key: self.plan.place_of(key) for key in self.plan.needs.nodes}
        return {
            key: self._value(place)
            for key, place in places.items()
            if place is not None and place in self.entries and self.entries[place].done
        }

    def _run(self) -> JsonObject:
        run = self.plan.call.run
        return {
            "id": run.id,
            "started": run.started,
            "workflow": run.workflow,
            "version": run.version,
            "url": f"/runs/{run.id}",
        }

    def _item(self) -> Known:
        key = self.plan.item_key
        return ABSENT if key is None else self._value(key)

    def _port(self, node: NodeKey) -> str | None:
        entry = self.entries.get(StepKey(path=self.plan.call.path, node=node))
        return None if entry is None else entry.port

    def _value(self, key: StepKey | None) -> JsonValue:
        entry = None if key is None else self.entries.get(key)
        return None if entry is None else self._load(entry.value)

    def _load(self, stored: Stored | None) -> JsonValue:
        return None if stored is None else self.world.values.load(self.scope, stored)
