"""What the rooms of the workflow service work with, and what they all do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.records import Record, Stale
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.faults import Fault, ordered
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Reference, Version, Workflow
from stellwerk.workflows.ports import Machines, Resources, Things, Triggers, Values, Versions
from stellwerk.workflows.resources import KnownResources
from stellwerk.workflows.values import Texts, exact_json

if TYPE_CHECKING:
    from stellwerk.workflows.compile import Compiled

WORKFLOWS = "workflows"
VERSIONS = "versions"
_TRIES = 5

T = TypeVar("T")


class Compiler(Protocol):
    """Checks and compiles graphs."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Return all that is wrong with `graph`."""

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        """Return the state machines of a graph that was checked; raises BadInput over budget."""

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        """Return what `graph` names outside of itself."""


@dataclass(frozen=True)
class Press:
    """Everything outside the workflow service, in one hand."""

    versions: Versions
    machines: Machines
    values: Values
    catalogue: Catalogue
    compiler: Compiler
    clock: Clock
    prefix: str
    audit: Audit
    things: Mapping[str, Things] = field(default_factory=dict)
    """What graphs may name, by kind; workflows are known anyway."""
    triggers: Triggers | None = None
    """None: nothing starts runs by itself."""


class Room:
    """The part that all rooms of the service share."""

    def __init__(self, press: Press) -> None:
        self._press = press
        self._versions = press.versions
        self._audit = press.audit
        self._texts = Texts(press.values)

    def _workflow(self, scope: Scope, workflow: WorkflowId, verb: Verb = Verb.READ) -> Workflow:
        """Return the workflow; NotFound for one that the scope's roles do not let read."""
        found = self._versions.workflow(scope, workflow)
        require(scope, WORKFLOWS, verb, found.created_by)
        return found

    def _version(self, scope: Scope, workflow: Workflow, number: int) -> Version:
        """Return a version of a workflow that may be read."""
        require(scope, VERSIONS, Verb.READ, workflow.created_by)
        return self._versions.get(scope, workflow.id, number)

    def _graph(self, scope: Scope, version: Version) -> Graph:
        return Graph.model_validate(json.loads(self._texts.load(scope, version.graph)))

    def _kept(self, scope: Scope, workflow: WorkflowId, graph: Graph) -> dict[str, object]:
        """Return the fields of a version that hold `graph`, which is kept."""
        text = exact_json(graph.model_dump(mode="json", by_alias=True))
        stored = self._texts.keep(scope, f"workflows/{workflow}", text)
        return {"graph": stored, "graph_hash": graph_hash(graph)}

    def _arm(self, scope: Scope, workflow: WorkflowId) -> None:
        """Let what the workflow wants fire, and nothing else: to follow each change of that."""
        if self._press.triggers is not None:
            self._press.triggers.changed(scope, workflow)

    def _faults(self, scope: Scope, graph: Graph, *, itself: str = "") -> Sequence[Fault]:
        """Return all that is wrong with a graph; what is foreign to the scope is missing."""
        known = KnownResources(self._versions, scope, itself=itself, things=self._press.things)
        found = self._press.compiler.check(graph, self._press.catalogue, known)
        return with_faults_of_triggers(found, graph, self._press.triggers)


def with_faults_of_triggers(
    found: Sequence[Fault], graph: Graph, triggers: Triggers | None
) -> Sequence[Fault]:
    """Return the faults that were found, and those of triggers where nothing was found yet."""
    if triggers is None:
        return found
    places = {(fault.node, fault.parameter) for fault in found}
    more = [one for one in triggers.faults(graph) if (one.node, one.parameter) not in places]
    return list(ordered([*found, *more])) if more else found


def check_seen(record: Record, seen: int | None, name: str) -> None:
    """Raise Stale unless the caller has seen `record` as it stands; None: it does not matter."""
    if seen is not None and seen != record.revision:
        raise Stale(
            f"{name} stands at revision {record.revision}; you had seen revision {seen}.",
            record,
            seen,
        )


def again(attempt: Callable[[], T]) -> T:
    """Return what `attempt` returns; where others write at the same moment it begins anew.

    It reads what it changes, so that each try decides on what is stored then.
    """
    for _ in range(_TRIES - 1):
        try:
            return attempt()
        except Conflict:
            continue
    return attempt()
