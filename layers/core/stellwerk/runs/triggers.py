"""Which trigger node starts a run."""

from __future__ import annotations

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import Graph, Node


def choose_trigger(
    catalogue: Catalogue, graph: Graph, wanted: NodeKey | None, *, kind: str | None = None
) -> Node:
    """Return the trigger node `wanted`, or the first one by key, of type `kind` if that is given.

    Raises BadInput that names the triggers to choose from.
    """
    choices = [
        node
        for node in graph.children[None]
        if _is_trigger(catalogue, node) and (kind is None or node.type == kind)
    ]
    for node in choices:
        if wanted is None or node.key == wanted:
            return node
    names = ", ".join(node.key for node in choices) or "none"
    asked = f"has no trigger '{wanted}'" if wanted else f"has no {kind or 'trigger'} node"
    raise BadInput(
        f"The workflow {asked}. Its triggers are: {names}.", remedy="Name one of them, or add one."
    )


def _is_trigger(catalogue: Catalogue, node: Node) -> bool:
    declared = catalogue.find(node.type)
    return declared is not None and declared.kind is Kind.TRIGGER
