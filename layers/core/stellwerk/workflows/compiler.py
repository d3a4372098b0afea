"""Checks and compiler as one, and the service that publishes with them.

Running needs neither, and their imports cost: a process that only runs nodes imports none of this.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.catalogue.model import Catalogue
from stellwerk.workflows.compile import Compiled, CompileOptions, compile_graph
from stellwerk.workflows.compile.refusals import NotFixed, OverBudget
from stellwerk.workflows.faults import Code, Fault, errors
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Reference
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.press import Press
from stellwerk.workflows.service import WorkflowService
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.things import references
from stellwerk.workflows.validate.validation import validate


class GraphCompiler:
    """The compiler to the States Language, behind the checks."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Return all that is wrong with `graph`; what is right is compiled, for its limits."""
        faults = validate(graph, catalogue, resources)
        if errors(faults):
            return faults
        try:
            compile_graph(graph, catalogue, CompileOptions())
        except OverBudget as limit:
            over = Fault(Code.BUDGET_EXCEEDED, limit.message, limit.remedy, node=limit.node)
            return [*faults, over]
        except NotFixed as late:
            wrong = Fault(
                Code.PARAMETER_INVALID,
                late.message,
                late.remedy,
                node=late.node,
                parameter=late.parameter,
            )
            return [*faults, wrong]
        return faults

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        """Return the state machines of a graph that was checked; raises BadInput over budget."""
        return compile_graph(graph, catalogue, CompileOptions(prefix=prefix, comment=comment))

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        """Return what `graph` names outside of itself, where no expression stands for it."""
        return [*references(Subject(graph, catalogue))]

    def service(self, press: Press) -> WorkflowService:
        """Return the service of workflows."""
        return WorkflowService(press)
