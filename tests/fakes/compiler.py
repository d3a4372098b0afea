"""A compiler that only writes down what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.ids import NodeKey
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.compile import Compiled
from stellwerk.workflows.compile.budget import Spending
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Reference
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.resources import unknown


@dataclass
class PaperCompiler:
    """Finds the faults that it was given, and parameters that name what is unknown.

    A definition is a line of text; nodes called `loop...` have machines of their own. Parameter
    `names` of a node are names by kind.
    """

    faults: list[Fault] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        self.asked = [resources.kind("workflow", name) for name in ("invoices", "other")]
        return [*self.faults, *unknown(self.references(graph, catalogue), resources)]

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        loops = [node.key for node in graph.nodes if node.key.startswith("loop")]
        return Compiled(
            definition=f"{prefix}: {comment}",
            children={loop: f"{prefix}: {comment}: {loop}" for loop in loops},
            graph_hash=graph_hash(graph),
            watch={NodeKey("start"): (NodeKey("late"), NodeKey("later"))},
            forecast=Spending(events=7, transitions=3),
            gated=frozenset({NodeKey("late")}),
        )

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        return [
            Reference(node=node.key, parameter=f"names.{kind}", kind=kind, name=str(name))
            for node in graph.nodes
            if isinstance(names := node.parameters.get("names"), dict)
            for kind, name in names.items()
        ]


class FakeThings:
    """Knows what it was told, by mandate and instance."""

    def __init__(self, *known: tuple[Scope, str]) -> None:
        self._known = {(scope.place, name) for scope, name in known}

    def known(self, scope: Scope, name: str) -> bool:
        return (scope.place, name) in self._known
