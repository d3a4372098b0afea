"""Arming: whenever what may fire changes, each part sees to its kind of triggers.

It follows the write that changes the workflow, and reads what is stored: whoever comes last finds
the last state, so that two at once end as one after the other. A process that dies in between is
made good by the next change, or by `reconcile`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.ids import WorkflowId
from stellwerk.runs.blueprints import Blueprints
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.faults import faults_of
from stellwerk.triggers.model import Armed, Part, TriggerNode
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions


class Arming:
    """Knows which triggers are armed, and lets the parts see to them."""

    def __init__(
        self,
        versions: Versions,
        blueprints: Blueprints,
        catalogue: Catalogue,
        parts: Sequence[Part],
    ) -> None:
        self._versions = versions
        self._blueprints = blueprints
        self._catalogue = catalogue
        self._parts = parts

    def changed(self, scope: Scope, workflow: WorkflowId) -> None:
        """Arm what the stored workflow wants, and nothing else.

        Where it has changed meanwhile, it is armed anew: the other change may have been faster.
        """
        found, seen = self._versions.workflow(scope, workflow), -1
        while found.revision != seen:
            armed = self.armed(scope, found)
            for part in self._parts:
                part.synchronise(scope, armed)
            found, seen = self._versions.workflow(scope, workflow), found.revision

    def faults(self, graph: Graph) -> Iterator[Fault]:
        """Yield what is wrong with parameters of triggers that fits their schemas."""
        yield from faults_of(graph)

    def armed(self, scope: Scope, workflow: Workflow) -> Armed:
        """Return which triggers of a workflow may fire now."""
        if not workflow.active or not workflow.published:
            return Armed(workflow)
        graph = self._blueprints.of(scope, workflow.id, workflow.published).graph
        nodes = (
            TriggerNode(node.key, node.type, node.parameters)
            for node in graph.nodes
            if not node.disabled and self._is_trigger(node.type)
        )
        return Armed(workflow, tuple(nodes))

    def _is_trigger(self, type_: str) -> bool:
        declared = self._catalogue.find(type_)
        return declared is not None and declared.kind is Kind.TRIGGER
