"""A graph as a Mermaid flowchart: decisions as diamonds, people as trapezoids, loops as frames."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.graph import OUT_PORT, Graph, Node

_SHAPES = {
    Kind.TRIGGER: ("([", "])"),
    Kind.STEP: ("[", "]"),
    Kind.DELAY: ("[", "]"),
    Kind.WAIT: ("[/", "/]"),
    Kind.STOP: ("[[", "]]"),
}
_DECISION = ("{", "}")
_LOOPS = {Kind.FOR_EACH: "for each", Kind.WHILE: "while"}


def mermaid(graph: Graph, catalogue: Catalogue) -> str:
    """Return the drawing, ending in a newline; the same graph gives the same text."""
    lines = ["flowchart TD", *_level(graph, catalogue, None, 1)]
    for edge in sorted(graph.edges, key=lambda edge: (edge.source, edge.port, edge.target)):
        label = "" if edge.port == OUT_PORT else f"|{_text(edge.port)}|"
        lines.append(f"    {_id(edge.source)} -->{label} {_id(edge.target)}")
    return "\n".join(lines) + "\n"


def _level(graph: Graph, catalogue: Catalogue, loop: NodeKey | None, depth: int) -> Iterator[str]:
    indent = "    " * depth
    for node in graph.children.get(loop, ()):
        declared = catalogue.find(node.type)
        kind = declared.kind if declared else Kind.STEP
        if kind not in _LOOPS:
            decides = declared is not None and len(declared.ports_for(node.parameters)) > 1
            shape = _DECISION if decides and kind is Kind.STEP else _SHAPES[kind]
            yield f'{indent}{_id(node.key)}{shape[0]}"{_label(node)}"{shape[1]}'
            continue
        yield f'{indent}subgraph {_id(node.key)}["{_LOOPS[kind]}: {_label(node)}"]'
        yield from _level(graph, catalogue, node.key, depth + 1)
        yield f"{indent}end"


def _label(node: Node) -> str:
    return f"{node.key}<br/>{_text(node.title)}" if node.title else node.key


def _id(key: NodeKey) -> str:
    """Return an id that is never one of Mermaid's own words, such as `end`."""
    return f"n_{key}"


def _text(text: str) -> str:
    entities = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "|": "#124;", "\n": " "}
    return "".join(entities.get(character, character) for character in text)
