"""The version that a run executes, as its steps need it: read once per process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.ids import NodeKey, Path, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import Step
from stellwerk.runs.values import Keeper
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.expressions.parameters import raw_parameters, references
from stellwerk.workflows.graph import ERROR_PORT, Graph, Node, enclosing
from stellwerk.workflows.model import Version
from stellwerk.workflows.ports import Versions


@dataclass(frozen=True)
class Needs:
    """What a node reads, as far as its drawing says: the same for every call."""

    sources: tuple[NodeKey, ...]
    """The node's predecessors, sorted."""
    raw: frozenset[str]
    """The parameters whose expressions the handler evaluates itself."""
    variables: frozenset[str]
    """The variables that expressions of the node use."""
    nodes: tuple[NodeKey, ...]
    """The nodes whose values expressions of the node use, sorted."""

    @classmethod
    def of(cls, graph: Graph, node: Node, parameters: JsonObject) -> Needs:
        """Return what `node` needs, whose parameters have the JSON Schema `parameters`."""
        raw = raw_parameters(parameters)
        used = references(node.parameters, raw=raw)
        return cls(
            sources=tuple(sorted({edge.source for edge in graph.incoming[node.key]})),
            raw=raw,
            variables=frozenset(reference.name for reference in used),
            nodes=tuple(sorted({found.node for found in used if found.node is not None})),
        )


@dataclass(frozen=True)
class Blueprint:
    """A version and its graph."""

    version: Version
    graph: Graph
    _needs: dict[NodeKey, Needs] = field(default_factory=dict, compare=False, repr=False)

    def node(self, key: NodeKey) -> Node:
        """Return the node `key`."""
        return self.graph.by_key[key]

    def needs(self, key: NodeKey, declaration: NodeType) -> Needs:
        """Return what the node `key`, which is of the type `declaration`, needs."""
        found = self._needs.get(key)
        if found is None:
            found = Needs.of(self.graph, self.node(key), declaration.parameters)
            self._needs[key] = found
        return found

    @cached_property
    def watch(self) -> dict[NodeKey, tuple[NodeKey, ...]]:
        """Gated nodes by the nodes after which somebody must look at them."""
        watched = self.version.plan.get("watch")
        if not isinstance(watched, dict):
            return {}
        return {NodeKey(key): _keys(gated) for key, gated in watched.items()}

    @cached_property
    def passes(self) -> dict[NodeKey, str]:
        """The one port that each disabled node can fire."""
        passing = self.version.plan.get("passes")
        if not isinstance(passing, dict):
            return {}
        return {NodeKey(key): str(port) for key, port in passing.items()}

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
    _kept: OrderedDict[tuple[str, str, int, str], Blueprint] = field(default_factory=OrderedDict)

    def of(self, scope: Scope, workflow: WorkflowId, number: int, trial: str = "") -> Blueprint:
        """Return the blueprint of a version, or of a draft as it was for a trial."""
        key = (scope.mandate, workflow, number, trial)
        found = self._kept.pop(key, None) or self._read(scope, workflow, number, trial)
        self._kept[key] = found
        while len(self._kept) > self.limit:
            self._kept.popitem(last=False)
        return found

    def _read(self, scope: Scope, workflow: WorkflowId, number: int, trial: str) -> Blueprint:
        version = self.versions.get(scope, workflow, number, trial)
        return Blueprint(version, Graph.model_validate(self.keeper.load(scope, version.graph)))
