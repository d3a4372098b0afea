"""The version that a run executes, as its steps need it: read once per process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

from stellwerk.kernel.ids import NodeKey, Path, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import Step
from stellwerk.runs.values import Keeper
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import ERROR_PORT, Graph, Node, enclosing
from stellwerk.workflows.model import Version
from stellwerk.workflows.ports import Versions


@dataclass(frozen=True)
class Blueprint:
    """A version and its graph."""

    version: Version
    graph: Graph

    def node(self, key: NodeKey) -> Node:
        """Return the node `key`."""
        return self.graph.by_key[key]

    @cached_property
    def watch(self) -> dict[NodeKey, tuple[NodeKey, ...]]:
        """Gated nodes by the nodes after which somebody must look at them."""
        watched = self.version.plan.get("watch")
        if not isinstance(watched, dict):
            return {}
        return {NodeKey(key): _keys(gated) for key, gated in watched.items()}

    def ends(self, loop: NodeKey) -> tuple[NodeKey, ...]:
        """Return the end nodes of a loop's body: nothing but an error handler follows them."""
        body = self.graph.children.get(loop, ())
        return tuple(node.key for node in body if self._ports_used(node.key) <= {ERROR_PORT})

    def is_end(self, entry: Step) -> bool:
        """Whether the node has ended its token: it has fired, and nothing follows on that port."""
        return entry.done and entry.port not in self._ports_used(entry.node)

    def _ports_used(self, key: NodeKey) -> set[str]:
        return {edge.port for edge in self.graph.outgoing[key]}

    def path_of(self, key: NodeKey, seen_from: Path) -> Path | None:
        """Return where node `key` ran as a step at `seen_from` sees it; None if it cannot."""
        around = self.graph.loops_around(key)
        places = list(enclosing(seen_from))[: len(around)]
        if tuple(loop for loop, _, _ in places) != around:
            return None
        return places[-1][2] if places else Path("")


def _keys(value: JsonValue) -> tuple[NodeKey, ...]:
    return tuple(NodeKey(str(key)) for key in value) if isinstance(value, list) else ()


@dataclass
class Blueprints:
    """Reads versions and keeps the last few."""

    versions: Versions
    keeper: Keeper
    limit: int = 16
    _kept: OrderedDict[tuple[str, str, int], Blueprint] = field(default_factory=OrderedDict)

    def of(self, scope: Scope, workflow: WorkflowId, number: int) -> Blueprint:
        """Return the blueprint of a version."""
        key = (scope.mandate, workflow, number)
        found = self._kept.pop(key, None) or self._read(scope, workflow, number)
        self._kept[key] = found
        while len(self._kept) > self.limit:
            self._kept.popitem(last=False)
        return found

    def _read(self, scope: Scope, workflow: WorkflowId, number: int) -> Blueprint:
        version = self.versions.get(scope, workflow, number)
        return Blueprint(version, Graph.model_validate(self.keeper.load(scope, version.graph)))
