"""What a finished run has come to: its output, and the nodes that it never reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.workflows.graph import ERROR_PORT, OUT_PORT, Graph, Node, enclosing


def stop_entry(graph: Graph, catalogue: Catalogue, entries: Mapping[StepKey, Step]) -> Step | None:
    """Return the entry of the `flow.stop` node that ended the run with success, if one did."""
    for node in graph.children[None]:
        declared = catalogue.find(node.type)
        entry = entries.get(StepKey(path=ROOT, node=node.key))
        if declared is not None and declared.kind is Kind.STOP and entry is not None and entry.done:
            return entry
    return None


def end_entries(graph: Graph, entries: Mapping[StepKey, Step]) -> list[Step]:
    """Return the entries of the live end nodes at the top level."""
    found = (entries.get(StepKey(path=ROOT, node=node.key)) for node in graph.children[None])
    return [entry for entry in found if entry is not None and entry.done and _ends(graph, entry)]


def unreached(graph: Graph, steps: Sequence[Step], run: RunId, *, execution: int) -> Iterator[Step]:
    """Yield a skipped entry for each node that did not run, at the top and in passes that ran."""
    known = {step.key for step in steps}
    for path, nodes in _passes(graph, steps):
        for node in nodes:
            if StepKey(path=path, node=node.key) not in known:
                yield Step(
                    run=run,
                    path=path,
                    node=node.key,
                    type=node.type,
                    status=StepStatus.SKIPPED,
                    execution=execution,
                )


def _passes(graph: Graph, steps: Iterable[Step]) -> Iterator[tuple[Path, Sequence[Node]]]:
    yield ROOT, graph.children[None]
    for step in steps:
        if step.type == SCOPE_TYPE and _ran(step):
            *_, (loop, _, path) = enclosing(step.path)
            yield path, graph.children.get(loop, ())


def _ran(scope: Step) -> bool:
    return scope.status is not StepStatus.FAILED and scope.port != OUT_PORT


def _ends(graph: Graph, entry: Step) -> bool:
    """Whether nothing but an error handler follows the node, and not even that has now."""
    ports = {edge.port for edge in graph.outgoing.get(entry.node, ())}
    return ports <= {ERROR_PORT} and entry.port not in ports


def first_port(graph: Graph, catalogue: Catalogue, key: NodeKey) -> str:
    """Return the port that node `key` fires where nothing else decides; `out` if unknown."""
    node = graph.by_key[key]
    declared = catalogue.find(node.type)
    ports = declared.ports_for(node.parameters) if declared is not None else ()
    return next(iter(ports), OUT_PORT)
